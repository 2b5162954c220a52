# SPDX-License-Identifier: GPL-2.0-only
"""The parts of `make check` and of `make check-all`; gate.py and everything.py run them."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import build, enter, images, record, roots
from .errors import GuestTimeout, LabError, MachineDead
from .machine import Machine
from .paths import BUILD, LAB, TOP

QUEST = TOP / "inmates/tests"  # `make -C inmates check` runs the scheduler's tests of this folder
UNITS = ["tests/unit", "tools", "lib", "lib/python", "inmates", "Documentation", "tests/prove", "tests/fuzz"]
# A folder's tests take some minutes. Without a limit, a test that hangs would use all of CI's time
UNIT_SECONDS = 60 * 60
TREES = {"lib/python": "python", "Documentation": "book"}  # the tree for the check of a folder, if not the tool root
WORTH_SAYING = re.compile(r"^(?:prove|fuzz): .*", re.MULTILINE)
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed", re.MULTILINE)


@dataclass
class Count:
    """Results of tests."""

    passed: int = 0
    failed: int = 0
    seconds: dict[str, float] = field(default_factory=dict)  # on the clock, by name


def one(name: str, work: Callable[[], object]) -> Count:
    """Runs a step that either passes or raises LabError."""
    start = time.monotonic()
    try:
        work()
    except LabError as e:
        print(f"FAILED {name}: {e}", flush=True)
        return Count(failed=1)
    took = time.monotonic() - start
    print(f"passed {name} ({took:.0f} s)", flush=True)
    return Count(passed=1, seconds={name: took})


def build_for(name: str) -> None:
    with build.installed(images.kernel(name), compile=True):
        pass


def size() -> None:
    done = enter.run(roots.ensure("tool"), ["make", "--no-print-directory", f"O={build.OUT}", "size"])
    print(done.stdout, end="", flush=True)
    if done.returncode:
        raise LabError("the monitor is over its limits, or was not measured", "see above")


def tree(folder: str) -> Path:
    """Returns the tree in which make runs for a folder."""
    return roots.ensure(TREES.get(folder, "tool"))


def unit(folder: str) -> Count:
    """Runs `make check` of a folder in its tree. It prints `N passed, N failed` last."""
    start = time.monotonic()
    done = enter.run(tree(folder), ["nice", "make", "--no-print-directory", "-C", folder, f"O={build.OUT}", "check"],
                     limit=UNIT_SECONDS)
    found = SUMMARY.findall(done.stdout)
    passed, failed = map(int, found[-1]) if found else (0, 0)
    if not failed and (done.returncode or not passed):
        failed = 1
    for line in [done.stdout] if failed else WORTH_SAYING.findall(done.stdout):
        print(line, flush=True)
    took = time.monotonic() - start
    print(f"{'FAILED' if failed else 'passed'} make -C {folder} check: {passed} passed, {failed} failed "
          f"({took:.0f} s)", flush=True)
    return Count(passed, failed, {f"make -C {folder} check": took})


# pytest imports its plugin before it reads pyproject.toml
PYTEST_ENVIRONMENT = {"PYTHONPATH": str(LAB)}


def pytest(arguments: Sequence[str]) -> int:
    """Runs pytest in the tool root with this process's output. Returns its exit status."""
    argv = ["python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "lab.fixtures", "-ra", *arguments]
    return enter.run(roots.ensure("tool"), argv, PYTEST_ENVIRONMENT, capture=False).returncode


def with_machines() -> list[str]:
    """Returns the folders and files for pytest: tests/lab, tests/attack, tests/fuzz, and the tests of
    Quest that need a machine."""
    quest = [f for f in sorted(QUEST.glob("test_*.py"))
             if not f.name.startswith(("test_sched_", "test_admission", "test_ipc_bounds", "test_layers", "test_placement",
                                      "test_erika_suite"))]
    return [str(LAB), str(TOP / "tests/attack"), str(TOP / "tests/fuzz"), *map(str, quest)]


RESULTS = BUILD / "lab/results.jsonl"  # of each test with a machine, as soon as it is done
NAMES = BUILD / "lab/tests"            # the names of all these tests, as soon as they are known


def lab_tests(*arguments: str) -> dict[str, record.Result]:
    """Runs pytest with a machine on each of two workers. Tests in Bochs run first (see schedule.py).
    Returns the result of each test. A test that was not run, since its worker died, has failed. If
    no test was run, a test of the name `pytest` has failed."""
    for path in (RESULTS, NAMES):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
    status = pytest(["-q", "-n", "auto", "--dist", "loadgroup", f"--record={RESULTS}", f"--names-to={NAMES}",
                     *arguments, *with_machines()])
    done = record.read(RESULTS)
    names = NAMES.read_text(encoding="utf-8").splitlines() if NAMES.exists() else []
    for name in set(names) - done.keys():
        done[name] = record.Result(name, "failed", 0.0)
    if not names or status and not any(r.outcome == "failed" for r in done.values()):
        done["pytest"] = record.Result("pytest", "failed", 0.0)
    return done


def boots() -> None:
    """Makes the saved states from which most tests resume. The boot with VT-x takes minutes."""
    try:
        for machine in ("intel", "amd"):
            with Machine(machine=machine, install=False):
                pass
    except (GuestTimeout, MachineDead) as e:
        raise LabError(str(e), "its console is in build/lab/logs") from e
