# SPDX-License-Identifier: GPL-2.0-only
"""The system that commands act on. Tests replace it by a fake."""

from __future__ import annotations

import os
import time

from . import abi, device
from .device import Device
from .errors import Refused
from .words import text

TYPE_CHECKING = False
if TYPE_CHECKING:  # these modules are imported on demand, since few commands need them
    from collections.abc import Iterator

    from .facts import Facts
    from .machine import Machine, Taken
    from .service import Service
    from .transcript import Transcript


class System:
    """This machine: its facts, its module, its driver, its clock. /proc and /sys are under
    `root`."""

    root = "/"

    def machine(self) -> Machine:
        from .machine import Machine

        return Machine.this(pool=self._pool())

    def _pool(self) -> int:
        """Returns the free bytes of the pool, which Linux does not count as available. Only a user
        who may open the device can read them."""
        if not os.access(device.DEVICE, os.R_OK):
            return 0
        return int(self.device().pool().free)

    def running(self) -> Machine:
        """Returns this machine with the existing cells. Only a user who may open the device can
        list them. For others an offline CPU may belong to a cell, so none counts as offline."""
        from .machine import CPUS, Machine

        if not os.access(device.DEVICE, os.R_OK):
            return Machine.this(kept=range(CPUS) if os.path.exists(device.DEVICE) else ())
        status = self.device().status()
        return Machine.this(
            cells=self.taken(),
            ipi=bool(status.ipi_direct),
            outside=status.cpus_outside,
            pool=self._pool(),
            kept=self._kept(),
        )

    def _kept(self) -> list[int]:
        """Returns the CPUs that are kept for cells; none if the module is older than that call."""
        try:
            return self.device().kept_cpus()
        except Refused:
            return []

    def taken(self) -> tuple[Taken, ...]:
        from .machine import Taken

        driver = self.device()
        found = (driver.info(name) for name in driver.names())
        return tuple(
            Taken(
                text(info.name),
                list(info.cpus)[: info.num_cpus],
                [(port.first, port.last) for port in info.ports[: info.num_ports]],
                [
                    pci.bdf
                    for pci in info.devices[: info.num_devices]
                    if not pci.state & abi.DEVICE_HEIR
                ],
                bool(info.ipi),
                info.lock != abi.Lock.NEVER,
                info.memory,
            )
            for info in found
        )

    def facts(self) -> Facts:
        from .facts import Facts

        return Facts()

    def device(self) -> Device:
        return Device()

    def is_loaded(self) -> bool:
        return os.path.exists(device.DEVICE)

    def device_or_load(self) -> Device:
        """Opens /dev/qv. Loads the module first if it is not loaded."""
        if not os.path.exists(device.DEVICE):
            self.load_module()
        return self.device()

    def service(self) -> Service:
        from .service import Service

        return Service()

    def transcript(self, name: str) -> Transcript | None:
        """Returns the console of a cell, or None if it cannot be read."""
        from .transcript import Transcript

        try:
            return Transcript(name)
        except OSError:
            return None

    def console_denied(self, name: str) -> bool:
        """Returns whether a cell has a console that this user may not open."""
        from .transcript import FOLDER

        path = os.path.join(self.root, FOLDER[1:], name, "console")
        return os.path.exists(path) and not os.access(path, os.R_OK)

    def systemctl(self, *words: str) -> None:
        import subprocess

        try:
            done = subprocess.run(
                ["systemctl", "--quiet", *words], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            raise Refused(
                "systemctl is not installed", "cells start at boot by systemd only"
            ) from None
        if done.returncode:
            raise Refused(
                f"systemctl {words[0]} failed: {_why(done.stderr)}", f"systemctl status {words[-1]}"
            )

    def invocation(self, unit: str) -> str:
        """Returns systemd's number of the last start of a unit; empty if it knows none."""
        import subprocess

        show = ["systemctl", "show", "--property=InvocationID", "--value", unit]
        try:
            return subprocess.run(show, capture_output=True, text=True, check=False).stdout.strip()
        except FileNotFoundError:
            return ""

    def journal(self, *words: str) -> Iterator[str]:
        """Yields the lines of `journalctl`. With -f, it does not end."""
        import subprocess

        try:
            run = subprocess.Popen(
                ["journalctl", "--quiet", "--no-pager", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
        except FileNotFoundError:
            raise Refused("journalctl is not installed", "apt install systemd") from None
        assert run.stdout and run.stderr
        try:
            yield from run.stdout
            complaint = run.stderr.read()
            if run.wait() and complaint:
                raise Refused(
                    f"journalctl failed: {_why(complaint)}",
                    "journalctl --list-boots; users of the group systemd-journal may read it",
                )
        finally:
            run.kill()
            run.wait()

    def load_module(self) -> None:
        if os.geteuid() != 0:
            raise Refused(
                "the module qv is not loaded, and only root may load it",
                "run it with sudo, or as root",
            )
        import subprocess

        try:
            done = subprocess.run(
                ["modprobe", "qv"], capture_output=True, text=True, timeout=60, check=False
            )
        except FileNotFoundError:
            raise Refused(
                "the module qv is not loaded, and modprobe is not installed",
                "apt install kmod, or load it by hand: insmod qv.ko",
            ) from None
        except subprocess.TimeoutExpired:
            raise Refused(
                "modprobe qv did not end within a minute", "see dmesg for the reason"
            ) from None
        if done.returncode:
            raise Refused(
                f"the module qv is not loaded, and modprobe failed: {_why(done.stderr)}",
                "`make install` puts the module in place (`depmod` lists it), or "
                "insmod qv.ko; `qvctl doctor` says more",
            )
        self._await_node()

    @staticmethod
    def _await_node() -> None:
        """Waits for the device node: devtmpfs makes it at once, but udev may need a moment."""
        deadline = time.monotonic() + 2
        while not os.path.exists(device.DEVICE) and time.monotonic() < deadline:
            time.sleep(0.01)

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _why(stderr: str) -> str:
    lines = stderr.strip().splitlines()
    line = lines[-1] if lines else "it did not say why"
    return (
        line.removeprefix("modprobe: ").removeprefix("FATAL: ").removeprefix("ERROR: ").rstrip(".")
    )
