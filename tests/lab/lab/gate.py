# SPDX-License-Identifier: GPL-2.0-only
"""`make check`, the gate: the same tests for every commit, in at most 20 minutes of two quiet cores.

A test in a machine that fails is run again at the end, alone, in a fresh machine. If it passes
then, it is unstable, unless its machine had a known defect of the emulator: that is printed and
counted, and the run is green. It is red if more than FORGIVEN tests are unstable, or a test that
was unstable in an earlier run on this host. A test without a machine has no second try, and neither
has a test that judges the state in which others left one.
"""

import functools
import json
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from . import check, images, lint, record, roots
from .check import Count
from .lint import git
from .paths import BUILD, CACHE

KERNELS = ["6.12", "6.1"]
REPORT = BUILD / "check.json"
BEFORE = CACHE / "unstable.json"  # the unstable tests of the last KEPT runs on this host
KEPT = 10
FORGIVEN = 5
BUDGET = 25 * 60  # seconds; a run that takes longer names what to move
SHOWN = 15        # names of tests in such a message
EVERY = 30.0      # seconds between two lines of progress


class Progress:
    """Prints how far the run is, every half minute."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.steps: list[str] = []  # the running steps, without the tests in machines
        self._ended = threading.Event()
        threading.Thread(target=self._print, daemon=True).start()

    def seconds(self) -> float:
        return time.monotonic() - self.start

    def end(self) -> None:
        self._ended.set()

    def line(self) -> str:
        """Returns how far the run is."""
        names = check.NAMES.read_text(encoding="utf-8").count("\n") if check.NAMES.exists() else 0
        done = record.read(check.RESULTS) if names else {}
        failed = sum(result.outcome == "failed" for result in done.values())
        machines = f"tests in machines: {len(done)} of {names} done, {failed} failed; " if names else ""
        return f"[{self.seconds() / 60:4.1f} min] {machines}running: {', '.join(self.steps) or 'nothing else'}"

    def _print(self) -> None:
        while not self._ended.wait(EVERY):
            print(self.line(), flush=True)


def step(progress: Progress, counts: list[Count], name: str, work: Callable[[], Count]) -> None:
    """Runs a step of the gate. A step that breaks fails; it does not end the run."""
    progress.steps.append(name)
    try:
        counts.append(work())
    except Exception as error:  # the sum has to be printed, whatever a step raises
        print(f"FAILED {name}: {error!r}", flush=True)
        counts.append(Count(failed=1))
    progress.steps.remove(name)


def style() -> Count:
    """Prints what `make lint` finds. Nothing that happens here makes the run red."""
    try:
        lint.main()
    except Exception as error:  # a tree that is not made, for example
        print(f"lint: not done: {error}", flush=True)
    return Count()


def prepare() -> None:
    """Makes what is missing in the cache. A tree takes a minute, mostly of waiting."""
    work: list[Callable[[], object]] = [
        images.root_disk, functools.partial(roots.ensure, "bochs"),
        *(functools.partial(images.kernel, name) for name in KERNELS),
        *(functools.partial(roots.ensure, name) for name in ("book", "types", "python"))]
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(make) for make in work]:
            done.result()


def once_more(failed: list[str]) -> list[str]:
    """Runs tests again, each alone in a machine of its own. Returns those that pass."""
    only, results = BUILD / "lab/again", BUILD / "lab/again.jsonl"
    only.write_text("".join(f"{name}\n" for name in failed), encoding="utf-8")
    results.unlink(missing_ok=True)
    print(f"once more, alone: {', '.join(failed)}", flush=True)
    check.pytest(["-q", "-n", "0", "--alone", f"--only={only}", f"--record={results}", *check.with_machines()])
    done = record.read(results)
    return [name for name in failed if name in done and done[name].outcome == "passed"]


def unstable_before() -> list[dict[str, object]]:
    try:
        found: list[dict[str, object]] = json.loads(BEFORE.read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return []


def verdict(failed: list[str], unstable: list[str], before: set[str]) -> list[str]:
    """Returns why the run is red. Empty: it is green."""
    reasons = [f"{len(failed)} failed"] if failed else []
    if len(unstable) > FORGIVEN:
        reasons.append(f"{len(unstable)} tests are unstable, {FORGIVEN} at most are forgiven")
    if again := sorted(before & set(unstable)):
        reasons.append(f"unstable in an earlier run, too: {', '.join(again)} (mend these, or mark them slow with "
                       f"the reason; {BEFORE} has the runs)")
    return reasons


def too_long(seconds: float, times: Mapping[str, float]) -> list[str]:
    """Returns the lines for a run over the budget, with the tests to make faster or to mark slow."""
    if seconds <= BUDGET:
        return []
    order = sorted(times, key=lambda name: -times[name])[:SHOWN]
    return [f"make check took {seconds / 60:.0f} min, its budget is {BUDGET // 60}. Make faster, or mark slow:",
            *(f"{times[name]:7.1f} s  {name}" for name in order)]


def run_all(progress: Progress) -> tuple[list[Count], dict[str, record.Result]]:
    """Runs every step, and the tests in machines. Returns the counts of the steps, and the result of
    each test."""
    counts: list[Count] = []
    run = functools.partial(step, progress, counts)

    def part(name: str, work: Callable[[], object]) -> None:
        run(name, functools.partial(check.one, name, work))

    def build(kernel: str) -> None:
        part(f"build for {kernel}", functools.partial(check.build_for, kernel))

    def unit(folder: str) -> None:
        run(f"make -C {folder} check", functools.partial(check.unit, folder))

    part("Debian trees", prepare)
    boot = threading.Thread(target=part, args=("boots", check.boots))
    boot.start()  # in parallel; the first test on a machine waits for its end
    build(KERNELS[0])  # nearly all machines need only this one
    # A build locks out machines that boot, so the others wait until the first machines have booted
    work = [functools.partial(unit, folder) for folder in check.UNITS]
    work[1:1] = [functools.partial(build, kernel) for kernel in KERNELS[1:]]

    def side_lane() -> None:
        run("lint", style)
        part("size of the monitor", check.size)
        for do in work:
            do()

    side = threading.Thread(target=side_lane)
    side.start()
    done = check.lab_tests()
    side.join()
    boot.join()
    return counts, done


def remembered(commit: str, unstable: Mapping[str, str]) -> set[str]:
    """Returns the tests that were unstable in the last runs on this host, and adds this run. It
    keeps the essentials of each failure, too, since the clone with the logs may be gone then."""
    before = unstable_before()
    runs = [*before, {"commit": commit, "unstable": list(unstable), "essentials": unstable}][-KEPT:]
    BEFORE.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    return {str(name) for entry in before for name in entry["unstable"]}  # type: ignore[attr-defined]


def main() -> int:
    """Returns the exit status of `make check`."""
    check.NAMES.unlink(missing_ok=True)
    commit, clean = git("rev-parse", "HEAD"), not git("status", "--porcelain")
    progress = Progress()
    counts, done = run_all(progress)
    failed = sorted(name for name, result in done.items() if result.outcome == "failed")
    again = once_more(failed) if 0 < len(failed) <= FORGIVEN and failed != ["pytest"] else []
    failed = [name for name in failed if name not in again]
    unstable = [name for name in again if not done[name].emulator]
    progress.end()

    passed = sum(c.passed for c in counts) + len(again)
    passed += sum(result.outcome == "passed" for result in done.values())
    bad = sum(c.failed for c in counts) + len(failed)
    times = {name: seconds for c in counts for name, seconds in c.seconds.items()}
    times |= {result.name: result.seconds for result in done.values()}
    times |= {f"set-up of {result.name}": result.setup for result in done.values() if result.setup >= 1}
    seconds = progress.seconds()
    REPORT.write_text(json.dumps({
        "commit": commit, "clean": clean, "passed": passed, "failed": bad, "unstable": unstable,
        "emulator": [name for name in again if name not in unstable], "failures": failed, "seconds": round(seconds),
        "times": dict(sorted(times.items(), key=lambda item: -item[1])),
    }, indent=1) + "\n", encoding="utf-8")
    for name in again:
        print(f"{'UNSTABLE' if name in unstable else 'EMULATOR FAULT'} {name}")
        print(textwrap.indent(done[name].essentials, "    "))
    print(*(f"FAILED {name}" for name in failed), *too_long(seconds, times), sep="\n")
    before = remembered(commit, {name: done[name].essentials for name in unstable})
    reasons = verdict(["?"] * bad, unstable, before)
    if reasons or not passed:
        print(f"red: {'; '.join(reasons) or 'no test was run'}")
    print(f"{passed} passed, {bad} failed{f', {len(unstable)} unstable' if unstable else ''}")
    sys.stdout.flush()
    return 1 if reasons or not passed else 0
