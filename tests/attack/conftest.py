# SPDX-License-Identifier: GPL-2.0-only
"""Prints at the end of the session how many attacks were run, and how many were contained."""

import json
from typing import Any

import pytest

from lab.paths import BUILD

REPORT = BUILD / "attacks.json"


def attacks(terminal: Any) -> list[dict[str, Any]]:
    """Returns a record of each attack on each machine."""
    found = []
    for verdict in ("passed", "failed", "skipped"):
        for report in terminal.stats.get(verdict, []):
            more = dict(report.user_properties)
            if report.when == "call" and "attack" in more:
                found.append({**more, "test": report.nodeid.partition("[")[2].partition("]")[0],
                              "contained": verdict == "passed" and not more["open"]})
    return found


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: Any) -> None:
    done = attacks(terminalreporter)
    if not done:
        return
    contained, open_ = sum(a["contained"] for a in done), sum(a["open"] for a in done)
    names = len({a["attack"] for a in done})
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(done, indent=1) + "\n")
    terminalreporter.write_line(f"attacks: {len(done)} run ({names} different ones), {contained} contained, "
                                f"{open_} open, {len(done) - contained - open_} NOT CONTAINED")
    for attack in done:
        if attack["open"]:
            terminalreporter.write_line(f"  open: {attack['test']}: {attack.get('outcome', 'not done: it takes a CPU for good')}")
