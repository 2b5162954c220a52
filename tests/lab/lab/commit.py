# SPDX-License-Identifier: GPL-2.0-only
"""`make check`: all that a change can break, a sample of the rest, and one line as the sum."""

import functools
import sys
import threading
from dataclasses import replace

from . import budget, check, cost, everything, images, sampling, times
from .check import Count, git, one
from .paths import BUILD


def sample(seed: int) -> tuple[sampling.Lot, sampling.Lot, list[everything.Item]]:
    """Returns the lot of tests with the seed's share of others, the lot of commands, and all items of
    `make check-all`."""
    items = everything.every()
    rest = [item for item in items if item.rare]
    tests = [item for item in rest if not item.run and not sampling.parts_of(item)]
    commands = [item for item in rest if item.run]
    lots = (sampling.pick(tests, sampling.TESTS, seed),
            sampling.pick(commands, sampling.COMMANDS, seed))
    for kind, lot in zip(("tests", "commands"), lots):
        print(f"sample of {kind}: {lot} (SEED={seed})", flush=True)
        print(*(f"  {item.name}" for item in lot.items), sep="\n", flush=True)
    mine = sampling.share(rest, seed)
    if mine:
        print(f"share of tests: {len(mine)} items", *(f"  {item.name}" for item in mine), sep="\n", flush=True)
    return replace(lots[0], items=(*lots[0].items, *mine)), lots[1], items


def main(seed: int | None = None) -> int:
    """Returns the exit status of `make check`."""
    images.kernel("6.12")
    images.root_disk()
    counts: list[Count] = []
    boots = threading.Thread(
        target=lambda: counts.append(one("a machine with VT-x boots", check.vt_x)))
    boots.start()  # in parallel; the first test on VT-x waits for its end
    for name in check.KERNELS:
        images.kernel(name)
    counts += [one(f"build for {name}", functools.partial(check.build_for, name))
               for name in check.KERNELS]
    counts.append(one("size of the monitor", check.size))
    counts.append(one("plain English", check.english))
    counts.append(one("types of Python", check.types))
    number = sampling.seed_of(git("rev-parse", "HEAD")) if seed is None else seed
    tests, commands, items = sample(number)
    kept = everything.kept(items)
    also = BUILD / "lab/sample"
    everything.write_names(also, tests.items)
    side: list[Count] = []


    def side_lane() -> None:
        side.append(check.units(number))
        side.append(everything.carry_out_commands(commands.items, kept))
    thread = threading.Thread(target=side_lane)
    thread.start()
    counts.append(check.lab_tests(also, kept))
    thread.join()
    boots.join()
    counts += side if len(side) == 2 else [*side, Count(failed=1)]
    passed, failed = sum(c.passed for c in counts), sum(c.failed for c in counts)
    all_times = {name: time for c in counts for name, time in c.times.items()}
    print(*times.report(all_times), sep="\n")
    print(*budget.report(items, all_times, cost.of_all()), sep="\n")
    sys.stdout.flush()
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0
