# SPDX-License-Identifier: GPL-2.0-only
"""Everything that tells one machine from another."""

from dataclasses import dataclass, field

from .errors import LabError

IOMMUS = ("none", "intel", "amd")


@dataclass(frozen=True)
class Config:
    """A machine as a test or a command line asks for it."""

    machine: str = "amd"   # whose processor: amd (in QEMU) or intel (in Bochs)
    kernel: str = "6.12"
    cpus: int = 4
    memory: str = ""       # e.g. 512M; empty: what such a machine usually has
    iommu: str = "none"
    icount: bool = False
    reboots: bool = False  # a reset restarts it, memory as it was; else that is its end
    cpu_flags: str = ""
    boot_args: tuple[str, ...] = ()
    qemu_args: tuple[str, ...] = field(default=())

    @property
    def slowness(self) -> int:
        """How many times longer than usual everything takes here."""
        if self.machine.startswith("intel"):
            return 5
        if not self.icount:
            return max(1, self.cpus // 16)
        return 3 if self.iommu == "none" else 20

    @property
    def patience(self) -> int:
        """How many times longer a time-out is here than a test says."""
        return 5 if self.machine.startswith("intel") else 1

    def check(self) -> None:
        if self.iommu not in IOMMUS:
            raise LabError(f"there is no IOMMU {self.iommu!r}", "choose none, intel or amd")
        if not 1 <= self.cpus <= 255:
            raise LabError(f"{self.cpus} CPUs cannot be", "choose 1 to 255")
