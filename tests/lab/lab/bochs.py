# SPDX-License-Identifier: GPL-2.0-only
"""Bochs, which emulates machines with VT-x: its configuration, its channel, its saved states."""

import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from . import cpio, enter, rfb, roots, snapshot, tar
from .bulk import SIZE, TO_MACHINE, Bulk
from .config import Config
from .emulator import Emulator
from .errors import LabError
from .images import Kernel

# Later models give a TSC frequency in CPUID leaf 15h that Bochs does not implement. The clock of
# Linux would be wrong by a factor of 35.
MODEL = "broadwell_ult"
TICKS = 50_000_000  # instructions per virtual second; the TSC counts instructions
# In Bochs MWAIT returns at once, so idle CPUs would cost as much as busy CPUs. HLT sleeps.
PARAMETERS = ["console=ttyS0,115200", "mitigations=off", "idle=halt", "sysrq_always_enabled"]
ENDS = [  # the last message of Bochs, and its meaning
    (re.compile(r"exception\(\): 3rd \((\d+)\) exception"), "it reset (a triple fault)"),
    (re.compile(r"ACPI control: soft power off"), "it switched itself off"),
]
RESET = re.compile(r"bx_pc_system_c::Reset\(HARDWARE\) called")
SAVED = "Do you want to continue?"  # Bochs asks this when a state is saved

# The plugins are in the order in which Bochs loads them when it boots, since a saved state
# identifies timers by the order of their creation.
HARDWARE = """\
plugin_ctrl: biosdev=true, iodebug=true, parallel=true, gameport=true, extfpuirq=true, speaker=true, serial=true, unmapped=true
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model={model}, count={cpus}:1:1, quantum=16, ips={ticks}, reset_on_triple_fault={reboots}
clock: sync=none
vga: extension=vbe, update_freq=5, realtime=0
memory: guest={memory}, host={memory}, block_size=512
pci: enabled=1, chipset=i440fx
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata1: enabled=1, ioaddr1=0x170, ioaddr2=0x370, irq=15
ata0-master: type=disk, path={root}, mode=volatile, journal={run}/root.redo
ata0-slave: type=disk, path={modules}, mode=volatile, journal={run}/modules.redo
ata1-master: type=cdrom, path={disc}, status=inserted
ata1-slave: type=disk, path={run}/slots, mode=flat
boot: cdrom
com1: enabled=1, mode=file, dev={console}
com2: enabled=1, mode=socket-client, dev=127.0.0.1:{port}
sound: driver=dummy
mouse: enabled=0
"""
PROGRAM = """\
display_library: rfb, options="timeout=0, no_gui_console"
log: {run}/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore, pc_system=report
"""
GRUB = """\
set timeout=0
menuentry linux {{
linux /vmlinuz {parameters}
initrd /initrd
}}
"""


class Bochs(Emulator):
    """A machine with VT-x that resumes from the saved state of an equal, booted machine."""

    name, tree = "Bochs", "bochs"
    wire = "/dev/ttyS1 1:0:1:0"
    memory = "1G"

    def __init__(self, config: Config, run: Path, console: Path) -> None:
        super().__init__(config, run, console)
        self.archive = tar.Archive
        self.saved = run  # the folder with the state that registers() saves
        self._listen = socket.create_server(("127.0.0.1", 0))  # Bochs connects to this socket

    @classmethod
    def check(cls, config: Config) -> None:
        for asked, what in ((config.iommu != "none", "IOMMU"), (config.icount, "icount (its time is always repeatable)"),
                            (config.cpu_flags, "CPU flags"), (config.qemu_args, "arguments of QEMU's")):
            if asked:
                raise LabError(f"the machine 'intel' has no {what}", "leave that out, or take the machine 'amd'")

    def prepare(self, kernel: Kernel, root: Path, lay: bytes) -> list[str]:
        made = snapshot.ensure(self.config, root, self.tree, f"{HARDWARE}-{GRUB}-{MODEL}-{TICKS}-{PARAMETERS}")
        state = self.run / "state"
        state.mkdir()
        for file in (made / "state").iterdir():
            (state / file.name).symlink_to(file)
        (state / "config").unlink()
        self._configure(state / "config", kernel, root, made / "boot.iso", b"")
        self.booted = lay
        return ["bochs-bin", "-q", "-r", str(state)]

    def _configure(self, place: Path, kernel: Kernel, root: Path, disc: Path, slots: bytes) -> None:
        disk = self.run / "slots"
        disk.write_bytes(slots)
        with open(disk, "r+b") as f:
            f.truncate(SIZE)
        self.bulk = Bulk(disk)
        memory = self.config.memory or self.memory
        place.write_text((HARDWARE + PROGRAM).format(
            model=MODEL, cpus=self.config.cpus, ticks=TICKS, reboots=int(self.config.reboots), run=self.run,
            memory=int(memory[:-1]) * (1024 if memory[-1] == "G" else 1), root=root, modules=kernel.disk,
            disc=disc, console=self.console, port=self._listen.getsockname()[1]))

    def connect(self, alive: Callable[[], bool], deadline: float) -> socket.socket:
        self._listen.settimeout(0.2)
        while True:
            try:
                return self._listen.accept()[0]
            except TimeoutError:
                if not alive() or time.monotonic() > deadline:
                    raise

    def _log(self) -> str:
        log = self.run / "bochs.log"
        return log.read_text(errors="replace") if log.exists() else ""

    @property
    def stopped(self) -> str:
        log = self._log()
        for pattern, meaning in ENDS:
            if pattern.search(log):
                return meaning
        if not self.config.reboots and len(RESET.findall(log)) > 1:  # the first reset is power-on
            return "it reset (a reboot)"
        panics = [line for line in log.splitlines() if ">>PANIC<<" in line]
        return f"Bochs gave up: {panics[-1]}" if panics else ""

    def _press(self, button: int) -> None:
        assert self.process
        rfb.press(rfb.window(self.process.pid), button)

    def reset(self) -> None:
        self._press(rfb.RESET)

    def registers(self) -> str:
        """Returns the main registers and the local APIC of each CPU, from a state that Bochs saves
        now. read_ram() then reads this state."""
        self.saved = Path(tempfile.mkdtemp(dir=self.run))
        self.save(self.saved)
        return "\n".join(registers((self.saved / f"cpu{n}").read_text(errors="replace"), f"CPU {n}")
                         for n in range(self.config.cpus))

    def ram(self) -> list[range]:
        return [range((self.saved / "memory.ram").stat().st_size)]

    def read_ram(self, address: int, size: int) -> bytes:
        with (self.saved / "memory.ram").open("rb") as file:
            file.seek(address)
            return file.read(size)

    def sysrq(self, key: str) -> None:
        assert self.process
        rfb.type_chord(rfb.window(self.process.pid), [rfb.ALT, rfb.PRINT, ord(key)])

    def save(self, place: Path, patience: float = 120.0) -> None:
        """Saves the whole state in a folder. The machine continues to run."""
        said = self.run / "emulator.log"
        before, deadline = said.read_text(errors="replace").count(SAVED), time.monotonic() + patience
        self._type(str(place))
        self._press(rfb.SAVE)
        while said.read_text(errors="replace").count(SAVED) == before:
            if time.monotonic() > deadline or not self.process or self.process.poll() is not None:
                raise LabError("Bochs did not save its state", f"it said: {said.read_text(errors='replace')[-500:]}")
            time.sleep(0.1)
        self._type("yes")

    def _type(self, line: str) -> None:
        """Types the answer to the next question of Bochs."""
        assert self.process and self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def close(self) -> None:
        self._listen.close()
        if self.bulk:
            self.bulk.close()


class BochsBoot(Bochs):
    """A machine with VT-x that boots from its CD."""

    def __init__(self, config: Config, run: Path, console: Path) -> None:
        super().__init__(config, run, console)
        self.archive = cpio.Archive

    def prepare(self, kernel: Kernel, root: Path, lay: bytes) -> list[str]:
        if len(lay) > TO_MACHINE:
            raise LabError(f"this run brings along {len(lay) >> 20} MiB", f"at most {TO_MACHINE >> 20} MiB fit")
        self._disc(kernel)
        self._configure(self.run / "bochsrc", kernel, root, self.run / "boot.iso", lay)
        return ["bochs-bin", "-q", "-f", str(self.run / "bochsrc")]

    def _disc(self, kernel: Kernel) -> None:
        """Makes the CD with GRUB, the kernel and the initramfs."""
        disc = self.run / "disc"
        (disc / "boot/grub").mkdir(parents=True)
        shutil.copy(kernel.vmlinuz, disc / "vmlinuz")
        shutil.copy(kernel.initramfs("ata"), disc / "initrd")
        (disc / "boot/grub/grub.cfg").write_text(
            GRUB.format(parameters=" ".join([*PARAMETERS, *self.config.boot_args])))
        enter.shell(roots.ensure(self.tree), 'grub-mkrescue -o "$1" "$2" 2>&1',
                    str(self.run / "boot.iso"), str(disc))

    def keep(self, place: Path) -> None:
        """Saves the state and the CD, which it needs."""
        state = place / "state"
        state.mkdir()
        self.save(state)
        shutil.copy(self.run / "boot.iso", place)


SHOWN = ("RIP", "RSP", "EFLAGS", "CR0", "CR2", "CR3", "CR4", "activity_state", "cpu_mode", "vmcsptr", "in_vmx", "in_vmx_guest")


APIC = re.compile(r"^\s*local_apic = \{\n(.*?)^\s*\}", re.MULTILINE | re.DOTALL)


def registers(saved: str, name: str) -> str:
    """Returns a line with the main registers of a CPU's saved state, and one with its local APIC."""
    # In reverse order, so that the first value of a register replaces later ones
    found = dict(re.findall(r"^\s*(\w+) = (\S+)$", saved, re.MULTILINE)[::-1])
    line = f"{name}: " + " ".join(f"{key}={found[key]}" for key in SHOWN if key in found)
    if apic := APIC.search(saved):
        line += "\n  local APIC: " + " ".join(re.sub(r" = ", "=", apic[1]).split())
    return line
