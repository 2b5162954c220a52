# SPDX-License-Identifier: GPL-2.0-only
"""A hostile Linux in a machine, and the decorator that makes a row of each attack by it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import arena
from lab.machine import Machine, Result
from product import module
from machines import vendor

HUGE = 2 << 20
OPEN_PART = 64 << 10
ONES = 2**64 - 1
WITNESS_PORT = 0x3FF
WITNESS = arena.WITNESS_CPU
# enum qv_mon_error
NAMES = re.findall(r"^\tX\((QV_ME_\w+),", (Path(__file__).resolve().parents[3] / "hypervisor/abi/errors.h").read_text(),
                   re.MULTILINE)
ERRORS = range(0x100, 0x100 + len(NAMES))
HSAVE, VM_CR, EFER, APIC_BASE, MICROCODE = 0xC0010117, 0xC0010114, 0xC0000080, 0x1B, 0x79


class Linux:
    """The hostile kernel and its programs."""
    def __init__(self, machine: Machine, mode: str = "machine") -> None:
        self.machine = machine
        self.arena = arena.arena(machine, mode)
        self.mixed = mode == "x2apic"
        self.x2apic = machine.config.iommu != "none"
        if machine.run("test -d /sys/module/qvfront").rc:
            machine.put(arena.front_module(machine.config.kernel), "/run/attack/qvfront.ko")
            machine.put(module("qvtouch", machine.config.kernel), "/run/attack/qvtouch.ko")
            assert machine.run(
                "insmod /run/attack/qvfront.ko && insmod /run/attack/qvtouch.ko").rc == 0

    def try_(self, name: str, *numbers: int, by: str = "qvfront", cpu: int = 0) -> Result:
        """Writes a parameter of a module on a CPU. Returns rc != 0 if the action faulted."""
        text = " ".join(f"{n:x}" for n in numbers)
        return self.machine.run(
            f"taskset -c {cpu} bash -c 'echo {text} >/sys/module/{by}/parameters/{name}'")

    def do(self, name: str, *numbers: int, **where: object) -> None:
        done = self.try_(name, *numbers, **where)
        assert done.rc == 0, f"{name} {numbers}: {done.out}"

    def value(self, of: str = "qvfront") -> int:
        return int(self.machine.run(f"cat /sys/module/{of}/parameters/value").out)

    def control(self, register: str, flip: int) -> int:
        """Flips bits of "cr0" or "cr4" for a moment and returns the value read then."""
        self.do(register, flip)
        return self.value()

    def each(self,
             name: str,
             calls: list[tuple[int, ...]],
             by: str = "qvfront") -> list[int | None]:
        """Repeats an action. Returns `value` after each action, or None if the action faulted.

        All actions are in one command that starts no program, since a program takes most of a
        second in Bochs.
        """
        lines = [" ".join(f"{n:x}" for n in call) for call in calls]
        done = self.machine.run(
            f"taskset -c 0 bash -c 'cd /sys/module/{by}/parameters; while read -r line; do "
            f"if echo \"$line\" >{name}; then read -r v <value; echo $v; else echo fault; fi 2>/dev/null; done'",
            stdin="".join(f"{line}\n" for line in lines).encode())
        answers = [None if word == "fault" else int(word) for word in done.out.split()]
        assert done.rc == 0 and len(answers) == len(calls), done.out
        return answers

    def hypercalls(self, calls: list[tuple[int, ...]]) -> list[int | None]:
        """Makes hypercalls of (number, a, b) and returns the answers."""
        return self.each("hypercall", [(*call, 0, 0)[:3] for call in calls])

    def refuses(self, calls: list[tuple[int, ...]]) -> None:
        answers = self.hypercalls(calls)
        taken = [(call, answer) for call, answer in zip(calls, answers, strict=True)
                 if answer not in ERRORS]
        assert not taken

    def hidden(self) -> list[int]:
        """Returns each 2 MiB of RAM that reads as ones: memory of the monitor and of the witness.

        The search is done only once, because after a dropped write Linux reads back the value that
        it wrote."""
        if not self.arena.hidden:
            found = self.machine.run("cat /sys/module/qvtouch/parameters/ones").out.split()
            self.arena.hidden = [int(a, 16) for a in found]
        assert len(self.arena.hidden) >= 5, "the front end's two, the witness's block, its memory"
        return self.arena.hidden

    def counted(self, deed: Callable[[], object], logged: str, at_least: int = 1) -> None:
        """Performs the action. Checks that it was counted as denied and that the log has a line
        about it."""
        before = self.arena.ask("neighbours")
        deed()
        after = self.arena.ask("neighbours")
        assert after["denied"] >= before["denied"] + at_least
        assert re.search(logged, after["log"]), after["log"]


@dataclass(frozen=True)
class Front:
    """One attack by Linux."""

    name: str
    what: str
    expected: str
    run: Callable[[Linux], None]
    # "xapic", "x2apic", "mixed", "direct", "iommu", "amd" or "intel": only there
    where: str = ""
    open: str = ""  # the reason why the outcome is recorded and not asserted
    kills: bool = False  # an open attack that is not run, since it would take a CPU permanently

    def on(self, machine: str) -> bool:
        """Whether the attack is run on that machine of MACHINES. The Intel machine is in xAPIC
        mode."""
        if "iommu" in (machine, self.where):
            return machine == self.where
        return self.where in ("", machine, vendor(machine)) or (self.where, machine) == ("xapic",
                                                                                         "intel")


    def on_mixed(self) -> bool:
        """Whether the attack is run against a cell in x2APIC mode while Linux is in xAPIC mode."""
        return self.where == "mixed" or (self.where in ("", "xapic")
                                         and self.name.startswith(MIXED))


    def on_direct(self) -> bool:
        """Whether the attack is run by a Linux with direct IPIs."""
        return self.where == "direct" or self.name in DIRECT


# Attacks that show what still holds with direct IPIs
DIRECT = ("front-msi-fixed", "front-apic-base", "front-ioapic-fixed")
# The attacks by interrupts
MIXED = ("front-icr-", "front-msi-", "front-ioapic-")
ROWS: list[Front] = []


def attack(name: str,
           what: str,
           expected: str,
           where: str = "",
           open: str = "",
           kills: bool = False) -> Callable:
    def add(run: Callable[[Linux], None]) -> Callable[[Linux], None]:
        ROWS.append(Front(name, what, expected, run, where, open, kills))
        return run

    return add
