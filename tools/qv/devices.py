# SPDX-License-Identifier: GPL-2.0-only
"""PCI functions: which of them a cell can have, and why it cannot have the others."""

from __future__ import annotations

import os

from .keys.ports import NEVER_PORTS
from .machine import read_text
from .record import dataclass
from .uses import uses
from .words import pci_name, port_range

BRIDGE = 0x06
OUR_DRIVER = "qv-cell"
BARS = 6
IO, MEMORY, UNSET = 0x100, 0x200, 0x20000000  # IORESOURCE_*
PAGE = 4096


@dataclass(frozen=True)
class Bar:
    first: int
    last: int
    flags: int


@dataclass(frozen=True)
class Function:
    """One PCI function, as sysfs shows it. `why`: the reason why no cell can have it. `used`: its
    uses by Linux, which would be lost."""

    name: str
    ids: str
    driver: str
    why: str
    remedy: str
    used: list[str]

    def state(self) -> str:
        if self.driver == OUR_DRIVER:
            return "a cell's"
        if self.why:
            return f"no: {self.why}"
        return f"in use: {'; '.join(self.used)}" if self.used else "yes"


def _text(folder: str, name: str) -> str:
    return (read_text(os.path.join(folder, name)) or "").strip()


def _number(folder: str, name: str) -> int:
    raw = _text(folder, name)
    return int(raw, 16) if raw.startswith("0x") else 0


def _bars(folder: str) -> list[Bar]:
    lines = [line.split() for line in _text(folder, "resource").splitlines()[:BARS]]
    bars = [Bar(*(int(word, 16) for word in words)) for words in lines if len(words) == 3]
    return [bar for bar in bars if bar.flags & (IO | MEMORY)]


def _header_type(folder: str) -> int:
    try:
        with open(os.path.join(folder, "config"), "rb") as stream:
            return stream.read(64)[0x0E] & 0x7F
    except (OSError, IndexError):
        return 0


class Bus:
    """The PCI functions under /sys/bus/pci/devices of `root`. A function is refused
    by the rules of the driver (pci_check_kind(), pci_check_bars() of driver/parts/pci_check.c),
    as far as sysfs shows the facts that they need."""

    def __init__(self, root: str = "/") -> None:
        self.root = root
        self.base = os.path.join(root, "sys/bus/pci/devices")
        self.names = sorted(os.listdir(self.base)) if os.path.isdir(self.base) else []
        self._all_bars: dict[str, list[Bar]] = {}

    def folder(self, name: str) -> str:
        return os.path.join(self.base, name)

    def function(self, name: str) -> Function:
        folder = self.folder(name)
        driver = os.path.join(folder, "driver")
        bound = os.path.basename(os.path.realpath(driver)) if os.path.exists(driver) else ""
        ids = f"{_number(folder, 'vendor'):04x}:{_number(folder, 'device'):04x}"
        why, remedy = ("", "") if bound == OUR_DRIVER else self._why(name)
        used = [] if why or bound == OUR_DRIVER else uses(folder, self.root)
        return Function(name.removeprefix("0000:"), ids, bound, why, remedy, used)

    def at(self, bdf: int) -> Function | None:
        name = f"0000:{pci_name(bdf)}"
        return self.function(name) if name in self.names else None

    def _why(self, name: str) -> tuple[str, str]:
        folder = self.folder(name)
        if not name.startswith("0000:"):
            return "only segment 0000", "choose one of segment 0000"
        if _number(folder, "class") >> 16 == BRIDGE or _header_type(folder):
            return "a bridge", "give what is behind it"
        if _text(folder, "sriov_numvfs") not in ("", "0"):
            return (
                "it has virtual functions",
                "switch them off (echo 0 to its sriov_numvfs), or choose one of them",
            )
        if not os.path.exists(os.path.join(self.root, "sys/firmware/acpi/tables/MCFG")):
            return "no memory-mapped config space (no ACPI table MCFG)", "use a machine that has it"
        return self._bars_why(name)

    def _bars_why(self, name: str) -> tuple[str, str]:
        for bar in self.bars(name):
            if bar.flags & MEMORY and bar.flags & UNSET:
                return "its registers are not placed in memory", "see the kernel log (dmesg)"
            neighbour = self._neighbour(name, bar) if bar.flags & MEMORY else None
            if neighbour:
                return (
                    f"its registers share a page of 4 KiB with {neighbour.removeprefix('0000:')}",
                    "boot with pci=resource_alignment=12@BUS:DEV.FN for one of them",
                )
            never = next(
                (
                    port_range(low, high)
                    for low, high, _ in NEVER_PORTS
                    if bar.flags & IO and bar.first <= high and low <= bar.last
                ),
                None,
            )
            if never:
                return (
                    f"its registers lie over ports that no cell may have ({never})",
                    "choose another",
                )
        return "", ""

    def bars(self, name: str) -> list[Bar]:
        if name not in self._all_bars:
            self._all_bars[name] = _bars(self.folder(name))
        return self._all_bars[name]

    def _neighbour(self, name: str, bar: Bar) -> str | None:
        first, last = bar.first // PAGE * PAGE, bar.last // PAGE * PAGE + PAGE - 1
        for other in self.names:
            if other != name and any(
                theirs.flags & MEMORY and theirs.first <= last and theirs.last >= first
                for theirs in self.bars(other)
            ):
                return other
        return None
