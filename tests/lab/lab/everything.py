# SPDX-License-Identifier: GPL-2.0-only
"""`make check-all`: all tests on all kinds of machines, long proofs and fuzzing, all kernels.

An item is a test of pytest or a command. The tree alone decides the order of all items. A part is a
piece of that order, with about the same weight as the others. Results are kept per commit, one line
per item. A part that is started again does only what has not passed.
"""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import build, check, enter, images, packages, roots, weights
from .errors import LabError
from .paths import BUILD, CACHE, TOP
from .record import Result, read
from .times import Time
from .workers import workers

KEPT = CACHE / "check-all"
PARTS = 10
# Tests that need trees of Debian which `make check` does not make; which of them
APART = {"tests/lab/test_packages.py": "packages", "tests/lab/test_sleep.py": "packages",
         "tests/lab/test_fleet.py": "fleet", "tests/lab/test_promtool.py": "fleet"}
QUICK = re.compile(r"Quick: *yes")  # in a proof's head comment: `make check` runs this proof


@dataclass(frozen=True)
class Item:
    """Something that passes or fails."""

    name: str
    seconds: float         # its weight: CPU time, without the boot of its machine
    follows: bool = False  # the item needs the machine in the state that the item before leaves
    machine: str = ""      # amd or intel; empty: no machine
    boot: str = ""         # items with the same text share a boot
    rare: bool = False     # `make check` leaves it out, except for a sample
    run: Callable[[], None] | None = None  # None: a test of pytest


def trees(items: Sequence[Item]) -> set[str]:
    """Returns the words of APART, `packages` or `fleet`, for these items."""
    return {word for item in items if (word := APART.get(item.name.partition("::")[0]))}


def _make_quietly(*arguments: str) -> None:
    """Runs a command in the tool root. If it fails, the commands that need it fail, too."""
    enter.run(roots.ensure("tool"), ["nice", "make", "--no-print-directory", f"O={build.OUT}", *arguments])


def _make(*arguments: str) -> None:
    """Runs make in the tree of a folder; it prints `N passed, N failed` last. Raises LabError if it
    fails."""
    argv = ["nice", "make", "--no-print-directory", f"O={build.OUT}", *arguments]
    done = enter.run(check.tree(arguments[arguments.index("-C") + 1]), argv)
    print("\n".join(done.stdout.splitlines()[-20:]), flush=True)
    found = check.SUMMARY.findall(done.stdout)
    if done.returncode or not found or int(found[-1][1]) or not int(found[-1][0]):
        raise LabError(f"make {' '.join(arguments)} failed", "see above")


def commands() -> list[Item]:
    """Returns all items that pytest does not run in the lab."""
    def made(name: str, *arguments: str, rare: bool = False) -> Item:
        return Item(name, weights.of(name, ""), rare=rare, run=lambda: _make(*arguments))

    def built(kernel: str) -> Item:
        name = f"build {kernel}"
        return Item(name, weights.of(name, ""), run=lambda: check.build_for(kernel))
    proofs = {path.stem.removeprefix("prove_"): not QUICK.search(path.read_text(encoding="utf-8"))
              for path in sorted((TOP / "tests/prove").glob("prove_*.c"))}
    targets = sorted(path.stem.removeprefix("fuzz_") for path in (TOP / "tests/fuzz").glob("fuzz_*.*"))
    units = [folder for folder in check.UNITS
             if folder not in ("tests/prove", "tests/fuzz") and check.has_check(folder)]
    long = f"SECONDS={weights.FUZZ_SECONDS}"
    return [
        *(built(kernel) for kernel in check.KERNELS),
        Item("check size", weights.of("check size", ""), run=check.size),
        Item("check english", weights.of("check english", ""), run=check.english),
        Item("check types", weights.of("check types", ""), run=check.types),
        *(made(f"check {folder}", "-C", folder, "check") for folder in units),
        made("torture channels", "-C", "lib", "torture", "SECONDS=30", rare=True),
        *(made(f"prove {name}", "-C", "tests/prove", "all", f"P={name}", rare=rare)
          for name, rare in proofs.items()),
        *(made(f"fuzz {name}", "-C", "tests/fuzz", "fuzz", long, f"TARGET={name}", rare=True)
          for name in targets),
    ]


def tests() -> list[Item]:
    """Returns all tests of pytest, in an order in which tests that share a machine are adjacent."""
    listed = BUILD / "lab/everything.json"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.unlink(missing_ok=True)
    argv = check.pytest_command(["--collect-only", "-q", "--thorough", f"--list-to={listed}", *places()])
    done = enter.run(roots.ensure("tool"), argv, check.PYTEST_ENVIRONMENT)
    if done.returncode or not listed.exists():
        raise LabError(f"the tests cannot be collected:\n{done.stdout}", "mend what is named above")
    return [Item(seconds=weights.of(test["name"], test["machine"]), **test)
            for test in json.loads(listed.read_text(encoding="utf-8"))]


def every() -> list[Item]:
    """Returns all items in their order."""
    return [*commands(), *tests()]


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
    """Returns the items that have not passed, each with the item before it if it needs that item's
    state."""
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


def cell(names: Sequence[str], results: dict[str, Result]) -> str:
    """Sums up a part of a commit in a few words."""
    done = [results[name].outcome for name in names if name in results]
    if not done:
        return "not run"
    words = [f"{done.count('failed')} failed"] if "failed" in done else []
    if len(done) < len(names):
        words.append(f"{len(done)} of {len(names)} run")
    return ", ".join(words) or "passed"


def overview(folder: Path) -> list[str]:
    """Returns one table of all commits whose results are kept, the latest first."""
    lines = [f"| commit | {' | '.join(f'{part}/{PARTS}' for part in range(1, PARTS + 1))} |",
             f"|---|{'---|' * PARTS}"]
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files:
        results = read(path.with_suffix(".jsonl"))
        parts = json.loads(path.read_text(encoding="utf-8"))
        lines.append(f"| {path.stem} | {' | '.join(cell(names, results) for names in parts)} |")
    return lines


def keep_parts(items: Sequence[Item], path: Path) -> None:
    """Writes which items each part of this commit has, for overview()."""
    parts = [[item.name for item in share(items, part, PARTS)] for part in range(1, PARTS + 1)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")


def kept(items: Sequence[Item]) -> Path | None:
    """Returns the file for results of this commit, or None in a tree with changes."""
    name = commit()
    if name.endswith("-dirty") or name == "unknown":
        return None
    keep_parts(items, KEPT / f"{name}.json")
    return KEPT / f"{name}.jsonl"


def write_names(path: Path, items: Sequence[Item]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{item.name}\n" for item in items), encoding="utf-8")


def _command(item: Item, results: Path | None) -> Result:
    watch = check.Watch()
    outcome = "passed"
    assert item.run
    try:
        item.run()
    except LabError as e:
        print(f"FAILED {item.name}: {e}", flush=True)
        outcome = "failed"
    result = Result(item.name, outcome, *watch.time())
    if results:
        result.append(results)
    print(f"{outcome} {item.name} ({result.seconds:.0f} s)", flush=True)
    return result


def carry_out_commands(items: Sequence[Item], results: Path | None) -> check.Count:
    """Runs fuzzers side by side, since each has one core, and all other commands in sequence."""
    fuzzers = [item for item in items if item.name.startswith("fuzz ")]
    done = [_command(item, results) for item in items if item not in fuzzers]
    if fuzzers:
        # this command comes first, so that the fuzzers do not compile the same files in parallel
        _make_quietly("-C", "tests/fuzz", "all")
        with ThreadPoolExecutor(max_workers=workers()) as pool:
            done += pool.map(lambda item: _command(item, results), fuzzers)
    passed = {result.name: Time(result.seconds, result.cpu)
              for result in done if result.outcome == "passed"}
    return check.Count(len(passed), len(done) - len(passed), passed)


def _carry_out(todo: Sequence[Item], results: Path) -> None:
    """Runs the commands, then the tests in parallel."""
    carry_out_commands([item for item in todo if item.run], results)
    rest = [item for item in todo if not item.run]
    if rest:
        chosen = BUILD / "lab/chosen"
        write_names(chosen, rest)
        for kernel in check.KERNELS:
            images.kernel(kernel)
        needed = trees(rest)
        if "packages" in needed:
            packages.setup()
        if "fleet" in needed:
            roots.ensure("fleet")
        if any(item.machine == "intel" for item in rest):
            check.vt_x()
        check.pytest(["-n", "auto", "--dist", "loadgroup", "--thorough", f"--only={chosen}",
                      f"--record={results}", *places()])


def chosen_part(text: str) -> tuple[int, int]:
    """Returns part and number of parts for a text like `3/8`. An empty text is the whole."""
    found = re.fullmatch(r"(\d+)/(\d+)", text or "1/1")
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise LabError(f"PART={text} is no part",
                       f"use PART=1/{PARTS} to PART={PARTS}/{PARTS}, or leave it out")
    return int(found[1]), int(found[2])


def main(part: str, list_only: bool, table_only: bool = False) -> int:
    """Runs a part, or everything. Returns the exit status of `make check-all`."""
    if table_only:
        print("\n".join(overview(KEPT)))
        return 0
    number, parts = chosen_part(part)
    items = every()
    mine = share(items, number, parts)
    if list_only:
        print("\n".join(item.name for item in mine))
        return 0
    images.kernel("6.12")
    images.root_disk()
    results = KEPT / f"{commit()}.jsonl"
    if results.stem.endswith("-dirty"):
        results.unlink(missing_ok=True)
    keep_parts(items, results.with_suffix(".json"))
    _carry_out(left(mine, read(results)), results)
    found = read(results)
    text = "\n".join(table(items, found, PARTS))
    results.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    print(text, flush=True)
    passed = sum(found[item.name].outcome == "passed" for item in mine if item.name in found)
    failed = sum(item.name not in found or found[item.name].outcome == "failed" for item in mine)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0
