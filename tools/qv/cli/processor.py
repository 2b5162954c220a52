# SPDX-License-Identifier: GPL-2.0-only
"""The doctor's checks of the processor's virtualization: whether it is there and free."""

from __future__ import annotations

from .. import abi
from ..record import dataclass
from ..words import text
from .finding import FAIL, OK, WARN, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..facts import Facts


@dataclass(frozen=True)
class Maker:
    """A vendor of processors: its names for virtualization, and where a person enables it."""

    vendor: int  # number of the vendor in the driver's status
    flag: str  # name of its flag in /proc/cpuinfo, as is the next name
    nested_flag: str
    name: str
    nested: str
    nested_bit: int
    since: str
    firmware: str
    # words in the kernel log that say that firmware has disabled virtualization
    disabled: tuple[tuple[str, ...], ...]
    kvm: str


AMD = Maker(
    1,
    "svm",
    "npt",
    "AMD-V",
    "nested paging",
    abi.FEATURE_NPT,
    "AMD since 2008; QEMU: +npt",
    'switch SVM on in the firmware set-up ("SVM mode", "AMD-V"), then power-cycle',
    (("svm", "disabled by bios"), ("svm", "disabled (by bios)")),
    "kvm_amd",
)
INTEL = Maker(
    2,
    "vmx",
    "ept",
    "VT-x",
    "nested paging (EPT)",
    abi.FEATURE_EPT,
    "Intel since 2010; QEMU: +vmx-ept",
    'switch VT-x on in the firmware set-up ("Intel Virtualization Technology"), then power-cycle',
    (("vmx", "disabled by bios"),),
    "kvm_intel",
)
MAKERS = {
    "AuthenticAMD": AMD,
    "HygonGenuine": AMD,
    "GenuineIntel": INTEL,
    "CentaurHauls": INTEL,
    "  Shanghai  ": INTEL,
}


class Processor:
    """Examines the processors of one machine. `status`: None if the driver does not answer."""

    def __init__(self, facts: Facts, status: abi.StatusInfo | None) -> None:
        self.facts = facts
        self.status = status

    @property
    def maker(self) -> Maker | None:
        """Returns the vendor whose virtualization this processor has or would have."""
        by_flag = [maker for maker in (AMD, INTEL) if maker.flag in self.facts.cpu_flags]
        by_driver = [
            maker
            for maker in (AMD, INTEL)
            if self.status is not None and self.status.vendor == maker.vendor
        ]
        found = by_flag + by_driver
        return found[0] if found else MAKERS.get(self.facts.cpu_maker)

    def _has(self, maker: Maker) -> bool:
        return maker.flag in self.facts.cpu_flags or (
            self.status is not None and self.status.vendor == maker.vendor
        )

    def virtualization(self) -> Finding:
        maker = self.maker
        if maker is not None and maker.flag in self.facts.cpu_flags:
            return Finding("virtualization", OK, f"the CPU has {maker.name}")
        if maker is not None and self._has(maker):
            return Finding("virtualization", OK, f"the driver finds {maker.name}")
        names = maker.name if maker is not None else "AMD-V or VT-x"
        if "hypervisor" in self.facts.cpu_flags:
            return Finding(
                "virtualization",
                FAIL,
                f"this virtual machine has no {names}",
                "switch nested virtualization on for it (QEMU: -cpu host, or EPYC-v4,+svm,+npt)",
            )
        return Finding(
            "virtualization",
            FAIL,
            f"the CPU shows no {names}",
            maker.firmware + ", or use a CPU that has it"
            if maker is not None
            else "use a machine with an AMD or Intel CPU",
        )

    def nested_paging(self) -> Finding:
        maker = self.maker
        if maker is None or not self._has(maker):
            return Finding(
                "nested-paging",
                WARN,
                "nested paging cannot be judged without virtualization",
                "first see to virtualization",
            )
        features = self.status.features if self.status is not None else 0
        if maker.nested_flag in self.facts.cpu_flags or features & maker.nested_bit:
            return Finding("nested-paging", OK, f"the CPU has {maker.nested}")
        return Finding(
            "nested-paging",
            FAIL,
            f"the CPU has no {maker.nested}",
            f"use a CPU that has it ({maker.since})",
        )

    def firmware(self) -> Finding:
        if self.status is not None and self.status.obstacle == abi.Reason.E_VIRT_DISABLED:
            return Finding(
                "firmware",
                FAIL,
                text(self.status.obstacle_text),
                text(self.status.obstacle_remedy) or (self.maker or AMD).firmware,
            )
        if self.status is not None and not (self.maker is not None and not self._has(self.maker)):
            return Finding("firmware", OK, "the firmware leaves virtualization on")
        for maker in (AMD, INTEL):
            for words in maker.disabled:
                if hint := self.facts.kernel_said(*words):
                    return Finding("firmware", FAIL, f"the kernel says: {hint}", maker.firmware)
        return Finding("firmware", OK, "nothing says that the firmware switched virtualization off")

    def inside(self) -> Finding:
        if "hypervisor" not in self.facts.cpu_flags:
            return Finding("machine", OK, "no hypervisor is below this Linux")
        if self.maker is not None and self._has(self.maker):
            return Finding(
                "machine",
                OK,
                "this is a virtual machine with nested virtualization: "
                "fine to try QV, not for timing",
            )
        return Finding("machine", WARN, "this is a virtual machine", "see virtualization")

    def kvm(self) -> Finding:
        loaded = [name for name in (AMD.kvm, INTEL.kvm) if name in self.facts.modules]
        if not loaded:
            return Finding("kvm", OK, "no other hypervisor module is loaded")
        first = "end its virtual machines, then: " if self.facts.modules[loaded[0]] else ""
        remedy = f"{first}rmmod {loaded[0]}"
        # KVM enables virtualization on the CPUs when it is loaded, or on some kernels when the
        # first virtual machine is created
        if self.status is not None and self.status.obstacle != abi.Reason.E_VIRT_IN_USE:
            return Finding(
                "kvm",
                WARN,
                f"{loaded[0]} is loaded: it and QV cannot both run virtual machines",
                remedy,
            )
        return Finding(
            "kvm", FAIL, f"{loaded[0]} is loaded and may hold the CPUs' virtualization", remedy
        )
