# SPDX-License-Identifier: GPL-2.0-only
"""The CPUs of a hostile Linux race: one creates and destroys cells, another acts at random times.

The module is tests/lab/modules/qvrace. The seed is printed with the result, and QV_SEED=N in the
environment repeats it."""

import os
import random
import re

import pytest

from lab.machine import Machine
from product import MACHINES, Product, module
from test_lost import CONTROL, EJECT, SELECT, put

PARAMETERS = "/sys/module/qvrace/parameters"
LIVES, KICKS = 200, 1000  # the least number of lives by the runner, and of acts by the kicker
MANY_KICKS = 100_000
NO_INSTANCE = 0x103  # the error QV_ME_INSTANCE


class Race:
    """The module qvrace in a machine: a witness on the last CPU, short-lived cells on CPUs 2 and up."""

    def __init__(self, qv: Product) -> None:
        self.qv = qv
        self.cpus = range(2, min(qv.cpus - 1, 5))  # an array of four in the module
        self.seed = int(os.environ.get("QV_SEED", random.randrange(1, 1 << 31)))
        for name in ("qvtouch", "qvrace"):
            qv.machine.put(module(name, qv.machine.config.kernel), f"/run/{name}.ko")
        qv.do("enable")
        qv.sh("insmod /run/qvtouch.ko")
        block = qv.sh("head -n1 /sys/module/qvtouch/parameters/ones").strip()
        qv.sh("rmmod qvtouch")
        qv.run_cell("quest", qv.cpus - 1)
        qv.quesh("count")
        self.online(False)
        qv.sh(f"insmod /run/qvrace.ko block=0x{block} cpus={','.join(map(str, self.cpus))}")

    def online(self, state: bool) -> None:
        for cpu in self.cpus:
            self.qv.sh(f"echo {state:d} >/sys/devices/system/cpu/cpu{cpu}/online")

    def do(self, deed: str, *words: int, timeout: float = 300) -> None:
        self.qv.sh(f"taskset -c 0 bash -c 'echo {' '.join(map(str, words)) or 1} >{PARAMETERS}/{deed}'", timeout)

    def number(self, name: str) -> list[int]:
        return [int(word) for word in self.qv.sh(f"cat {PARAMETERS}/{name}").split(",")]

    def nothing_wrong(self) -> dict[str, int]:
        """Returns the counts of the module by their names."""
        said = f"QV_SEED={self.seed}: " + self.qv.sh(f"cat {PARAMETERS}/result")
        print(said)
        assert said.endswith("; nothing wrong\n"), said
        return {words: int(number) for number, words in re.findall(r"(\d+) ([a-z ]+)[,;]", said)}

    def all_as_before(self) -> None:
        """Checks that Linux has its CPUs back and that the witness still counts."""
        self.qv.sh("rmmod qvrace")
        self.online(True)
        self.qv.assert_counting()
        assert self.qv.show()["failures"] == 0
        assert self.qv.online() == f"0-{self.qv.cpus - 2}"
        assert all(self.qv.runs_on(cpu) for cpu in range(self.qv.cpus - 1))


@pytest.fixture
def race(qv: Product) -> Race:
    return Race(qv)


def on(*names: str, long: bool = False) -> list:
    """Runs the test on each of these machines of MACHINES."""
    return [pytest.param(MANY_KICKS if long else KICKS, id=f"{name}{'-long' if long else ''}",
                         marks=[pytest.mark.machine(**MACHINES[name]), pytest.mark.slow])
            for name in names]


@pytest.mark.parametrize("kicks", [*on("xapic"), *on("xapic", "x2apic-8", "intel", long=True)])
def test_races_break_nothing(race: Race, kicks: int) -> None:
    race.do("run", race.seed, LIVES, kicks, timeout=600 if kicks == KICKS else 1800)
    counted = race.nothing_wrong()
    assert counted["kicks"] >= kicks and counted["lives"] - counted["refused"] > LIVES / 2
    race.all_as_before()


@pytest.mark.parametrize("kicks", [*on("xapic"), *on("x2apic-8", long=True)])
def test_races_with_driver_break_nothing(race: Race, kicks: int) -> None:
    """The same kicks while CPUs leave Linux and return. Linux can still send INIT and SIPI."""
    race.online(True)
    race.do("kick", race.seed)
    path = race.qv.config("quest2", 2)
    for _ in range(5 if kicks == KICKS else 50):
        race.qv.do(f"cell create {path} --start")
        assert race.qv.quesh("echo alive", "quest2") == "alive\n"
        race.qv.do("cell destroy quest2")
    race.do("kick", 0)
    assert race.nothing_wrong()["kicks"] >= KICKS
    race.all_as_before()


@pytest.mark.machine(fresh=True)
@pytest.mark.slow
def test_forged_block_is_not_read(machine: Machine) -> None:
    """A CPU of Linux is ejected before a cell is destroyed, so this CPU does not answer a flush.

    The monitor must not read data that Linux then writes into the cell's former block. The guards
    are off (test_hooks=8), so that Linux can eject the CPU."""
    qv = Product(machine)
    qv.begin()
    qv.sh("modprobe qv test_hooks=8")
    race = Race(qv)
    race.do("begin")
    qv.sh("echo 0 >/sys/devices/system/cpu/cpu1/online")
    put(machine, SELECT, "01")
    put(machine, CONTROL, EJECT)
    race.do("end")
    assert "CPU with apic id 1 did not answer" in qv.do("log")
    assert race.number("answers") == [0, NO_INSTANCE], "all is given back; there is no such cell"
    assert race.number("damage") == [0]
    qv.assert_counting()
    qv.check_kernel_log()
