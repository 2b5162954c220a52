# SPDX-License-Identifier: GPL-2.0-only
"""`make check`: every part, and one line that sums them up."""

import os
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import build, enter, images, record, roots, times
from .errors import GuestTimeout, LabError, MachineDead
from .machine import Machine
from .paths import BUILD, LAB, TOP

KERNELS = ["6.12", "6.1", "sid", "rt"]
QUEST = TOP / "inmates/tests"  # `make -C inmates check` runs the scheduler's tests of this folder
UNITS = ["tests/unit", "hypervisor", "tools", "inmates", "tests/prove", "tests/fuzz"]
WORTH_SAYING = re.compile(r"^(?:prove|fuzz): .*", re.MULTILINE)
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed", re.MULTILINE)


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    times: dict[str, float] = field(default_factory=dict)  # seconds by name


def _one(name: str, work: Callable[[], object]) -> Count:
    """Runs a part that either passes or raises LabError."""
    start = time.monotonic()
    try:
        work()
    except LabError as e:
        print(f"FAILED {name}: {e}", flush=True)
        return Count(failed=1)
    seconds = time.monotonic() - start
    print(f"passed {name} ({seconds:.0f} s)", flush=True)
    return Count(passed=1, times={name: seconds})


def build_for(name: str) -> None:
    with build.installed(images.kernel(name), compile=True):
        pass


def size() -> None:
    done = enter.run(roots.ensure("tool"), ["make", "--no-print-directory", f"O={build.OUT}", "size"])
    print(done.stdout, end="", flush=True)
    if done.returncode:
        raise LabError("the monitor is over its limits, or was not measured", "see above")


def _git(*words: str) -> str:
    """Runs git and returns its output, or nothing where git or the history is missing."""
    try:
        return subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True,
                              check=False).stdout.strip()
    except OSError:
        return ""


def _english_base() -> str:
    """Returns the commit on which the change is based: QV_BASE if set; else the commit where this
    branch left origin/main, or the last commit that lowered the limits if that is later."""
    if base := os.environ.get("QV_BASE", ""):
        return base
    left = _git("merge-base", "HEAD", "origin/main")
    lowered = _git("log", "-1", "--format=%H", "--", "scripts/plain-english.limits")
    return lowered if left and lowered and _git("merge-base", left, lowered) == left else left


def english() -> None:
    """Checks the idioms of the whole tree, and the rules for added lines and commits."""
    script, base = str(TOP / "scripts/plain-english"), _english_base()
    for words in [[], ["--added", base]] if base else [[]]:
        done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout, end="", flush=True)
            raise LabError("comments, documents or commits break a rule of CONTRIBUTING.md",
                           done.stderr.strip() or "see above")


def has_check(folder: str) -> bool:
    makefile = TOP / folder / "Makefile"
    return makefile.is_file() and bool(re.search(r"^(?:[\w-]+ )*check:", makefile.read_text(), re.MULTILINE))


def units() -> Count:
    """Runs `make check` of each folder in the tool root. Each prints `N passed, N failed` last."""
    total = Count()
    for folder in UNITS:
        if not has_check(folder):
            print(f"none   make -C {folder} check: it has no such target", flush=True)
            continue
        start = time.monotonic()
        done = enter.run(roots.ensure("tool"),
                         ["nice", "make", "--no-print-directory", "-C", folder, f"O={build.OUT}", "check"])
        found = SUMMARY.findall(done.stdout)
        passed, failed = map(int, found[-1]) if found else (0, 0)
        if done.returncode and not failed:
            failed = 1
        total.passed += passed
        total.failed += failed
        for line in [done.stdout] if failed else WORTH_SAYING.findall(done.stdout):
            print(line, flush=True)
        word = "FAILED" if failed else "passed"
        total.times[f"make -C {folder} check"] = time.monotonic() - start
        print(f"{word} make -C {folder} check: {passed} passed, {failed} failed "
              f"({time.monotonic() - start:.0f} s)", flush=True)
    return total


# pytest imports its plugin before it reads pyproject.toml
PYTEST_ENVIRONMENT = {"PYTHONPATH": str(LAB)}


def pytest_command(arguments: list[str]) -> list[str]:
    return ["python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "lab.fixtures", "-ra",
            *arguments]


def pytest(arguments: list[str]) -> int:
    """Runs pytest in the tool root with this process's output. Returns its exit status."""
    return enter.run(roots.ensure("tool"), pytest_command(arguments), PYTEST_ENVIRONMENT,
                     capture=False).returncode


def with_machines() -> list[str]:
    """Returns the folders and files for pytest: tests/lab, tests/attack, tests/fuzz, and the tests of
    Quest that need a machine."""
    quest = [f for f in sorted(QUEST.glob("test_*.py")) if not f.name.startswith(("test_sched_", "test_admission"))]
    return [str(LAB), str(TOP / "tests/attack"), str(TOP / "tests/fuzz"), *map(str, quest)]


def lab_tests() -> Count:
    """Runs pytest with a machine on each worker. Machines in Bochs are first: see schedule.py."""
    report, results = BUILD / "lab/report.xml", BUILD / "lab/results.jsonl"
    report.unlink(missing_ok=True)
    results.unlink(missing_ok=True)
    rc = pytest(["-n", "auto", "--dist", "loadgroup", f"--junitxml={report}",
                 f"--record={results}", *with_machines()])
    if not report.exists():
        return Count(failed=1)
    done = record.read(results)
    total = Count(times={name: r.seconds for name, r in done.items() if r.outcome == "passed"})
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        number = {k: int(suite.get(k, "0")) for k in ("tests", "failures", "errors", "skipped")}
        failed = number["failures"] + number["errors"]
        total.failed += failed
        total.passed += max(0, number["tests"] - failed - number["skipped"])
    if rc not in (0, 5) and not total.failed:  # 5: there are no tests
        total.failed = 1
    return total


def vt_x() -> None:
    """Makes the saved state from which every test on VT-x resumes. The boot takes minutes."""
    try:
        with Machine(machine="intel", install=False):
            pass
    except (GuestTimeout, MachineDead) as e:
        raise LabError(str(e), "its console is in .cache/logs") from e


def main() -> int:
    """Runs all parts. Returns the exit status of `make check`."""
    images.kernel("6.12")
    images.root_disk()
    counts: list[Count] = []
    boots = threading.Thread(target=lambda: counts.append(_one("a machine with VT-x boots", vt_x)))
    boots.start()  # in parallel; a test that needs the saved state waits for it
    for name in KERNELS:
        images.kernel(name)
    counts += [_one(f"build for {name}", lambda name=name: build_for(name)) for name in KERNELS]
    counts.append(_one("size of the monitor", size))
    counts.append(_one("plain English", english))
    side: list[Count] = []
    thread = threading.Thread(target=lambda: side.append(units()))
    thread.start()
    counts.append(lab_tests())
    thread.join()
    boots.join()
    counts += side or [Count(failed=1)]
    passed, failed = sum(c.passed for c in counts), sum(c.failed for c in counts)
    print(*times.report({name: seconds for c in counts for name, seconds in c.times.items()}), sep="\n")
    sys.stdout.flush()
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0
