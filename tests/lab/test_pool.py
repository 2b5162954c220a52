# SPDX-License-Identifier: GPL-2.0-only
"""The pool: memory that QV keeps for cells."""

import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from product import Product
from test_management import scanner
from test_watchdog import described
from test_watching import until

MIB = 1 << 20
FULL = "/run/full"  # where a test puts what fills Linux's memory
CELL = 66 * MIB  # quest.yaml has 64 MiB; the instance of the monitor has 2 MiB


@pytest.fixture
def pool(qv: Product) -> Iterator[Product]:
    qv.sh("modprobe qv")
    yield qv
    qv.sh(f"umount {FULL}; qvctl cell destroy quest; qvctl pool --set 0 --cpus none")


def free(qv: Product) -> int:
    return int(qv.ask("pool")["free"])


def available(qv: Product) -> int:
    return int(qv.sh("awk '/MemAvailable/ { print $2 }' /proc/meminfo")) << 10


def test_pool_lends_to_cells_and_is_refilled(pool: Product) -> None:
    pool.do("pool --set 128M")
    pool.run_cell()
    assert pool.ask("status")["pool"] == {"size": 128 * MIB, "free": 128 * MIB - CELL, "lent": CELL}
    assert "the pool has 128M for cells, 62M of it free\n" in pool.do("status")
    pool.quesh("count")
    pool.do("cell destroy quest")
    assert free(pool) == 128 * MIB

    # a pool that is too small gives what it has, and Linux the rest
    pool.do("pool --set 32M")
    pool.run_cell()
    assert free(pool) == 0
    # memory of a cell stays with the cell when the pool shrinks, and goes to Linux after it
    pool.do("pool --set 8M")
    assert pool.ask("pool") == pool.ask("pool") | {"size": 8 * MIB, "free": 0, "lent": 32 * MIB}
    pool.do("cell destroy quest")
    assert pool.ask("pool") == pool.ask("pool") | {"size": 8 * MIB, "free": 8 * MIB, "lent": 0}


# Prints the longest time in us for which a program of CPU 1 did not run
WORST = """import signal, time
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(1))
worst, last = 0, time.perf_counter_ns()
print(flush=True)
while not over:
    now = time.perf_counter_ns()
    worst, last = max(worst, now - last), now
print(worst // 1000)
"""


def starts(pool: Product, number: int) -> list[float]:
    """Returns the ms of each create and start together."""
    found = []
    for _ in range(number):
        took = [pool.ask(line)["duration_ns"] for line in (f"cell create {pool.config('quest', 3)}", "cell start quest")]
        found.append(sum(took) / 1e6)
        pool.do("cell destroy quest")
    return found


def stall(pool: Product, meanwhile: Callable[[], object]) -> int:
    """Returns the longest stall of a program on CPU 1 of Linux meanwhile, in us."""
    spin = pool.machine.start(["taskset", "-c", "1", "python3", "-c", WORST], merge=False)
    until(lambda: b"\n" in spin.output, "the program runs")
    meanwhile()
    spin.kill(15)
    pool.machine.finish(spin, 60)
    return int(spin.output)


def rounds(pool: Product, number: int) -> tuple[list[float], int]:
    """Returns the ms of each create and start, and the longest stall of Linux meanwhile in us."""
    found: list[float] = []
    return found, stall(pool, lambda: found.extend(starts(pool, number)))


def hotplugs(pool: Product) -> int:
    """Returns how often a CPU has gone offline, or come online, in Linux."""
    return len(re.findall(r"CPU \d+ is now offline|Booting Node \d+ Processor", pool.sh("dmesg")))


def test_kept_cpus_do_not_come_and_go_in_linux(pool: Product) -> None:
    pool.do("enable")
    gone = hotplugs(pool)
    before = rounds(pool, 5)
    assert hotplugs(pool) >= gone + 10
    assert "CPUs 2-3 kept ready for cells" in pool.do("pool --cpus 2-3")
    assert pool.online() == "0-1"
    gone = hotplugs(pool)
    after = rounds(pool, 5)
    print(f"ms of create and start, longest stall in us: {before} with CPUs of Linux, {after} with kept ones")
    assert pool.online() == "0-1" and pool.ask("pool")["cpus"] == [2, 3]
    assert hotplugs(pool) == gone, "no CPU has gone offline or come online in Linux"
    pool.run_cell()
    pool.quesh("count")
    assert pool.machine.run("echo 1 >/sys/devices/system/cpu/cpu3/online").rc != 0, "a cell has it"
    pool.do("cell destroy quest")

    # another program may use a kept CPU between cells
    pool.sh("echo 1 >/sys/devices/system/cpu/cpu3/online")
    pool.run_cell()
    assert pool.online() == "0-1"
    pool.do("cell destroy quest")

    # they leave the monitor, and come under it again
    pool.do("disable")
    assert pool.online() == "0-1"
    pool.do("enable")
    pool.run_cell()
    assert "CPU 0 never leaves Linux" in pool.refused("pool --cpus 0-1")
    # a CPU that a cell has is Linux's after that cell
    assert "kept" not in pool.do("pool --cpus none") and pool.online() == "0-2"
    pool.do("cell destroy quest")
    assert pool.online() == pool.all_online

    # the module gives them back
    pool.do("pool --cpus 3")
    pool.do("disable")
    pool.sh("rmmod qv")
    assert pool.online() == pool.all_online
    pool.sh("modprobe qv")


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_kept_cpus_make_a_start_shorter_in_counted_time(pool: Product) -> None:
    """Each instruction takes 1 ns. The CPUs execute in turns of about 1 ms, so the stalls that are
    printed contain turns of other CPUs, and nothing is required of them. The program that measures
    stalls doubles all other times, so it runs in rounds of its own."""
    pool.do("pool --set 128M")
    pool.do("enable")
    pool.sh("taskset -apc 0 $PPID")  # the lab's agent: all other programs of this test are on CPU 0
    idle = stall(pool, lambda: pool.sh("sleep 2"))
    found = {}
    for name, cpus in (("CPUs of Linux", "none"), ("kept CPUs", "2-3")):
        pool.do(f"pool --cpus {cpus}")
        ms = starts(pool, 5)
        found[name] = statistics.median(ms), stall(pool, lambda: starts(pool, 5))
        print(f"{name}: ms of create and start {[round(one, 1) for one in ms]}, longest stall {found[name][1]} us")
    pool.sh("taskset -apc 0-3 $PPID")
    print(f"longest stall without a cell: {idle} us")
    assert found["kept CPUs"][0] < 20, found
    assert found["kept CPUs"][0] < found["CPUs of Linux"][0], found


@pytest.mark.slow
def test_pool_has_memory_that_linux_no_longer_has(pool: Product) -> None:
    """A cell gets 512 MiB from the pool while Linux has less than 400 MiB. A pool that cannot grow
    is as before."""
    big = pool.config("quest", 3)
    pool.sh(f"sed -i 's/^memory:.*/memory: 512M/' {big}")
    before = available(pool)
    pool.do("pool --set 514M")
    assert before - available(pool) > 400 * MIB
    # by default a tmpfs holds half of the memory at most, and more may be available
    pool.sh(f"mkdir -p {FULL}; mount -t tmpfs -o size=100% tmpfs {FULL}")
    pool.sh(f"head -c {available(pool) - 300 * MIB} /dev/zero >{FULL}/zeros", timeout=180)
    assert available(pool) < 400 * MIB
    said = pool.refused("pool --set 1026M")
    assert "the pool needs 512 MiB more, Linux can do without" in said
    assert free(pool) == 514 * MIB
    assert "is not a multiple" not in pool.do(f"config check {big}")
    pool.do(f"cell create {big} --start")
    assert free(pool) == 0
    pool.quesh("count")


@pytest.mark.slow
def test_pool_by_the_parameter_of_the_module(pool: Product) -> None:
    pool.sh("rmmod qv; modprobe qv pool=64")
    assert free(pool) == 64 * MIB
    pool.sh("rmmod qv; modprobe qv pool=1000000")
    assert free(pool) == 0
    assert "there is no pool: the pool is to have 1000000 MiB" in pool.do("log")
    pool.sh("dmesg -C")  # the warning is expected


@pytest.mark.slow
def test_memory_of_the_pool_is_scrubbed(pool: Product, tmp_path: Path) -> None:
    """Another cell gets the same pages and finds zeros in them."""
    pool.machine.put(scanner(tmp_path), "/run/scan.elf")
    first = pool.config("quest", 3)
    pool.sh(f"sed -i 's/^memory:.*/memory: 16M/' {first}")
    scan = described(pool, "quest", 3, "off")
    pool.sh(f"sed -i 's,^image:.*,image: /run/scan.elf,; s,^memory:.*,memory: 16M,' {scan}")
    pool.do("pool --set 18M")
    for file in (first, scan):
        pool.do(f"cell create {file} --start")
        assert free(pool) == 0
        until(lambda: pool.show()["heartbeat"] > 0 or pool.show()["state"] != "running", "a heartbeat")
        assert pool.show()["state"] == "running", pool.show()["failure"]
        pool.do("cell destroy quest")
