# SPDX-License-Identifier: GPL-2.0-only
"""The parts of `make check`; commit.py runs them."""

import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import build, cost, enter, images, record, roots
from .errors import GuestTimeout, LabError, MachineDead
from .machine import Machine
from .paths import BUILD, LAB, TOP
from .times import Time

KERNELS = ["6.12", "6.1", "sid", "rt"]
QUEST = TOP / "inmates/tests"  # `make -C inmates check` runs the scheduler's tests of this folder
# Seconds for each fuzzer after its seeds; the sample and `make check-all` run the fuzzers longer
FUZZ_SECONDS = 6
UNITS = ["tests/unit", "hypervisor", "tools", "lib", "lib/python", "inmates", "Documentation", "tests/prove", "tests/fuzz"]
# A folder's tests take some minutes. Without a limit, a test that hangs would use all of CI's time
UNIT_SECONDS = 60 * 60
TREES = {"lib/python": "python", "Documentation": "book"}  # the tree for the check of a folder, if not the tool root
WORTH_SAYING = re.compile(r"^(?:prove|fuzz): .*", re.MULTILINE)
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed", re.MULTILINE)


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    times: dict[str, Time] = field(default_factory=dict)  # by name


class Watch:
    """Measures this thread and the commands that it runs."""

    def __init__(self) -> None:
        self._start, self._cpu = time.monotonic(), cost.of_thread()

    def time(self) -> Time:
        """Returns the time since the start."""
        seconds, cpu = time.monotonic() - self._start, cost.of_thread() - self._cpu
        return Time(round(seconds, 1), round(cpu, 1))


def one(name: str, work: Callable[[], object]) -> Count:
    """Runs a part that either passes or raises LabError."""
    watch = Watch()
    try:
        work()
    except LabError as e:
        print(f"FAILED {name}: {e}", flush=True)
        return Count(failed=1)
    took = watch.time()
    print(f"passed {name} ({took.seconds:.0f} s)", flush=True)
    return Count(passed=1, times={name: took})


def build_for(name: str) -> None:
    with build.installed(images.kernel(name), compile=True):
        pass


def size() -> None:
    done = enter.run(roots.ensure("tool"), ["make", "--no-print-directory", f"O={build.OUT}", "size"])
    print(done.stdout, end="", flush=True)
    if done.returncode:
        raise LabError("the monitor is over its limits, or was not measured", "see above")


def git(*words: str) -> str:
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
    left = git("merge-base", "HEAD", "origin/main")
    lowered = git("log", "-1", "--format=%H", "--", "scripts/plain-english.limits")
    return lowered if left and lowered and git("merge-base", left, lowered) == left else left


def english() -> None:
    """Checks the idioms of the whole tree, and the rules for added lines and commits."""
    script, base = str(TOP / "scripts/plain-english"), _english_base()
    for words in [[], ["--added", base]] if base else [[]]:
        done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout, end="", flush=True)
            raise LabError("comments, documents or commits break a rule of CONTRIBUTING.md",
                           done.stderr.strip() or "see above")


def types() -> None:
    """Checks the types of the Python code. pyproject.toml names the folders."""
    done = enter.run(roots.ensure("types"), ["mypy"])
    if done.returncode:
        print(done.stdout, end="", flush=True)
        raise LabError("mypy finds errors", "see above")


def has_check(folder: str) -> bool:
    makefile = TOP / folder / "Makefile"
    return makefile.is_file() and bool(re.search(r"^(?:[\w-]+ )*check:", makefile.read_text(), re.MULTILINE))


def tree(folder: str) -> Path:
    """Returns the tree in which make runs for a folder."""
    return roots.ensure(TREES.get(folder, "tool"))


def units(seed: int) -> Count:
    """Runs `make check` of each folder in its tree. Each prints `N passed, N failed` last.

    The seed is for the fuzzers, so that each commit tries other inputs."""
    fuzzing = [f"SECONDS={FUZZ_SECONDS}", f"SEED={1 + seed % (1 << 30)}"]  # libFuzzer's 0 is the time
    total = Count()
    for folder in UNITS:
        if not has_check(folder):
            print(f"none   make -C {folder} check: it has no such target", flush=True)
            continue
        watch = Watch()
        done = enter.run(tree(folder),
                         ["nice", "make", "--no-print-directory", "-C", folder, f"O={build.OUT}", "check",
                          *(fuzzing if folder == "tests/fuzz" else [])], limit=UNIT_SECONDS)
        found = SUMMARY.findall(done.stdout)
        passed, failed = map(int, found[-1]) if found else (0, 0)
        if done.returncode and not failed:
            failed = 1
        total.passed += passed
        total.failed += failed
        for line in [done.stdout] if failed else WORTH_SAYING.findall(done.stdout):
            print(line, flush=True)
        word = "FAILED" if failed else "passed"
        took = total.times[f"make -C {folder} check"] = watch.time()
        print(f"{word} make -C {folder} check: {passed} passed, {failed} failed "
              f"({took.seconds:.0f} s)", flush=True)
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
    quest = [f for f in sorted(QUEST.glob("test_*.py"))
             if not f.name.startswith(("test_sched_", "test_admission", "test_layers", "test_erika_suite"))]
    return [str(LAB), str(TOP / "tests/attack"), str(TOP / "tests/fuzz"), *map(str, quest)]


def lab_tests(also: Path, kept: Path | None) -> Count:
    """Runs pytest with a machine on each worker. Tests in Bochs run first (see schedule.py).

    `also` names tests that are usually left out. The results are appended to `kept`, too."""
    report, results = BUILD / "lab/report.xml", BUILD / "lab/results.jsonl"
    report.unlink(missing_ok=True)
    results.unlink(missing_ok=True)
    rc = pytest(["-n", "auto", "--dist", "loadgroup", f"--junitxml={report}",
                 f"--record={results}", f"--also={also}", *with_machines()])
    if not report.exists():
        return Count(failed=1)
    done = record.read(results)
    if kept:
        for result in done.values():
            result.append(kept)
    total = Count(times={name: Time(r.seconds, r.cpu) for name, r in done.items()
                         if r.outcome == "passed"})
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        number = {k: int(suite.get(k, "0")) for k in ("tests", "failures", "errors", "skipped")}
        failed = number["failures"] + number["errors"]
        total.failed += failed
        total.passed += max(0, number["tests"] - failed - number["skipped"])
    if rc not in (0, 5) and not total.failed:  # pytest's exit status 5: there are no tests
        total.failed = 1
    return total


def vt_x() -> None:
    """Makes the saved state from which every test on VT-x resumes. The boot takes minutes."""
    try:
        with Machine(machine="intel", install=False):
            pass
    except (GuestTimeout, MachineDead) as e:
        raise LabError(str(e), "its console is in .cache/logs") from e
