# SPDX-License-Identifier: GPL-2.0-only
"""`make check-all`: all tests on all kinds of machines, long proofs and fuzzing, all kernels.

PART=2/10 is a part. The names of tests and commands alone decide the part, so the parts of ten days
are everything."""

import functools
from collections.abc import Callable

from . import build, check, enter, images, packages, roots
from .check import Count
from .errors import LabError
from .parts import part_of
from .paths import TOP

KERNELS = ["6.12", "6.1", "sid", "rt"]
FUZZ_SECONDS = 120


def _make(*arguments: str) -> None:
    """Runs make in the tree of a folder; it prints `N passed, N failed` last. Raises LabError if it
    fails."""
    argv = ["nice", "make", "--no-print-directory", f"O={build.OUT}", *arguments]
    done = enter.run(check.tree(arguments[arguments.index("-C") + 1]), argv)
    print("\n".join(done.stdout.splitlines()[-20:]), flush=True)
    found = check.SUMMARY.findall(done.stdout)
    if done.returncode or not found or int(found[-1][1]) or not int(found[-1][0]):
        raise LabError(f"make {' '.join(arguments)} failed", "see above")


def _names(folder: str, prefix: str) -> list[str]:
    return sorted(path.stem.removeprefix(prefix) for path in (TOP / folder).glob(f"{prefix}*.[cp]*"))


def commands() -> dict[str, Callable[[], None]]:
    """Returns all commands by their names."""
    def made(*arguments: str) -> Callable[[], None]:
        return functools.partial(_make, *arguments)
    units = [folder for folder in check.UNITS if folder not in ("tests/prove", "tests/fuzz")]
    return {
        **{f"build for {kernel}": functools.partial(check.build_for, kernel) for kernel in KERNELS},
        "size of the monitor": check.size,
        **{f"make -C {folder} check": made("-C", folder, "check", "SLOW=1") for folder in units},
        "torture channels": made("-C", "lib", "torture", "SECONDS=30"),
        **{f"prove {name}": made("-C", "tests/prove", "all", f"P={name}") for name in _names("tests/prove", "prove_")},
        **{f"fuzz {name}": made("-C", "tests/fuzz", "fuzz", f"SECONDS={FUZZ_SECONDS}", f"TARGET={name}")
           for name in _names("tests/fuzz", "fuzz_")},
    }


def places() -> list[str]:
    """Returns the arguments for pytest. gaps.py is no part of `make check`."""
    return ["--slow", "-o", "python_files=test_*.py gaps.py"]


def main(text: str, list_only: bool) -> int:
    """Runs a part, or everything. Returns the exit status of `make check-all`."""
    part = part_of(text or "1/1")
    mine = {name: work for name, work in commands().items() if part.has(name)}
    tests = [*places(), f"--part={part.number}/{part.of}"]
    if list_only:
        print(*mine, sep="\n", flush=True)
        return check.pytest(["--collect-only", "-q", *tests, *check.with_machines()])
    images.root_disk()
    for kernel in KERNELS:
        images.kernel(kernel)
    for name in ("fleet", "python"):
        roots.ensure(name)
    packages.setup()
    total = check.one("boots", check.boots)
    for name, work in mine.items():
        count = check.one(name, work)
        total.passed += count.passed
        total.failed += count.failed
    done = check.lab_tests(*tests)
    for result in done.values():
        total.passed += result.outcome == "passed"
        total.failed += result.outcome == "failed"
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed or not total.passed else 0
