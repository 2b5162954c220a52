# SPDX-License-Identifier: GPL-2.0-only
"""qvctl doctor: the obstacles on this machine and their remedies."""

from __future__ import annotations

import importlib.util

from .. import abi, output, timing
from ..device import Device
from ..errors import NotAllowed, Refused
from ..machine import parse_cpu_list
from ..words import MIB, REPLACED, REPLACED_REMEDY, cpu_list, dma_level, number, outside, size, text
from .finding import FAIL, OK, WARN, Finding
from .processor import Processor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .command import Arguments
    from ..facts import Facts
    from ..system import System

OUTSIDE_REMEDY = (
    "take nosmt, maxcpus= and nr_cpus= from the kernel's command line "
    "and switch SMT off in the firmware if at all; "
    "`qvctl enable --strict` refuses such a machine"
)


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
        processor = Processor(self.facts, self.status)
        checks: tuple[Callable[[], Finding], ...] = (
            self.architecture,
            processor.virtualization,
            processor.nested_paging,
            processor.firmware,
            processor.inside,
            processor.kvm,
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
        if isinstance(self.device, NotAllowed):
            return Finding("offline-cpus", OK, f"{named}; root and group qv see if a cell has it")
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
        if (groups := self.facts.translated_groups()) and self.facts.units_nest():
            return Finding(
                "dma",
                OK,
                "Linux translates the addresses of devices; on this hardware, which nests its "
                "tables, DMA full may need no boot parameter (qvctl enable shows the level)",
            )
        if groups:
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
