# SPDX-License-Identifier: GPL-2.0-only
"""qvctl doctor: the obstacles on this machine and their remedies."""

from __future__ import annotations

import importlib.util

from .. import abi, output, timing
from ..device import Device
from ..errors import Refused
from ..machine import parse_cpu_list
from ..record import dataclass
from ..words import MIB, REPLACED, REPLACED_REMEDY, cpu_list, dma_level, number, outside, size, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .command import Arguments
    from ..facts import Facts
    from ..system import System

OK, WARN, FAIL = "ok", "warn", "FAIL"
OUTSIDE_REMEDY = (
    "take nosmt, maxcpus= and nr_cpus= from the kernel's command line "
    "and switch SMT off in the firmware if at all; "
    "`qvctl enable --strict` refuses such a machine"
)


@dataclass(frozen=True)
class Finding:
    """One line of the doctor: a finding and its remedy."""

    check: str
    status: str
    what: str
    remedy: str = ""


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


class Examination:
    """Examines one machine. Works without the module and, within limits, without root."""

    def __init__(self, facts: Facts, device: Device | Refused) -> None:
        self.facts = facts
        self.device = device
        self.status: abi.StatusInfo | None = None
        self.refusal: Refused | None = device if isinstance(device, Refused) else None
        if not isinstance(device, Refused):
            try:
                self.status = device.status()
            except Refused as refusal:
                self.refusal = refusal

    def run(self) -> list[Finding]:
        checks: tuple[Callable[[], Finding], ...] = (
            self.architecture,
            self.virtualization,
            self.nested_paging,
            self.firmware,
            self.inside,
            self.kvm,
            self.cpus,
            self.offline_cpus,
            self.memory,
            self.lockdown,
            self.secure_boot,
            self.apparmor,
            self.module,
            self.headers,
            self.driver,
            self.dma,
            self.crash_dump,
            self.yaml,
        )
        return [*(check() for check in checks), *self.real_time()]

    def real_time(self) -> list[Finding]:
        cpus = sorted(self.facts.machine.cpus) or [0]
        found = timing.findings(str(self.facts.root), cpus, self.facts.cpu_maker)
        return [
            Finding(check, OK if fine else WARN, what, remedy)
            for check, fine, what, remedy in found
        ]

    def architecture(self) -> Finding:
        if self.facts.machine_name == "x86_64":
            return Finding("architecture", OK, "64-bit x86")
        return Finding(
            "architecture",
            FAIL,
            f"this is {self.facts.machine_name}, not 64-bit x86",
            "use a machine with an AMD or Intel CPU and a 64-bit kernel",
        )

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

    def cpus(self) -> Finding:
        count = len(self.facts.machine.cpus)
        if count >= 2:
            return Finding("cpus", OK, f"{number(count, 'CPU')}: {count - 1} can be given to cells")
        return Finding(
            "cpus",
            FAIL,
            "there is only one CPU, and CPU 0 always stays with Linux",
            "use a machine with two or more CPUs (QEMU: -smp 4)",
        )

    def offline_cpus(self) -> Finding:
        if self.status is not None and self.status.cpus_outside:
            return Finding(
                "offline-cpus", WARN, f"level: {outside(self.status.cpus_outside)}", OUTSIDE_REMEDY
            )
        offline = sorted(
            self.facts.machine.cpus
            & parse_cpu_list(self.facts.read("sys/devices/system/cpu/offline"))
        )
        cells = self._cells_cpus()
        strange = [cpu for cpu in offline if cpu not in cells]
        if not strange:
            return Finding("offline-cpus", OK, "every CPU is online, or a cell's")
        named = f"CPU{'s are' if len(strange) > 1 else ' is'} offline: {cpu_list(strange)}"
        if self.status is not None and self.status.enabled:
            return Finding("offline-cpus", OK, f"{named}, under the monitor")
        if self.facts.read("sys/devices/system/cpu/smt/control").strip() in ("off", "forceoff"):
            return Finding(
                "offline-cpus",
                WARN,
                f"{named}, and Linux does not let siblings come (nosmt): "
                "they would be CPUs outside the monitor",
                OUTSIDE_REMEDY,
            )
        return Finding(
            "offline-cpus",
            OK,
            f"{named}; enable takes it under the monitor, and sets it offline again"
            if len(strange) == 1
            else f"{named}; enable takes them under the monitor, and sets them offline again",
        )

    def _cells_cpus(self) -> set[int]:
        if self.status is None or isinstance(self.device, Refused):
            return set()
        taken: set[int] = set()
        try:
            for name in self.device.names() if self.status.enabled else []:
                info = self.device.info(name)
                taken.update(list(info.cpus)[: min(info.num_cpus, abi.MAX_CPUS)])
        except Refused:
            pass
        return taken

    def memory(self) -> Finding:
        free = self.facts.machine.mem_available
        if free >= 128 * MIB:
            return Finding("memory", OK, f"{size(free // MIB * MIB)} of memory are free")
        return Finding(
            "memory",
            WARN,
            f"only {size(free // MIB * MIB)} of memory are free",
            "end programs that use memory; a small cell wants 64M",
        )

    def lockdown(self) -> Finding:
        content = self.facts.read("sys/kernel/security/lockdown")
        mode = content.partition("[")[2].partition("]")[0] or "none"
        if mode == "none":
            return Finding("lockdown", OK, "kernel lockdown is off")
        return Finding(
            "lockdown",
            FAIL,
            f"kernel lockdown is on ({mode}): it forbids what QV does",
            "switch Secure Boot off in the firmware set-up; "
            "take lockdown= from the kernel command line",
        )

    def secure_boot(self) -> Finding:
        state = self.facts.secure_boot()
        if state is None:
            return Finding("secure-boot", OK, "no Secure Boot: not started by UEFI, or not told")
        if not state:
            return Finding("secure-boot", OK, "Secure Boot is off")
        if signer := self.facts.module_info.get("signer"):
            return Finding(
                "secure-boot",
                WARN,
                f"Secure Boot is on, and the module is signed by {signer}: the kernel "
                "takes it only if the machine knows that key",
                "if modprobe says that the key was rejected: "
                "mokutil --import /var/lib/dkms/mok.pub, "
                "reboot, and enrol the key in the blue menu",
            )
        return Finding(
            "secure-boot",
            WARN,
            "Secure Boot is on: the kernel takes only signed modules",
            "install qv-dkms, since DKMS signs qv.ko with its own key: "
            "mokutil --import /var/lib/dkms/mok.pub, "
            "reboot, and enrol the key in the blue menu; or switch Secure Boot off",
        )

    def apparmor(self) -> Finding:
        profile = self.facts.confinement()
        if not profile:
            return Finding("apparmor", OK, "no AppArmor profile confines this command")
        return Finding(
            "apparmor",
            WARN,
            f"the AppArmor profile {profile} confines this command, and may forbid /dev/qv",
            "run it unconfined, or permit `/dev/qv rw,` and `/dev/qv-cell/** rw,` in the profile",
        )

    def module(self) -> Finding:
        if "qv" in self.facts.modules and self.facts.module_is_replaced():
            return Finding("module", WARN, REPLACED, REPLACED_REMEDY)
        if "qv" in self.facts.modules:
            return Finding("module", OK, "the module qv is loaded")
        if self.facts.module_is_listed():
            return Finding(
                "module",
                OK,
                "the module qv is installed, not loaded",
                "nothing: `qvctl enable` and `qvctl cell create` load it",
            )
        if file := self.facts.module_file():
            return Finding(
                "module",
                FAIL,
                f"{file} is not in modules.dep, so modprobe does not find it",
                "depmod",
            )
        return Finding(
            "module",
            FAIL,
            f"there is no module qv for the kernel {self.facts.release}",
            "apt install qv-dkms; or make && make install (then modprobe finds it); "
            "or insmod qv.ko",
        )

    def headers(self) -> Finding:
        if self.facts.exists(f"lib/modules/{self.facts.release}/build"):
            return Finding(
                "headers", OK, f"headers of the kernel {self.facts.release} are installed"
            )
        return Finding(
            "headers",
            WARN,
            "headers of the running kernel are missing: the module cannot be built here",
            f"apt install linux-headers-{self.facts.release}",
        )

    def driver(self) -> Finding:
        if self.status is not None:
            if self.status.obstacle and not self.status.enabled:
                return Finding(
                    "driver",
                    FAIL,
                    f"the driver says: {text(self.status.obstacle_text)}",
                    text(self.status.obstacle_remedy),
                )
            state = (
                f"enabled, {number(self.status.num_cells, 'cell')}"
                if self.status.enabled
                else "ready, not enabled"
            )
            return Finding("driver", OK, f"/dev/qv answers: {state}")
        refusal = self.refusal or Refused("/dev/qv does not answer")
        if "qv" not in self.facts.modules and not self.facts.exists("dev/qv"):
            return Finding("driver", WARN, "there is no /dev/qv yet", "modprobe qv")
        status = WARN if "root" in refusal.remedy else FAIL
        return Finding("driver", status, refusal.sentence, refusal.remedy)

    def _has_iommu(self) -> bool:
        tables = ("sys/firmware/acpi/tables/DMAR", "sys/firmware/acpi/tables/IVRS")
        return any(self.facts.exists(table) for table in tables)

    def crash_dump(self) -> Finding:
        """Returns whether a crash kernel (kdump) works under the monitor: it does not start where
        the monitor owns the IOMMU."""
        owns = self._has_iommu()
        if self.status is not None and self.status.enabled:
            owns = self.status.dma_level != abi.DmaLevel.NONE
        if not self.facts.has_crash_kernel:
            return Finding("crash-dump", OK, "no crash kernel is loaded")
        if not owns:
            return Finding(
                "crash-dump", OK, "a crash kernel is loaded, and works under the monitor"
            )
        return Finding(
            "crash-dump",
            WARN,
            "a crash kernel is loaded, and would hang while the monitor owns the IOMMU",
            "QV_ENABLE=--no-iommu in /etc/qv/qv.conf (or qvctl enable --no-iommu); "
            "or do without crash dumps",
        )

    def dma(self) -> Finding:
        """Returns the level of protection from the DMA of a hostile Linux, or, if QV is not
        enabled, the level that enable can reach."""
        if self.status is not None and self.status.enabled:
            level = dma_level(self.status)
            return (
                Finding("dma", OK, level)
                if self.status.dma_level == abi.DmaLevel.FULL
                else Finding(
                    "dma",
                    WARN,
                    level,
                    "see to the reason, then: qvctl disable, qvctl enable; or trust Linux",
                )
            )
        if not self._has_iommu():
            return Finding(
                "dma",
                WARN,
                "no IOMMU: a hostile Linux could write all memory by its devices",
                "trust Linux; or switch VT-d or AMD-Vi on in the firmware set-up",
            )
        if groups := self.facts.translated_groups():
            return Finding(
                "dma",
                WARN,
                f"Linux translates the addresses of devices (IOMMU group {', '.join(groups[:3])}"
                f"{'...' if groups[3:] else ''}), "
                "so the monitor confines devices of cells, not those of a hostile Linux",
                "add iommu=pt to the kernel's command line "
                "(the monitor's isolation of devices replaces that of Linux); or trust Linux",
            )
        return Finding("dma", OK, "the monitor can keep a hostile Linux's devices from cells")

    def yaml(self) -> Finding:
        if importlib.util.find_spec("yaml"):
            return Finding("yaml", OK, "Python reads YAML")
        return Finding(
            "yaml",
            FAIL,
            "Python's YAML parser is missing: no file of a cell can be read",
            "apt install python3-yaml",
        )


def doctor(args: Arguments, system: System) -> int:
    device: Device | Refused
    try:
        device = system.device()
    except Refused as refusal:
        device = refusal
    findings = Examination(system.facts(), device).run()
    failed = any(finding.status == FAIL for finding in findings)
    if args.json:
        output.as_json(
            {
                "ok": not failed,
                "checks": [
                    {
                        "check": f.check,
                        "status": f.status.lower(),
                        "what": f.what,
                        "remedy": f.remedy,
                    }
                    for f in findings
                ],
            }
        )
    else:
        for finding in findings:
            remedy = f"  -> {finding.remedy}" if finding.remedy else ""
            output.line(f"{finding.status:4}  {finding.what}{remedy}")
    return 1 if failed else 0
