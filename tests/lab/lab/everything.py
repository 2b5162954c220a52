# SPDX-License-Identifier: GPL-2.0-only
"""`make check-all`: all tests on all kinds of machines, long proofs and fuzzing, all kernels.

An item is a test of pytest or a command. The tree alone decides the order of all items. A part is a
piece of that order, with about the same weight as the others. Results are kept per commit, one line
per item. A part that is started again does only what has not passed.
"""

import json
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from . import build, check, enter, images, roots
from .errors import LabError
from .paths import BUILD, CACHE, TOP
from .record import Result, read

KEPT = CACHE / "check-all"
PARTS = 8
FUZZ_SECONDS = 120
# The seconds that an item takes on one of two cores, approximately: by the first pattern that
# matches its name, else by its machine
SECONDS = (
    ("*test_races.py::*-long*", 900.0), ("*gaps.py::*", 600.0), ("*test_quest_cost.py::*", 80.0),
    ("*test_quest_time.py::*", 90.0), ("*test_previous.py::*", 45.0), ("*test_inmates.py::*", 1.2),
    ("*test_front*.py::*-intel]", 8.0), ("*test_front*.py::*", 2.0), ("prove manager", 3000.0),
    ("prove *", 120.0), ("fuzz *", 2.0 * FUZZ_SECONDS), ("build *", 60.0), ("check *", 60.0),
)
SECONDS_AMD, SECONDS_INTEL, SECONDS_ALONE = 17.0, 24.0, 1.0


@dataclass(frozen=True)
class Item:
    """Something that passes or fails."""

    name: str
    seconds: float         # its weight
    follows: bool = False  # it needs the machine as the item before it leaves it
    machine: str = ""      # amd or intel; empty: no machine
    run: Callable[[], None] | None = None  # None: a test of pytest


def weight(name: str, usual: float) -> float:
    return next((seconds for pattern, seconds in SECONDS if fnmatchcase(name, pattern)), usual)


def _make(*arguments: str) -> None:
    """Runs a command in the tool root that prints `N passed, N failed` last. Raises LabError if it
    fails."""
    argv = ["nice", "make", "--no-print-directory", f"O={build.OUT}", *arguments]
    done = enter.run(roots.ensure("tool"), argv)
    print("\n".join(done.stdout.splitlines()[-20:]), flush=True)
    found = check.SUMMARY.findall(done.stdout)
    if done.returncode or not found or int(found[-1][1]) or not int(found[-1][0]):
        raise LabError(f"make {' '.join(arguments)} failed", "see above")


def commands() -> list[Item]:
    """Returns all items that pytest does not run in the lab."""
    def made(name: str, *arguments: str) -> Item:
        return Item(name, weight(name, SECONDS_AMD), run=lambda: _make(*arguments))

    def built(kernel: str) -> Item:
        return Item(f"build {kernel}", weight("build *", 0), run=lambda: check.build_for(kernel))
    proofs = sorted(path.stem.removeprefix("prove_") for path in (TOP / "tests/prove").glob("prove_*.c"))
    targets = sorted(path.stem.removeprefix("fuzz_") for path in (TOP / "tests/fuzz").glob("fuzz_*.*"))
    units = [folder for folder in check.UNITS
             if folder not in ("tests/prove", "tests/fuzz") and check.has_check(folder)]
    long = f"SECONDS={FUZZ_SECONDS}"
    return [
        *(built(kernel) for kernel in check.KERNELS),
        Item("check size", weight("check size", 0), run=check.size),
        Item("check english", weight("check english", 0), run=check.english),
        *(made(f"check {folder}", "-C", folder, "check") for folder in units),
        *(made(f"prove {name}", "-C", "tests/prove", "all", f"P={name}") for name in proofs),
        *(made(f"fuzz {name}", "-C", "tests/fuzz", "fuzz", long, f"TARGET={name}") for name in targets),
    ]


def tests() -> list[Item]:
    """Returns all tests of pytest, in an order in which tests that share a machine are adjacent."""
    listed = BUILD / "lab/everything.json"
    listed.unlink(missing_ok=True)
    argv = check.pytest_command(["--collect-only", "-q", "--thorough", f"--list-to={listed}", *places()])
    done = enter.run(roots.ensure("tool"), argv, check.PYTEST_ENVIRONMENT)
    if done.returncode or not listed.exists():
        raise LabError(f"the tests cannot be collected:\n{done.stdout}", "mend what is named above")
    usual = {"": SECONDS_ALONE, "amd": SECONDS_AMD, "intel": SECONDS_INTEL}
    return [Item(name=test["name"], seconds=weight(test["name"], usual[test["machine"]]),
                 follows=test["follows"], machine=test["machine"])
            for test in json.loads(listed.read_text(encoding="utf-8"))]


def places() -> list[str]:
    """Returns the folders and files for pytest. gaps.py is no part of `make check`."""
    return ["-o", "python_files=test_*.py gaps.py", *check.with_machines()]


def share(items: Sequence[Item], part: int, parts: int) -> list[Item]:
    """Returns the items of a part (1, 2, ...). All parts have about the same weight, and each item is
    in one part."""
    total = sum(item.seconds for item in items)
    mine: list[Item] = []
    so_far, now = 0.0, 1
    for item in items:
        if not item.follows:
            now = min(parts, int((so_far + item.seconds / 2) * parts / total) + 1)
        if now == part:
            mine.append(item)
        so_far += item.seconds
    return mine


def left(items: Sequence[Item], results: dict[str, Result]) -> list[Item]:
    """Returns the items that have not passed. Before an item that follows is the item it needs."""
    missing = [item.name not in results or results[item.name].outcome == "failed" for item in items]
    needed = {i - 1 for i, item in enumerate(items) if item.follows and missing[i]}
    return [item for i, item in enumerate(items) if missing[i] or i in needed]


def commit() -> str:
    """Returns the name of the results. If the tree has changes, the name ends in -dirty."""
    argv = ["git", "-C", str(TOP), "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"]
    done = subprocess.run(argv, text=True, stdout=subprocess.PIPE, check=False)
    return done.stdout.strip() or "unknown"


def table(items: Sequence[Item], results: dict[str, Result], parts: int) -> list[str]:
    """Returns a table with one line per part, then the names of failed items."""
    lines = ["| part | items | passed | failed | skipped | left | seconds |",
             "|---|---|---|---|---|---|---|"]
    for part in range(1, parts + 1):
        names = [item.name for item in share(items, part, parts)]
        done = [results[name] for name in names if name in results]
        count = [sum(result.outcome == word for result in done) for word in ("passed", "failed", "skipped")]
        row = [f"{part}/{parts}", len(names), *count, len(names) - len(done),
               round(sum(result.seconds for result in done))]
        lines.append(f"| {' | '.join(map(str, row))} |")
    return [*lines, *(f"FAILED {item.name}" for item in items
                      if item.name in results and results[item.name].outcome == "failed")]


def _command(item: Item, results: Path) -> None:
    start = time.monotonic()
    outcome = "passed"
    assert item.run
    try:
        item.run()
    except LabError as e:
        print(f"FAILED {item.name}: {e}", flush=True)
        outcome = "failed"
    Result(item.name, outcome, round(time.monotonic() - start, 1)).append(results)
    print(f"{outcome} {item.name} ({time.monotonic() - start:.0f} s)", flush=True)


def _carry_out(todo: Sequence[Item], results: Path) -> None:
    """Runs the commands one after another, then the tests in parallel."""
    for item in todo:
        if item.run:
            _command(item, results)
    rest = [item for item in todo if not item.run]
    if rest:
        chosen = BUILD / "lab/chosen"
        chosen.parent.mkdir(parents=True, exist_ok=True)
        chosen.write_text("".join(f"{item.name}\n" for item in rest), encoding="utf-8")
        for kernel in check.KERNELS:
            images.kernel(kernel)
        if any(item.machine == "intel" for item in rest):
            check.vt_x()
        check.pytest(["-n", "auto", "--dist", "loadgroup", "--thorough", f"--only={chosen}",
                      f"--record={results}", *places()])


def chosen_part(text: str) -> tuple[int, int]:
    """Returns part and number of parts for a text like `3/8`. An empty text is the whole."""
    found = re.fullmatch(r"(\d+)/(\d+)", text or "1/1")
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise LabError(f"PART={text} is no part", "use PART=1/8 to PART=8/8, or leave it out")
    return int(found[1]), int(found[2])


def main(part: str, list_only: bool) -> int:
    """Runs a part, or everything. Returns the exit status of `make check-all`."""
    number, parts = chosen_part(part)
    items = [*commands(), *tests()]
    mine = share(items, number, parts)
    if list_only:
        print("\n".join(item.name for item in mine))
        return 0
    images.kernel("6.12")
    images.root_disk()
    results = KEPT / f"{commit()}.jsonl"
    if results.stem.endswith("-dirty"):
        results.unlink(missing_ok=True)
    _carry_out(left(mine, read(results)), results)
    found = read(results)
    text = "\n".join(table(items, found, PARTS))
    results.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    print(text, flush=True)
    passed = sum(found[item.name].outcome == "passed" for item in mine if item.name in found)
    failed = sum(item.name not in found or found[item.name].outcome == "failed" for item in mine)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0
