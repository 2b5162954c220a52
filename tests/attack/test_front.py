# SPDX-License-Identifier: GPL-2.0-only
"""A hostile Linux: its kernel (by test modules) and its programs against the monitor and the cells.
Never fatal for Linux, counted, logged; the witness cell beats on. A row per attack."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import arena
from lab.machine import Machine, Result
from product import HYPERVISOR, module
from test_inmates import MACHINES, marks, vendor

HUGE = 2 << 20
OPEN_PART = 64 << 10
ONES = 2**64 - 1
WITNESS_PORT = 0x3FF
WITNESS = arena.WITNESS_CPU
ERRORS = range(0x100, 0x120)  # enum qv_mon_error
HSAVE, VM_CR, EFER, APIC_BASE, MICROCODE = 0xC0010117, 0xC0010114, 0xC0000080, 0x1B, 0x79


class Linux:
    """The hostile kernel and its programs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.arena = arena.arena(machine)
        self.x2apic = machine.config.iommu != "none"
        if machine.run("test -d /sys/module/qvfront").rc:
            machine.put(arena.front_module(machine.config.kernel), "/run/attack/qvfront.ko")
            machine.put(module("qvtouch", machine.config.kernel), "/run/attack/qvtouch.ko")
            assert machine.run("insmod /run/attack/qvfront.ko && insmod /run/attack/qvtouch.ko").rc == 0

    def try_(self, name: str, *numbers: int, by: str = "qvfront", cpu: int = 0) -> Result:
        """A deed of one of the modules, on a CPU; rc is not 0 when it faulted."""
        text = " ".join(f"{n:x}" for n in numbers)
        return self.machine.run(f"taskset -c {cpu} bash -c 'echo {text} >/sys/module/{by}/parameters/{name}'")

    def do(self, name: str, *numbers: int, **where: object) -> None:
        done = self.try_(name, *numbers, **where)
        assert done.rc == 0, f"{name} {numbers}: {done.out}"

    def value(self, of: str = "qvfront") -> int:
        return int(self.machine.run(f"cat /sys/module/{of}/parameters/value").out)

    def control(self, register: str, flip: int) -> int:
        """What "cr0" or "cr4" is with these bits turned; they are turned back at once."""
        self.do(register, flip)
        return self.value()

    def each(self, name: str, calls: list[tuple[int, ...]], by: str = "qvfront") -> list[int | None]:
        """A deed over and over: `value` after each, None where it faulted. One command for all, and no program in it: each costs
        much of a second in Bochs."""
        lines = [" ".join(f"{n:x}" for n in call) for call in calls]
        done = self.machine.run(f"taskset -c 0 bash -c 'cd /sys/module/{by}/parameters; while read -r line; do "
                                f"if echo \"$line\" >{name}; then read -r v <value; echo $v; else echo fault; fi 2>/dev/null; done'",
                                stdin="".join(f"{line}\n" for line in lines).encode())
        answers = [None if word == "fault" else int(word) for word in done.out.split()]
        assert done.rc == 0 and len(answers) == len(calls), done.out
        return answers

    def hypercalls(self, calls: list[tuple[int, ...]]) -> list[int | None]:
        """The answers to calls of (number, a, b)."""
        return self.each("hypercall", [(*call, 0, 0)[:3] for call in calls])

    def refuses(self, calls: list[tuple[int, ...]]) -> None:
        answers = self.hypercalls(calls)
        taken = [(call, answer) for call, answer in zip(calls, answers, strict=True) if answer not in ERRORS]
        assert not taken

    def hidden(self) -> list[int]:
        """Every 2 MiB of RAM that reads as ones: the monitor's and the witness's. Looked for once:
        what is written there is thrown away, but Linux reads that from then on."""
        if not self.arena.hidden:
            found = self.machine.run("cat /sys/module/qvtouch/parameters/ones").out.split()
            self.arena.hidden = [int(a, 16) for a in found]
        assert len(self.arena.hidden) >= 5, "the front end's two, the witness's block, its memory"
        return self.arena.hidden

    def counted(self, deed: Callable[[], object], logged: str, at_least: int = 1) -> None:
        """The deed is counted as denied, and the log has a line about it."""
        before = self.arena.ask("neighbours")
        deed()
        after = self.arena.ask("neighbours")
        assert after["denied"] >= before["denied"] + at_least
        assert re.search(logged, after["log"]), after["log"]


@dataclass(frozen=True)
class Front:
    """One attack of Linux."""

    name: str
    what: str
    expected: str
    run: Callable[[Linux], None]
    where: str = ""  # "xapic", "x2apic", "amd" or "intel": only there
    open: str = ""  # why what happens is recorded and not asserted
    kills: bool = False  # open, and so bad that it is not done

    def on(self, machine: str) -> bool:
        """Whether it is one on that machine of MACHINES; the one of Intel's is in xAPIC mode."""
        return self.where in ("", machine, vendor(machine)) or (self.where, machine) == ("xapic", "intel")


ROWS: list[Front] = []


def front(name: str, what: str, expected: str, where: str = "", open: str = "", kills: bool = False) -> Callable:
    def add(run: Callable[[Linux], None]) -> Callable[[Linux], None]:
        ROWS.append(Front(name, what, expected, run, where, open, kills))
        return run
    return add


# Memory

@front("front-read-hidden", "its kernel reads the monitor's and the witness's memory", "ones, or what it wrote itself; counted, logged")
def read_hidden(linux: Linux) -> None:
    def read() -> None:
        assert set(linux.each("peek", [(page + OPEN_PART,) for page in linux.hidden()], by="qvtouch")) <= {ONES, 0}
    linux.counted(read, "Linux (read|wrote) memory that is not its own at 0x", 0)


@front("front-write-hidden", "its kernel writes all over the monitor's and the witness's memory", "dropped, counted, logged")
def write_hidden(linux: Linux) -> None:
    hidden = linux.hidden()

    def write() -> None:
        fills = [fill for page in hidden for fill in ((page + OPEN_PART, 0x4000, 0), (page + HUGE - 0x1000, 0x1000, 0xCC))]
        assert None not in linux.each("fill", fills, by="qvtouch")
    linux.counted(write, "Linux wrote memory that is not its own at 0x")


@front("front-write-open", "its kernel writes the counters and the log that it may read", "#GP in its kernel, counted")
def write_open(linux: Linux) -> None:
    assert None in linux.each("fill", [(page, 8, 0) for page in linux.hidden()], by="qvtouch"), "the open parts"


KCORE = r"""
import struct
with open('/proc/kcore', 'rb', buffering=0) as f:
    head = f.read(64)
    at, size, count = struct.unpack_from('<Q', head, 32)[0], *struct.unpack_from('<HH', head, 54)
    f.seek(at)
    table = f.read(size * count)
    loads = [struct.unpack_from('<IIQQQQQQ', table, i * size) for i in range(count)]
    for page in %s:
        for kind, _, offset, va, pa, length, _, _ in loads:
            if kind == 1 and pa != 2**64 - 1 and pa <= page < pa + length:
                f.seek(offset + page - pa)
                try:
                    print(hex(page), set(f.read(4096)) - {0, 0xCC, 0xFF})
                except OSError as error:
                    print(hex(page), 'refused', error.errno)
"""


@front("front-kcore", "a program of root reads the monitor's and the witness's memory through /proc/kcore", "ones, what Linux wrote itself, or refused")
def kcore(linux: Linux) -> None:
    pages = [page + 0x80000 for page in linux.hidden()]
    said = linux.machine.run(["python3", "-c", KCORE % pages])
    assert said.rc == 0, said.out
    for line in said.out.splitlines():
        assert line.endswith("set()") or "refused" in line, line


@front("front-devmem", "a program of root reads and writes it through /dev/mem", "ones, dropped or refused")
def devmem(linux: Linux) -> None:
    page = linux.hidden()[-1] + 0x80000
    read = linux.machine.run(f"dd if=/dev/mem bs=4096 count=1 skip={page >> 12} status=none | od -An -v -tx1 | tr -d ' \\n'")
    assert not read.out.strip("f\n ") or "not permitted" in read.out or not read.out.strip("0\n "), read.out[:200]
    linux.machine.run(f"dd if=/dev/zero of=/dev/mem bs=4096 count=1 seek={page >> 12} conv=notrunc status=none")


CONSOLE = r"""
import ctypes, mmap, os, signal
fd = os.open('/dev/qv-cell/witness/console', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def map(length, prot, offset):
    at = libc.mmap(None, ctypes.c_size_t(length), prot, 1, fd, ctypes.c_long(offset))
    return None if at == ctypes.c_void_p(-1).value else at
assert map(0x8000, 3, 0) is None, 'mapped writable'
assert libc.mprotect(ctypes.c_void_p(map(0x8000, 1, 0)), ctypes.c_size_t(0x8000), 3) != 0, 'made writable'
assert ctypes.string_at(map(0x8000, 1, 0) + 0x1000, 0x1000) == bytes(0x1000), 'the info page is shown'
for length, offset, touched in ((0x9000, 0, 0x8000), (0x200000, 0, 0x1ff000), (0x1000, 0x8000, 0), (0x1000, 0x7ffffffff000, 0)):
    at = map(length, 1, offset)
    child = os.fork()
    if child == 0:
        os._exit(0 if at is None else ctypes.string_at(at + touched, 1)[0] & 0 | 1)
    _, status = os.waitpid(child, 0)
    assert status == 0 or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS, (hex(offset + touched), status)
print('refused')
"""


@front("front-console-map", "a program maps the witness's console writable, or beyond its end", "refused, or SIGBUS for it")
def console_map(linux: Linux) -> None:
    said = linux.machine.run(["python3", "-c", CONSOLE])
    assert said.rc == 0 and said.out == "refused\n", said.out


@front("front-keys-flood", "a program writes a megabyte of garbage into the witness's keyboard", "taken or full; the witness beats")
def keys_flood(linux: Linux) -> None:
    linux.machine.run("timeout 3 dd if=/dev/urandom of=/dev/qv-cell/witness/console bs=64k count=16 status=none")


# The monitor's calls

@front("front-hypercall-numbers", "its kernel makes hypercalls that do not exist", "an error code each")
def hypercall_numbers(linux: Linux) -> None:
    linux.refuses([(number, 1, 1) for number in (0x20, 0x40, 0xFF, 0x100, 0xFFFF, 1 << 31, 1 << 32, 1 << 63, ONES)])


@front("front-hypercall-instances", "its kernel starts, stops, destroys and rings cells that do not exist", "an error code each")
def hypercall_instances(linux: Linux) -> None:
    linux.refuses([(number, instance) for number in (3, 4, 5, 6, 8)
                   for instance in (0, 2, 15, 16, 17, 255, 1 << 31, 1 << 32, (1 << 32) + 1, 1 << 63, ONES)])


@front("front-hypercall-pointers", "its kernel has a cell created from requests in the monitor, in a cell, in holes, across ends",
       "an error code each")
def hypercall_pointers(linux: Linux) -> None:
    hidden = linux.hidden()
    linux.refuses([(2, pa) for pa in (*hidden, hidden[0] + HUGE - 8, 1, 7, 0, 0xFEE00000, 0xFEC00000, 0xA0000,
                                      1 << 40, 1 << 52, 1 << 63, ONES, ONES - 7)])


@front("front-hypercall-leave", "a CPU of its leaves the monitor while a cell lives", "an error code")
def hypercall_leave(linux: Linux) -> None:
    linux.refuses([(1,)])


@front("front-hypercall-start-running", "its kernel starts the witness, which runs", "an error code")
def hypercall_start(linux: Linux) -> None:
    linux.refuses([(3, 1)])


@front("front-doorbell-flood", "its kernel rings the witness's doorbell as fast as it can",
       "10 bells a millisecond, as the witness's file has it; the others get an error code, and no line in the log")
def doorbell_flood(linux: Linux) -> None:
    linux.do("flood", 6, 1, 5000)
    rung, micros = linux.value(), int(linux.machine.run("cat /sys/module/qvfront/parameters/micros").out)
    assert 1 <= rung <= 10 * micros / 1000 * 1.01 + 1, (rung, micros)
    assert rung < 5000, "it was fast enough to be held back"
    assert "hypercall 6 refused" not in linux.arena.ask("neighbours")["log"]


@front("front-look", "its kernel has the monitor show the witness's registers, in many ways", "an error code each: its file does not say `debug: true`")
def look(linux: Linux) -> None:
    linux.refuses([(11, 1 | cpu << 8) for cpu in (0, 1, 255, 1 << 32, ONES >> 8)])
    linux.refuses([(11, instance) for instance in (0, 2, 15, 16, 255)])


@front("front-hypercall-user", "a program makes hypercalls", "#UD for it")
def hypercall_user(linux: Linux) -> None:
    linux.machine.put(arena.lab_program("hypercall"), "/run/attack/hypercall")
    assert linux.machine.run("/run/attack/hypercall").out == "0 done\n"


# Registers and instructions

# What has no name on the other vendor's processors is tried on its own only: where="amd" or "intel"

@front("front-msr-hsave", "its kernel moves the place where the processor keeps the monitor's state", "dropped, counted, logged", where="amd")
def msr_hsave(linux: Linux) -> None:
    linux.counted(lambda: linux.do("wrmsr", HSAVE, 0x1000), f"MSR {HSAVE:#x} refused")
    linux.do("rdmsr", HSAVE)
    assert linux.value() == 0


@front("front-msr-microcode", "its kernel loads microcode under the cells", "dropped, counted, logged", where="intel")
def msr_microcode(linux: Linux) -> None:
    linux.counted(lambda: linux.do("wrmsr", MICROCODE, 0x100000), f"MSR {MICROCODE:#x} refused")


@front("front-msr-vm-cr", "its kernel locks SVM and redirects INITs", "dropped, counted, logged", where="amd")
def msr_vm_cr(linux: Linux) -> None:
    linux.counted(lambda: linux.do("wrmsr", VM_CR, 0x1A), f"MSR {VM_CR:#x} refused")


@front("front-msr-efer", "its kernel switches SVM off under the monitor, sets reserved bits, and bits that some processors lack", "without effect, or #GP")
def msr_efer(linux: Linux) -> None:
    linux.do("rdmsr", EFER)
    efer = linux.value()
    linux.do("wrmsr", EFER, efer & ~0x1000)
    assert linux.try_("wrmsr", EFER, efer | 1 << 40).rc != 0
    assert linux.try_("wrmsr", EFER, efer & ~0x100).rc != 0, "not out of long mode"
    for bit in (13, 14, 15, 17, 18, 20, 21):  # VMRUN refuses a guest with one that the processor lacks
        linux.try_("wrmsr", EFER, efer | 1 << bit)
        linux.do("wrmsr", EFER, efer)
    linux.do("rdmsr", EFER)
    assert linux.value() == efer


@front("front-apic-base", "its kernel moves its APIC page over other memory, and changes its mode", "without effect, counted, logged")
def apic_base(linux: Linux) -> None:
    linux.do("rdmsr", APIC_BASE)
    base = linux.value()
    for flip in (0x1000, 0x800, 0x400, 0x40000000):
        linux.counted(lambda flip=flip: linux.do("wrmsr", APIC_BASE, base ^ flip), f"MSR {APIC_BASE:#x} refused")
    linux.do("rdmsr", APIC_BASE)
    assert linux.value() == base


# What others must keep, register by register: written as it is with these bits turned, it reads as before
KEPT = {
    "": {"mtrr": (0x200, 0x6), "mtrr-fixed": (0x250, 0x6), "cache-mask": (0xC90, 0x1)},
    "amd": {"syscfg": (0xC0010010, 0x40000), "hwcr": (0xC0010015, 0x1), "iorr": (0xC0010016, 0x18), "tom": (0xC001001A, 0x800000),
            "tom2": (0xC001001D, 0x800000), "smm-mask": (0xC0010113, 0x3), "smi-on-io": (0xC0010050, 0x1)},
    "intel": {"feature-control": (0x3A, 0x4), "no-nx": (0x1A0, 1 << 34), "smm-monitor": (0x9B, 0x1), "smrr": (0x1F2, 0x6),
              "trace-output": (0x560, 0x40000000), "trace": (0x570, 0x1), "feedback-table": (0x17D0, 0x40000001), "user-interrupts": (0x98A, 0x1),
              "pebs-base": (0x3F4, 0x40000000), "power-limit": (0x610, 0x1), "voltage": (0x150, 0x1100000000), "turbo": (0x1AD, 0x1),
              "uncore": (0x620, 0x1), "encryption": (0x982, 0x2), "debug-interface": (0xC80, 0x1)},
}


def add_kept(kind: str, msr: int, bits: int, where: str) -> None:
    @front(f"front-msr-{kind}", f"its kernel changes what the whole machine shares: {kind} ({msr:#x})", "without effect, counted, or #GP", where)
    def write(linux: Linux) -> None:
        if linux.try_("rdmsr", msr).rc:
            return  # this processor has none, and says so
        before = linux.value()
        linux.try_("wrmsr", msr, before ^ bits)
        linux.do("rdmsr", msr)
        assert linux.value() == before


# The same of registers that the emulators do not have: that it was refused shows in the counters and the log
SHARED = {
    "": {"tsc": (0x10, 1 << 40)},
    "amd": {"cpuid": (0xC0011004, 1 << 23), "cpuid-more": (0xC0011005, 1 << 2), "smm-key": (0xC0010119, 0x1), "table-walker": (0xC0011023, 1 << 49),
            "load-store": (0xC0011020, 1 << 28)},
    "intel": {"tsc-adjust": (0x3B, 1 << 40), "trace-hub": (0x80, 0x40000000), "uncore-prmrr": (0x2F4, 0x40000000)},
}


def add_shared(kind: str, msr: int, bits: int, where: str) -> None:
    @front(f"front-msr-{kind}", f"its kernel changes what others use too: {kind} ({msr:#x})", "without effect, counted and logged, or #GP", where)
    def write(linux: Linux) -> None:
        if linux.try_("rdmsr", msr).rc:
            return  # this processor has none, and says so
        linux.counted(lambda: linux.do("wrmsr", msr, linux.value() ^ bits), f"MSR {msr:#x} refused")


for where_, registers in SHARED.items():
    for kind_, (msr_, bits_) in registers.items():
        add_shared(kind_, msr_, bits_, where_)

for where_, registers in KEPT.items():
    for kind_, (msr_, bits_) in registers.items():
        add_kept(kind_, msr_, bits_, where_)


# On AMD's the processor itself says #GP; QEMU lets reserved bits in, and refuses the whole guest at its next entry
@front("front-cr4-vmxe", "its kernel enables VT-x in CR4, for a hypervisor of its own", "#GP, and CR4 is as before", where="intel")
def cr4_vmxe(linux: Linux) -> None:
    before = linux.control("cr4", 0)
    assert linux.try_("cr4", 1 << 13).rc != 0
    assert linux.control("cr4", 0) == before and not before & 1 << 13


@front("front-cr0-ne", "its kernel wants the FPU's errors by a pin of the chipset", "it reads what it wrote")
def cr0_ne(linux: Linux) -> None:
    before = linux.control("cr0", 0)
    assert linux.control("cr0", 1 << 5) == before ^ 1 << 5
    assert linux.control("cr0", 0) == before


@front("front-instructions", "its kernel executes a hypervisor's instructions, of both vendors", "#UD")
def instructions(linux: Linux) -> None:
    done = linux.machine.run(f"for i in {' '.join(HYPERVISOR)}; do echo $i >/sys/module/qvtouch/parameters/instruction && echo done: $i; done; true")
    assert "done:" not in done.out and done.out.count("Bad address") == len(HYPERVISOR), done.out


@front("front-invd", "its kernel throws away what caches hold", "nothing is lost")
def invd(linux: Linux) -> None:
    for _ in range(10):
        assert linux.machine.run("echo invd >/sys/module/qvtouch/parameters/instruction").rc == 0


# Power: what takes the machine, or a part of it, away from under the monitor

SLEEPS = (0x2400, 0x2800, 0x3C00)  # SLP_EN with every type but the emulators' S5, which is 0


@front("front-sleep", "its kernel puts the machine to sleep (S3, S4) by the PM1 control register, in each size of write", "dropped, counted, logged; "
       "OUTS: #GP")
def sleep(linux: Linux) -> None:
    pm1 = int(linux.machine.run("od -An -tu4 -j64 -N4 /sys/firmware/acpi/tables/FACP").out)
    linux.do("in", pm1, 2)
    before = linux.value()
    writes = [write for word in SLEEPS for write in ((pm1, 2, word), (pm1 + 1, 1, word >> 8), (pm1, 4, word), (pm1 - 1, 4, word << 8))]
    linux.counted(lambda: linux.each("out", writes), r"put the machine to sleep by port", len(writes))
    assert linux.try_("outs", pm1, SLEEPS[0]).rc != 0
    linux.do("in", pm1, 2)
    assert linux.value() == before


# The ports of QEMU's ICH9: docs/specs/acpi_cpu_hotplug, acpi_pci_hotplug
HOTPLUG = {"cpu": ((0xCD8, 4, WITNESS), (0xCDC, 1, 0x8), (0xCDC, 4, 0x18), (0xCDB, 2, 0x800)), "pci": ((0xCD0, 4, 0), (0xCC8, 4, 1 << 2), (0xCC9, 1, ONES & 0xFF))}


def add_eject(kind: str, writes: tuple[tuple[int, int, int], ...]) -> None:
    @front(f"front-eject-{kind}", f"its kernel ejects what others use by the board's hotplug registers: {kind}", "dropped, counted, logged", where="amd")
    def eject(linux: Linux) -> None:
        linux.counted(lambda: linux.each("out", list(writes)), "tried to eject hardware by port", len(writes) - 1)


for kind_, writes_ in HOTPLUG.items():
    add_eject(kind_, writes_)


@front("front-fw-cfg", "its kernel has QEMU's board write the witness's memory by DMA (fw_cfg)", "dropped, counted, logged", where="amd")
def fw_cfg(linux: Linux) -> None:
    linux.counted(lambda: linux.do("fwcfg", linux.hidden()[-1] + HUGE - 0x1000), "have the board write memory by port 0x514", 2)
    assert linux.value() == 10, "the board has taken the command"


@front("front-smi-enable", "its kernel has the chipset raise SMIs again and again (ICH9, SMI_EN)", "dropped, counted, logged", where="amd")
def smi_enable(linux: Linux) -> None:
    linux.do("in", 0x630, 4)
    before = linux.value()
    writes = [(0x630, 4, before | 1 << 14), (0x631, 1, before >> 8 & 0xFF | 0x40), (0x630, 2, before & 0xFFFF | 1 << 6)]
    linux.counted(lambda: linux.each("out", writes), "enable more system management interrupts", len(writes))
    linux.do("out", 0x630, 4, before)  # as it was: passes
    linux.do("in", 0x630, 4)
    assert linux.value() == before


@front("front-cell-port", "its kernel reads and writes a port of the witness's list", "ones, dropped, counted, logged")
def cell_port(linux: Linux) -> None:
    said = f"Linux used port {WITNESS_PORT:#x}, which is not its own"
    linux.counted(lambda: linux.do("in", WITNESS_PORT, 1), said)
    assert linux.value() == 0xFF
    linux.counted(lambda: linux.do("out", WITNESS_PORT, 1, 0x5A), said)


# The chipset: where config space lies (Q35, by 0xCFC and by itself), whether SMRAM is open (i440FX), where ACPI's registers are
CHIPSET = {"amd": ((0x00, 0x60, 1 << 28), (0xF8, 0x40, 0x1000)), "intel": ((0x00, 0x70, 1 << 22), (0x0B, 0x40, 0x1000))}


def config_refused(bdf: int, register: int) -> str:
    return rf"PCI config access \(function and register {bdf << 12 | register:#x}\) refused"


@front("front-chipset", "its kernel moves config space or opens SMRAM, and moves ACPI's registers, by 0xCF8 and 0xCFC", "dropped, counted, logged")
def chipset(linux: Linux) -> None:
    for bdf, register, flip in CHIPSET["intel" if linux.machine.config.machine == "intel" else "amd"]:
        def access(deed: str, *value: int, at: int = 1 << 31 | bdf << 8 | register) -> None:
            linux.do("out", 0xCF8, 4, at)
            linux.do(deed, 0xCFC, 4, *value)
        access("in")
        before = linux.value()
        assert before not in (0, 0xFFFFFFFF)
        linux.counted(lambda write=access, value=before ^ flip: write("out", value), config_refused(bdf, register))
        access("in")
        assert linux.value() == before


@front("front-chipset-ecam", "its kernel does the same by memory-mapped config space", "dropped, counted, logged", where="amd")
def chipset_ecam(linux: Linux) -> None:
    base = int(linux.machine.run("od -An -tu8 -j44 -N8 /sys/firmware/acpi/tables/MCFG").out)
    for bdf, register, flip in CHIPSET["amd"]:
        linux.do("out", 0xCF8, 4, 1 << 31 | bdf << 8 | register)
        linux.do("in", 0xCFC, 4)
        before = linux.value()
        linux.counted(lambda at=base + (bdf << 12) + register, value=before ^ flip: linux.do("store", at, value), config_refused(bdf, register))
        linux.do("in", 0xCFC, 4)
        assert linux.value() == before


# Interrupts to the witness

LOWS = {"fixed": 0x4040, "lowest": 0x4140, "smi": 0x4200, "reserved": 0x4340, "nmi": 0x4400, "init": 0x4500,
        "init-deassert": 0x8500, "sipi": 0x4610, "extint": 0x4700}


def add_interrupt(kind: str, low: int) -> None:
    @front(f"front-icr-{kind}", f"its kernel sends the witness's CPU an interrupt: {kind}", "dropped, counted, logged")
    def send(linux: Linux) -> None:
        linux.counted(lambda: linux.do("icr", WITNESS, low, by="qvtouch"),
                      rf"IPI {low:#x} to a CPU outside the cell dropped \(destination 0x2\)")


for kind_, low_ in LOWS.items():
    add_interrupt(kind_, low_)


@front("front-icr-logical", "its kernel names the witness's CPU logically, in each delivery mode", "dropped")
def icr_logical(linux: Linux) -> None:
    for low in LOWS.values():
        linux.do("icr", 1 << WITNESS, low | 0x800, by="qvtouch")


@front("front-icr-nobody", "its kernel names CPUs that do not exist", "dropped, logged")
def icr_nobody(linux: Linux) -> None:
    for dest in (0x40, 0x7F, 0xFE):
        linux.do("icr", dest, 0x4500, by="qvtouch")


@front("front-icr-in-xapic", "its kernel uses x2APIC's register in xAPIC mode", "#GP, or dropped", where="xapic")
def icr_x2_in_x1(linux: Linux) -> None:
    linux.try_("wrmsr", 0x830, WITNESS << 32 | 0x4500)


@front("front-xapic-in-x2", "its kernel writes the xAPIC page in x2APIC mode", "without effect", where="x2apic")
def xapic_in_x2(linux: Linux) -> None:
    linux.try_("store", 0xFEE00310, WITNESS << 24)
    linux.try_("store", 0xFEE00300, 0x4500)


MSI = {"fixed": 0x40, "nmi": 0x400, "init": 0x500, "smi": 0x200}


def add_msi(kind: str, data: int) -> None:
    @front(f"front-msi-{kind}", f"its kernel stores what a device would, as a message to the witness's CPU: {kind}",
           "dropped; the first one counted and logged")
    def send(linux: Linux) -> None:
        def store() -> None:
            linux.try_("store", 0xFEE00000 | WITNESS << 12, data)
        if linux.arena.messages:
            store()
        else:
            linux.counted(store, "memory that is not its own at 0xfee02000")
        linux.arena.messages += 1


for kind_, data_ in MSI.items():
    add_msi(kind_, data_)


IOAPIC = {"fixed": 0x0040, "nmi": 0x0400, "init": 0x0500, "smi": 0x0200, "logical": 0x0840}


def add_ioapic(kind: str, low: int, high: int = 0) -> None:
    @front(f"front-ioapic-{kind}", f"its kernel aims an IOAPIC pin at the witness's CPU: {kind}", "masked or dropped, counted",
           where="xapic")
    def aim(linux: Linux) -> None:
        dest = 1 << WITNESS if low & 0x800 else WITNESS
        linux.do("ioapic", 0x14, low, dest << 24 | high)
        entry = linux.value()
        assert entry & 1 << 16 or entry >> 56 != dest, f"entry {entry:#x}"


for kind_, low_ in IOAPIC.items():
    add_ioapic(kind_, low_)
    add_ioapic(f"{kind_}-remapped", low_, 1 << 16)  # of another format, unknown here


@front("front-ioapic-unlisted", "its kernel writes where the chipset may have an IOAPIC that ACPI does not list", "dropped, counted, logged")
def ioapic_unlisted(linux: Linux) -> None:
    linux.counted(lambda: linux.do("store", 0xFEC10000, 0x14), "memory that is not its own at 0xfec10000")


# Management by those who may not, and of what is taken

@front("front-not-root", "a program without privileges opens /dev/qv and the witness's console", "refused")
def not_root(linux: Linux) -> None:
    for path in ("/dev/qv", "/dev/qv-cell/witness/console"):
        for how in ("<", ">"):
            done = linux.machine.run(f"setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'exec 3{how}{path}'")
            assert done.rc != 0 and "Permission denied" in done.out, done.out


@front("front-online", "root takes the witness's CPU online", "refused")
def online(linux: Linux) -> None:
    done = linux.machine.run(f"echo 1 >/sys/devices/system/cpu/cpu{WITNESS}/online")
    assert done.rc != 0 and "not permitted" in done.out, done.out


@front("front-rmmod", "root unloads the driver", "refused")
def rmmod(linux: Linux) -> None:
    assert linux.machine.run("rmmod qv").rc != 0


@front("front-disable", "root switches QV off while a cell lives", "refused, with the reason")
def disable(linux: Linux) -> None:
    done = linux.machine.run("qvctl disable")
    assert done.rc == 1 and "remedy: " in done.out, done.out


@front("front-ioctl-garbage", "root calls the driver with numbers and structures of garbage", "refused")
def ioctl_garbage(linux: Linux) -> None:
    said = linux.machine.run(["python3", "-c", r"""
import fcntl, os, random
random.seed(7)
fd = os.open('/dev/qv', os.O_RDWR)
bad = 0
for n in list(range(0x40)) * 4:
    for size in (0, 8, 512, 2048, 8192):
        number = 3 << 30 | (size & 0x3fff) << 16 | ord('Q') << 8 | n
        if n in (0x02, 0x03, 0x11, 0x12, 0x13):
            continue
        data = bytearray(random.randbytes(max(size, 8)))
        try:
            fcntl.ioctl(fd, number, data, True)
        except OSError as error:
            bad += 1
print('refused', bad)
"""], timeout=120)
    assert said.rc == 0 and int(said.out.split()[1]) > 1000, said.out


def parameters() -> list:
    return [pytest.param(row, marks=marks(where, row.name), id=f"{row.name}-{where}")
            for where in MACHINES for row in ROWS if row.on(where)]


@pytest.mark.parametrize("row", parameters())
def test_front(machine: Machine, row: Front, record_property) -> None:
    record_property("attack", row.name)
    record_property("open", bool(row.open))
    if row.kills:
        pytest.skip(f"open: {row.open}")
    linux = Linux(machine)
    linux.arena.ask("neighbours")
    outcome = "as expected"
    try:
        row.run(linux)
    except AssertionError as error:
        outcome = str(error).splitlines()[0][:200]
        if not row.open:
            raise
    finally:
        record_property("outcome", outcome)
    linux.arena.ask("neighbours")


@pytest.mark.follows
@pytest.mark.parametrize("where", [pytest.param(name, marks=pytest.mark.machine(**settings), id=name)
                                   for name, settings in MACHINES.items()])
def test_modules_go(machine: Machine, where: str) -> None:
    done = machine.run("rmmod qvfront qvtouch; test ! -d /sys/module/qvfront")
    assert done.rc == 0, done.out
