# SPDX-License-Identifier: GPL-2.0-only
"""The settings of a machine."""

from dataclasses import dataclass, field

from . import speed
from .errors import LabError

IOMMUS = ("none", "intel", "amd", "intel-scalable", "intel-first-stage")


@dataclass(frozen=True)
class Config:
    """The settings that a test or a command line requests."""

    machine: str = "amd"   # vendor of the processor: amd (in QEMU) or intel (in Bochs)
    kernel: str = "6.12"
    userland: str = "guest"  # the tree that is the root file system, such as kernel-dkms
    cpus: int = 4
    memory: str = ""       # size of RAM, e.g. 512M; empty: the default of the emulator
    iommu: str = "none"
    icount: bool = False   # the clock counts instructions
    shift: int = 0         # with icount, an instruction takes 2**shift ns
    # a reset restarts the machine, which keeps its memory; otherwise a reset ends the machine
    reboots: bool = False
    cpu_flags: str = ""
    boot_args: tuple[str, ...] = ()
    qemu_args: tuple[str, ...] = field(default=())

    @property
    def counted_x2apic(self) -> bool:
        """Whether a machine with icount has x2APIC mode, for Linux or for cells alone. QEMU then
        aborts with "Bad icount read", unless it runs instruction by instruction, which is slow.
        So other machines with icount have no x2APIC mode."""
        return self.icount and (self.iommu != "none" or "+x2apic" in self.cpu_flags.split(","))

    @property
    def slowness(self) -> int:
        """Factor by which everything takes longer than usual on this machine."""
        if self.machine.startswith("intel"):
            return 5
        if not self.icount:
            return max(1, self.cpus // 16)
        return 20 if self.counted_x2apic else 3

    @property
    def patience(self) -> float:
        """Factor by which a test's timeouts are multiplied on this machine and this host, now."""
        return (5 if self.machine.startswith("intel") else 1) * speed.factor()

    def check(self) -> None:
        if self.iommu not in IOMMUS:
            raise LabError(f"there is no IOMMU {self.iommu!r}", f"choose one of {', '.join(IOMMUS)}")
        if not 0 <= self.shift <= 10 or (self.shift and not self.icount):
            raise LabError(f"there is no clock with shift {self.shift}", "choose 0 to 10, with icount")
        if not 1 <= self.cpus <= 255:
            raise LabError(f"{self.cpus} CPUs cannot be", "choose 1 to 255")
