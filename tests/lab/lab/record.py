# SPDX-License-Identifier: GPL-2.0-only
"""Results of tests as lines of JSON, each written at the end of its test. Part of the pytest plugin."""

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the host that runs qvlab may not have pytest
    import pytest


EMULATORS_FAULT = "emulators_fault"  # a property of a report, set by fixtures.py
CONSOLE, EVIDENCE = "console", "evidence"  # titles of sections of a report begin so
LINES = 60  # of the assertion and of the console in Result.essentials


@dataclass(frozen=True)
class Result:
    """The result of a test."""

    name: str
    outcome: str  # passed, failed or skipped
    seconds: float  # without those of .setup
    emulator: bool = False  # it failed by a known defect of the emulator
    setup: float = 0.0  # seconds of its fixtures, in which a machine boots or an image is built
    essentials: str = ""  # of a failure: essentials()

    def append(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self)) + "\n")


def read(path: Path) -> dict[str, Result]:
    """Returns the last result of each test. Ignores an incomplete line."""
    results: dict[str, Result] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            result = Result(**json.loads(line))
        except ValueError:
            continue
        results[result.name] = result
    return results


def plain(nodeid: str) -> str:
    """Returns a test's name without the group that xdist appends."""
    return nodeid.rpartition("@")[0] or nodeid


def essentials(report: "pytest.TestReport") -> str:
    """Returns of a failure: the assertion, the end of the machine's console, and its registers if
    the evidence has them."""
    crash = getattr(report.longrepr, "reprcrash", None)
    why = f"{crash.path}:{crash.lineno}: {crash.message}" if crash else report.longreprtext
    lines = why.splitlines()[:LINES]
    for title, text in report.sections:
        if title.startswith(CONSOLE):
            lines += [f"-- {title}", *text.splitlines()[-LINES:]]
        elif title == EVIDENCE:
            registers = text.partition("\n== registers\n")[2].partition("\n== ")[0]
            lines += ["-- registers", *registers.splitlines()]
    return "\n".join(lines)


class Recorder:
    """Appends the result of each test of a session to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = defaultdict(float)
        self._setup: dict[str, float] = defaultdict(float)
        self._outcome: dict[str, str] = {}
        self._emulator: set[str] = set()
        self._essentials: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        name = plain(report.nodeid)
        properties: dict[str, Any] = dict(report.user_properties)
        (self._setup if report.when == "setup" else self._seconds)[name] += report.duration
        if report.outcome != "passed" and self._outcome.get(name) != "failed":
            self._outcome[name] = report.outcome
        if report.failed and properties.get(EMULATORS_FAULT):
            self._emulator.add(name)
        if report.failed:
            self._essentials.setdefault(name, essentials(report))
        # "teardown", or the value that xdist uses for a dead worker
        if report.when not in ("setup", "call"):
            seconds, setup = (round(times.pop(name, 0.0), 1)
                              for times in (self._seconds, self._setup))
            outcome = self._outcome.pop(name, "passed")
            Result(name, outcome, seconds, name in self._emulator, setup,
                   self._essentials.pop(name, "")).append(self._path)
