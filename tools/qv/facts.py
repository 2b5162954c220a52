# SPDX-License-Identifier: GPL-2.0-only
"""The facts that the doctor reads from /proc, /sys and the tools of the kernel."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cached_property
from pathlib import Path

from .machine import Machine

_EFI_SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

_MODULE = "sys/module/qv"


class Facts:
    """Facts below `root`. A test gives a folder that it has filled."""

    def __init__(
        self, root: str = "/", machine_name: str | None = None, release: str | None = None
    ) -> None:
        self.root = Path(root)
        self.machine_name = machine_name or os.uname().machine
        self.release = release or os.uname().release

    def read(self, path: str) -> str:
        try:
            return (self.root / path).read_text(errors="replace")
        except OSError:
            return ""

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()

    @property
    def has_crash_kernel(self) -> bool:
        """Returns whether a crash kernel (kdump) is loaded. It hangs where the monitor owns the
        IOMMU."""
        return self.read("sys/kernel/kexec_crash_loaded").strip() == "1"

    @cached_property
    def machine(self) -> Machine:
        return Machine.this(str(self.root))

    def _first_cpu(self, wanted: str) -> str:
        for line in self.read("proc/cpuinfo").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == wanted:
                return value.removeprefix(" ")
        return ""

    @cached_property
    def cpu_flags(self) -> frozenset[str]:
        return frozenset(self._first_cpu("flags").split())

    @cached_property
    def cpu_maker(self) -> str:
        """Returns the vendor's name as in CPUID leaf 0."""
        return self._first_cpu("vendor_id")

    @cached_property
    def modules(self) -> dict[str, int]:
        """Returns the loaded modules and the use count of each."""
        found: dict[str, int] = {}
        for line in self.read("proc/modules").splitlines():
            words = line.split()
            if len(words) > 2:
                found[words[0]] = int(words[2]) if words[2].isdigit() else 0
        return found

    def module_is_listed(self) -> bool:
        """Returns whether modprobe finds qv. It searches only modules.dep, which depmod writes."""
        listed = self.read(f"lib/modules/{self.release}/modules.dep")
        return re.search(r"^(?:.*/)?qv\.ko(?:\.\w+)?:", listed, re.MULTILINE) is not None

    def module_file(self) -> str:
        """Returns the path of a qv.ko for this kernel, listed in modules.dep or not, or an empty
        text."""
        base = self.root / "lib/modules" / self.release
        found = sorted([*base.glob("*/qv.ko*"), *base.glob("*/*/qv.ko*")])
        return f"/{found[0].relative_to(self.root)}" if found else ""

    @cached_property
    def module_info(self) -> dict[str, str]:
        """Returns what modinfo says about the installed module: version, srcversion, signer, the
        SHA-256 of the monitor's images. Empty if there is no module."""
        said = self.read("modinfo") if str(self.root) != "/" else _run("modinfo", "qv")
        pairs = (line.partition(":") for line in (said or "").splitlines())
        return {key.strip(): value.strip() for key, _, value in pairs}

    def module_version(self) -> tuple[str, str]:
        """Returns the version of the loaded module and the commit that it is built from. A text
        that is not known is empty."""
        version, commit = f"{_MODULE}/version", f"{_MODULE}/parameters/commit"
        return self.read(version).strip(), self.read(commit).strip()

    def monitor_sha256(self) -> str:
        """Returns the hash of the image that the loaded module has for this processor, or an empty
        text."""
        return self.read(f"{_MODULE}/parameters/monitor").strip()

    def module_is_replaced(self) -> bool:
        """Returns whether another module than the loaded one is installed, as after an upgrade."""
        loaded, installed = (
            self.read(f"{_MODULE}/srcversion").strip(),
            self.module_info.get("srcversion"),
        )
        if not loaded or not installed:
            return False
        images = {self.module_info.get("monitor_amd"), self.module_info.get("monitor_intel")}
        monitor = self.monitor_sha256()
        return loaded != installed or (len(monitor) == 64 and monitor not in images)

    def translated_groups(self) -> list[str]:
        """Returns the IOMMU groups whose devices do not use physical addresses."""
        groups = sorted(self.root.glob("sys/kernel/iommu_groups/*/type"))
        return [group.parent.name for group in groups if group.read_text().strip() != "identity"]

    def units_nest(self) -> bool:
        """Returns whether each unit of VT-d can nest tables of Linux in the monitor's table:
        it has scalable mode with the second stage, nesting, any PASID for accesses without one, and
        PASIDs of 17 bits (ECAP: Intel VT-d specification 3.3, 11.4.3)."""
        needed = 1 << 26 | 1 << 43 | 1 << 46 | 1 << 49
        paths = self.root.glob("sys/class/iommu/dmar*/intel-iommu/ecap")
        values = [int(path.read_text().strip() or "0", 16) for path in paths]
        return bool(values) and all(
            ecap & needed == needed and (ecap >> 35 & 0x1F) >= 16 for ecap in values
        )

    def confinement(self) -> str:
        """Returns the AppArmor profile that confines this process, or an empty text."""
        said = self.read("proc/self/attr/apparmor/current").strip("\0\n ")
        return "" if said.partition(" ")[0] == "unconfined" else said

    def secure_boot(self) -> bool | None:
        """Returns True if the setting is enabled, and None if that is unknown."""
        try:
            raw = (self.root / _EFI_SECURE_BOOT).read_bytes()
        except OSError:
            return None
        return bool(raw[4]) if len(raw) > 4 else None

    @cached_property
    def _kernel_log(self) -> str:
        if str(self.root) != "/":
            return self.read("dmesg")
        return _run("dmesg") or ""

    def kernel_said(self, *words: str) -> str | None:
        """Returns the last line of the kernel's log that contains all these words."""
        for line in reversed(self._kernel_log.splitlines()):
            if all(word in line.lower() for word in words):
                return line.partition("] ")[2] or line
        return None


def _run(*command: str) -> str | None:
    environment = {
        **os.environ,
        "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin",
        "LC_ALL": "C",
    }
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=10, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
