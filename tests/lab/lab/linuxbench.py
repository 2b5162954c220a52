# SPDX-License-Identifier: GPL-2.0-only
"""Measures the cost of a timer event and of an IPI for Linux, without QV and with both kinds of IPIs.

The program programs/ipicost.c measures in the machine."""

import json
import re
from collections.abc import Callable
from typing import Any

from . import enter, roots
from .errors import LabError
from .machine import Machine
from .paths import BUILD, TOP

GOAL = 1.02
ROUNDS = 300
COSTS = {"timer": "timer: set, interrupt", "ipi": "IPI: send, await the answer"}
# Name of a way to run Linux: the command before it
WAYS = {"alone": "", "filtered": "qvctl enable", "direct": "qvctl enable --ipi direct"}


def _compiled() -> str:
    """Compiles the program that measures. Returns its path."""
    place = BUILD / "lab/bench-ipicost"
    place.parent.mkdir(parents=True, exist_ok=True)
    done = enter.run(roots.ensure("tool"), ["gcc", "-O2", "-static", "-pthread", "-o", str(place),
                                            str(TOP / "tests/lab/programs/ipicost.c")])
    if done.returncode:
        raise LabError(f"ipicost.c does not compile:\n{done.stdout}", "see what it says")
    return str(place)


def _numbers(said: str) -> dict[str, int]:
    """The medians: a sum may contain turns of other CPUs of the machine."""
    found = {name: int(n) for name, n in re.findall(r"(?m)^(\w+) rounds=\d+ min=\d+ p50=(\d+)$", said)}
    if sorted(found) != sorted(COSTS):
        raise LabError(f"ipicost did not say all that was asked:\n{said}", "see what it says")
    return found


def measured(machine: Machine, run: Callable[..., str]) -> dict[str, Any]:
    """Returns the cycles of each way, the ratios to Linux alone, and the exits of Linux's APICs."""
    machine.put(_compiled(), "/run/ipicost")
    cycles, exits = {}, {}

    def apic_exits() -> int:
        by_reason = json.loads(run("qvctl", "--json", "cell", "stats", "linux"))["exits"]
        return int(by_reason["icr"] + by_reason["xapic"])
    for way, command in WAYS.items():
        if command:
            run(*command.split())
            before = apic_exits()
        cycles[way] = _numbers(run("/run/ipicost", str(ROUNDS)))
        if command:
            exits[way] = apic_exits() - before
            run("qvctl", "disable")
    ratio = {way: {name: round(cycles[way][name] / cycles["alone"][name], 4) for name in COSTS}
             for way in WAYS if way != "alone"}
    return {"cycles": cycles, "ratio": ratio, "exits": exits}
