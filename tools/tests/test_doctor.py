# SPDX-License-Identifier: GPL-2.0-only
"""The doctor on machines that consist of files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import FakeDevice, FakeSystem

from qv import abi
from qv.cli import main
from qv.errors import NotAllowed, Refused

NO_DEVICE = Refused("the module qv is not loaded: there is no /dev/qv", "load the module: modprobe qv")
EFI = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
HEALTHY = {
    "proc/cpuinfo": "processor : 0\nflags : fpu svm npt nrip_save\n",
    "proc/modules": "qv 40960 0 - Live 0x0\n",
    "proc/meminfo": "MemTotal: 2097152 kB\nMemAvailable: 1800000 kB\n",
    "sys/devices/system/cpu/possible": "0-3\n",
    "sys/devices/system/cpu/present": "0-3\n",
    "sys/devices/system/cpu/offline": "\n",
    "sys/kernel/security/lockdown": "[none] integrity confidentiality\n",
    "lib/modules/6.12.0-test/build/Makefile": "",
    "lib/modules/6.12.0-test/updates/qv.ko": "",
    "lib/modules/6.12.0-test/modules.dep": "kernel/net/sqv.ko.xz:\nupdates/qv.ko:\n",
    "dev/qv": "",
    "sys/firmware/acpi/tables/DMAR": "",
    "sys/kernel/iommu_groups/0/type": "identity\n",
    "dmesg": "[    1.0] nothing of note\n",
}


class Clinic:
    def __init__(self, root: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capture = capture
        self.device: FakeDevice | Refused = FakeDevice()
        for path, content in HEALTHY.items():
            self.put(path, content)

    def put(self, path: str, content: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def examine(self) -> tuple[int, dict[str, tuple[str, str, str]]]:
        status = main(["doctor", "--json"], FakeSystem(self.device, self.root, self.root))  # type: ignore[arg-type]
        data = json.loads(self.capture.readouterr().out)
        assert data["ok"] == (status == 0)
        return status, {c["check"]: (c["status"], c["what"], c["remedy"]) for c in data["checks"]}

    def finds(self, check: str, status: str, *words: str) -> None:
        code, checks = self.examine()
        assert checks[check][0] == status, checks[check]
        assert code == (1 if any(c[0] == "fail" for c in checks.values()) else 0)
        for word in words:
            assert word in checks[check][1] + checks[check][2]
        if status != "ok":
            assert checks[check][2], "an obstacle has a remedy"


@pytest.fixture
def clinic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Clinic:
    return Clinic(tmp_path, capsys)


def test_healthy(clinic: Clinic) -> None:
    code, checks = clinic.examine()
    assert code == 0
    assert {status for status, _, _ in checks.values()} == {"ok"}


def test_without_module_and_root(clinic: Clinic) -> None:
    clinic.device = NO_DEVICE
    clinic.put("proc/modules", "")
    clinic.remove("dev/qv")
    clinic.finds("driver", "warn", "modprobe qv")
    assert clinic.examine()[0] == 0


def test_protection_from_dma(clinic: Clinic) -> None:
    clinic.finds("dma", "ok", "can keep a hostile Linux's devices from cells")
    clinic.put("sys/kernel/iommu_groups/7/type", "DMA-FQ\n")
    clinic.finds("dma", "warn", "IOMMU group 7", "iommu=pt")
    # a unit of a server from 2023 (version 6.0 of VT-d), one without nesting, one of legacy mode
    clinic.put("sys/class/iommu/dmar0/intel-iommu/ecap", "3ee9e86f050df\n")
    clinic.finds("dma", "ok", "DMA full may need no boot parameter")
    clinic.put("sys/class/iommu/dmar1/intel-iommu/ecap", f"{0x3EE9E86F050DF & ~(1 << 26):x}\n")
    clinic.finds("dma", "warn", "IOMMU group 7", "iommu=pt")
    clinic.put("sys/class/iommu/dmar1/intel-iommu/ecap", "f020df\n")
    clinic.finds("dma", "warn", "IOMMU group 7", "iommu=pt")
    clinic.remove("sys/class/iommu/dmar0/intel-iommu/ecap")
    clinic.remove("sys/class/iommu/dmar1/intel-iommu/ecap")
    clinic.remove("sys/firmware/acpi/tables/DMAR")
    clinic.finds("dma", "warn", "no IOMMU", "firmware set-up")
    clinic.put("sys/firmware/acpi/tables/IVRS", "")
    clinic.finds("dma", "warn", "IOMMU group 7", "iommu=pt")
    clinic.remove("sys/firmware/acpi/tables/IVRS")
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.enable()
    clinic.finds("dma", "warn", "DMA none", "the machine has no IOMMU", "qvctl disable, qvctl enable")
    clinic.device.without_iommu = b""
    clinic.device.enable()
    clinic.finds("dma", "ok", "DMA full")


def test_crash_kernel_under_an_owned_iommu(clinic: Clinic) -> None:
    clinic.finds("crash-dump", "ok", "no crash kernel is loaded")
    clinic.put("sys/kernel/kexec_crash_loaded", "1\n")
    clinic.finds("crash-dump", "warn", "would hang", "--no-iommu")
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.enable(iommu=False)
    clinic.finds("crash-dump", "ok", "works under the monitor")
    clinic.device.without_iommu = b""
    clinic.device.enable()
    clinic.finds("crash-dump", "warn", "would hang", "--no-iommu")
    clinic.remove("sys/firmware/acpi/tables/DMAR")
    clinic.device.enabled = False
    clinic.finds("crash-dump", "ok", "works under the monitor")


def test_intel(clinic: Clinic) -> None:
    clinic.device = NO_DEVICE
    clinic.put("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu vmx ept\n")
    clinic.finds("virtualization", "ok", "VT-x")
    clinic.finds("nested-paging", "ok", "EPT")
    clinic.put("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu vmx\n")
    clinic.finds("nested-paging", "fail", "EPT", "Intel")


def test_intel_by_the_driver(clinic: Clinic) -> None:
    """Linux hides the CPUID flag if Linux itself could not use VT-x."""
    clinic.put("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu\n")
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.vendor, clinic.device.features = 2, abi.FEATURE_EPT
    clinic.finds("virtualization", "ok", "the driver finds VT-x")
    clinic.finds("nested-paging", "ok", "EPT")


def test_no_virtualization(clinic: Clinic) -> None:
    clinic.device = NO_DEVICE
    clinic.put("proc/cpuinfo", "flags : fpu hypervisor\n")
    clinic.finds("virtualization", "fail", "nested")
    clinic.put("proc/cpuinfo", "flags : fpu\n")
    clinic.finds("virtualization", "fail", "AMD or Intel")
    clinic.put("proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : fpu\n")
    clinic.finds("virtualization", "fail", "no AMD-V", "firmware")
    clinic.put("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu\n")
    clinic.finds("virtualization", "fail", "no VT-x", "firmware")


def test_no_nested_paging(clinic: Clinic) -> None:
    clinic.device = NO_DEVICE
    clinic.put("proc/cpuinfo", "flags : fpu svm\n")
    clinic.finds("nested-paging", "fail", "npt")


def test_disabled_in_firmware(clinic: Clinic) -> None:
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.obstacle = (abi.Reason.E_VIRT_DISABLED, b"SVM is locked off", b"switch it on")
    clinic.finds("firmware", "fail", "SVM is locked off", "switch it on")
    clinic.finds("driver", "fail", "SVM is locked off")
    clinic.device = NO_DEVICE
    clinic.put("dmesg", "[    0.5] SVM disabled (by BIOS) in MSR_VM_CR\n")
    clinic.finds("firmware", "fail", "SVM disabled (by BIOS)", "firmware set-up")


def test_disabled_in_firmware_of_intel(clinic: Clinic) -> None:
    clinic.put("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu\n")
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.vendor = 2
    clinic.device.obstacle = (abi.Reason.E_VIRT_DISABLED, b"the firmware has disabled VT-x, and locked that", b"switch it on")
    clinic.finds("firmware", "fail", "locked that", "switch it on")
    clinic.device = NO_DEVICE
    clinic.put("dmesg", "[    0.5] x86/cpu: VMX (outside TXT) disabled by BIOS\n")
    clinic.finds("firmware", "fail", "disabled by BIOS", "Intel Virtualization Technology")


def test_kvm_of_intel(clinic: Clinic) -> None:
    clinic.put("proc/modules", "kvm_intel 200 0 - Live 0x0\nqv 1 0 - Live 0\n")
    clinic.finds("kvm", "warn", "kvm_intel is loaded", "rmmod kvm_intel")


def test_kvm(clinic: Clinic) -> None:
    clinic.put("proc/modules", "kvm_amd 200 0 - Live 0x0\nqv 1 0 - Live 0\n")
    clinic.finds("kvm", "warn", "kvm_amd is loaded", "rmmod kvm_amd")
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.obstacle = (abi.Reason.E_VIRT_IN_USE, b"another hypervisor holds SVM", b"rmmod kvm_amd")
    clinic.put("proc/modules", "kvm_amd 200 3 - Live 0x0\nqv 1 0 - Live 0\n")
    clinic.finds("kvm", "fail", "end its virtual machines, then: rmmod kvm_amd")
    clinic.device = NO_DEVICE
    clinic.finds("kvm", "fail", "may hold")


def test_lockdown(clinic: Clinic) -> None:
    clinic.put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n")
    clinic.finds("lockdown", "fail", "integrity")


def test_secure_boot(clinic: Clinic) -> None:
    clinic.put(EFI, b"\6\0\0\0\0")
    clinic.finds("secure-boot", "ok", "off")
    clinic.put(EFI, b"\6\0\0\0\1")
    clinic.finds("secure-boot", "warn", "only signed modules", "install qv-dkms", "mokutil --import")
    clinic.put("modinfo", "filename: /lib/modules/x/updates/dkms/qv.ko.xz\nsigner:         DKMS module signing key\n")
    clinic.finds("secure-boot", "warn", "signed by DKMS module signing key", "mokutil --import")


def test_apparmor(clinic: Clinic) -> None:
    clinic.finds("apparmor", "ok", "no AppArmor profile")
    clinic.put("proc/self/attr/apparmor/current", "unconfined\n")
    clinic.finds("apparmor", "ok", "no AppArmor profile")
    clinic.put("proc/self/attr/apparmor/current", "tools (enforce)\n")
    clinic.finds("apparmor", "warn", "profile tools (enforce) confines", "/dev/qv rw,")


def test_module_that_was_upgraded_while_loaded(clinic: Clinic) -> None:
    old, new = "a" * 64, "b" * 64
    clinic.put("sys/module/qv/srcversion", "0123\n")
    clinic.put("sys/module/qv/parameters/monitor", f"{old}\n")
    clinic.finds("module", "ok", "is loaded")
    info = "srcversion:     {}\nmonitor_amd:    {}\nmonitor_intel:  cc\n"
    clinic.put("modinfo", info.format("0123", old))
    clinic.finds("module", "ok", "is loaded")
    clinic.put("modinfo", info.format("4567", old))
    clinic.finds("module", "warn", "another than the installed one", "systemctl restart qv.service")
    clinic.put("modinfo", info.format("0123", new))
    clinic.finds("module", "warn", "another than the installed one")


def test_status_shows_monitor_and_older_module(clinic: Clinic) -> None:
    clinic.put("sys/module/qv/srcversion", "0123\n")
    clinic.put("sys/module/qv/parameters/monitor", "a" * 64 + "\n")
    clinic.put("modinfo", "srcversion: 4567\n")
    clinic.put("sys/module/qv/version", "0.2\n")
    clinic.put("sys/module/qv/parameters/commit", "0123456789ab+\n")
    system = FakeSystem(clinic.device, clinic.root, clinic.root)
    assert main(["status"], system) == 0  # type: ignore[arg-type]
    said = clinic.capture.readouterr().out
    assert main(["--version"], system) == 0  # type: ignore[arg-type]
    assert f"module 0.2 (commit 0123456789ab+); {clinic.capture.readouterr().out}" in said
    assert f"monitor sha256 {'a' * 64}\n" in said and "restart qv.service" in said


def test_cpus(clinic: Clinic) -> None:
    clinic.put("sys/devices/system/cpu/offline", "2\n")
    clinic.finds("offline-cpus", "ok", "CPU is offline: 2; enable takes it under the monitor")
    here, clinic.device = clinic.device, NotAllowed("you may not open /dev/qv", "join the group qv")
    clinic.finds("offline-cpus", "ok", "CPU is offline: 2; root and group qv see if a cell has it")
    clinic.device = here
    clinic.put("sys/devices/system/cpu/smt/control", "forceoff\n")
    clinic.finds("offline-cpus", "warn", "CPU is offline: 2, and Linux does not let siblings come", "--strict")
    assert isinstance(clinic.device, FakeDevice)
    clinic.device.enabled, clinic.device.outside = True, 1
    clinic.finds("offline-cpus", "warn", "level: CPUs outside (1): offline", "--strict")
    clinic.device.outside = 0
    clinic.finds("offline-cpus", "ok", "CPU is offline: 2, under the monitor")
    info = abi.CellInfo(name=b"quest", num_cpus=1)
    info.cpus[0] = 2
    clinic.device.cells["quest"] = info
    clinic.finds("offline-cpus", "ok", "every CPU is online, or a cell's")
    clinic.put("sys/devices/system/cpu/present", "0\n")
    clinic.finds("cpus", "fail", "only one CPU")


def test_memory(clinic: Clinic) -> None:
    clinic.put("proc/meminfo", "MemTotal: 2097152 kB\nMemAvailable: 65536 kB\n")
    clinic.finds("memory", "warn", "64M")


def test_what_real_time_needs(clinic: Clinic) -> None:
    cpus = "sys/devices/system/cpu"
    clinic.put(f"{cpus}/smt/active", "1\n")
    clinic.finds("smt", "warn", "CPUs share cores", "firmware set-up")
    for number, (name, latency) in enumerate((("POLL", 0), ("C1", 2), ("C6", 133))):
        clinic.put(f"{cpus}/cpu2/cpuidle/state{number}/name", f"{name}\n")
        clinic.put(f"{cpus}/cpu2/cpuidle/state{number}/latency", f"{latency}\n")
    clinic.finds("c-states", "warn", "sleeps in C6 needs 133 us", "--disable-by-latency 20")
    clinic.put(f"{cpus}/cpu2/cpuidle/state2/disable", "1\n")
    clinic.finds("c-states", "ok")
    clinic.put(f"{cpus}/cpu1/cpufreq/scaling_governor", "powersave\n")
    clinic.finds("p-states", "warn", "governor is powersave", "--governor performance")
    clinic.put("sys/devices/system/node/node0/cpulist", "0-1\n")
    clinic.finds("numa", "ok")
    clinic.put("sys/devices/system/node/node1/cpulist", "2-3\n")
    clinic.finds("numa", "warn", "2 NUMA nodes", "node1: CPUs 2-3")


def test_interrupts_of_the_firmware(clinic: Clinic) -> None:
    clinic.finds("smi", "ok", "does not count")
    clinic.put("proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\nflags : fpu svm npt\n")
    clinic.finds("smi", "warn", "were not counted", "modprobe msr")
    clinic.put("dev/cpu/0/msr", bytes(0x34) + (7).to_bytes(8, "little"))
    clinic.finds("smi", "warn", "7 interrupts of the firmware", "if the number grows")
    clinic.put("dev/cpu/0/msr", bytes(0x40))
    clinic.finds("smi", "ok", "0 interrupts")


def test_headers_and_module(clinic: Clinic) -> None:
    clinic.remove("lib/modules/6.12.0-test/build/Makefile")
    (clinic.root / "lib/modules/6.12.0-test/build").rmdir()
    clinic.finds("headers", "warn", "apt install linux-headers-6.12.0-test")
    clinic.put("proc/modules", "")
    clinic.finds("module", "ok", "installed")
    clinic.put("lib/modules/6.12.0-test/modules.dep", "kernel/net/sqv.ko.xz:\n")
    clinic.finds("module", "fail", "depmod")
    clinic.remove("lib/modules/6.12.0-test/updates/qv.ko")
    clinic.finds("module", "fail", "make install")


def test_not_root(clinic: Clinic) -> None:
    clinic.device = Refused("you may not open /dev/qv", "run it with sudo, or as root")
    clinic.finds("driver", "warn", "sudo")


def test_no_yaml(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    clinic.finds("yaml", "ok")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    clinic.finds("yaml", "fail", "apt install python3-yaml")


def test_as_text(clinic: Clinic) -> None:
    clinic.put("proc/modules", "kvm_amd 200 0 - Live 0x0\nqv 1 0 - Live 0\n")
    clinic.device = NO_DEVICE
    assert main(["doctor"], FakeSystem(clinic.device, clinic.root, clinic.root)) == 1  # type: ignore[arg-type]
    lines = clinic.capture.readouterr().out.splitlines()
    assert "FAIL  kvm_amd is loaded and may hold the CPUs' virtualization  -> rmmod kvm_amd" in lines
    assert all(line.startswith(("ok  ", "warn", "FAIL")) for line in lines)
