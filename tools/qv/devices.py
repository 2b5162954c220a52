# SPDX-License-Identifier: GPL-2.0-only
"""`qvctl devices`: the PCI functions of the machine, and which of them a cell could have."""

from __future__ import annotations

from pathlib import Path

from . import output
from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cli import Arguments
    from .system import System

BRIDGE = 0x06
OUR_DRIVER = "qv-cell"


@dataclass(frozen=True)
class Function:
    """One PCI function, as sysfs shows it."""

    name: str
    ids: str
    driver: str
    state: str


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> int:
    raw = _text(path)
    return int(raw, 16) if raw.startswith("0x") else 0


def _state(folder: Path, segment: str, driver: str) -> str:
    if driver == OUR_DRIVER:
        return "a cell's"
    if segment != "0000":
        return "no: only segment 0000"
    if _number(folder / "class") >> 16 == BRIDGE:
        return "no: a bridge"
    if (folder / "physfn").exists():
        return "no: a virtual function"
    return "yes"


def functions(root: Path) -> list[Function]:
    """All functions under /sys/bus/pci/devices of `root`."""
    base = root / "sys/bus/pci/devices"
    found = []
    for folder in sorted(base.iterdir()) if base.is_dir() else []:
        segment, _, name = folder.name.partition(":")
        link = folder / "driver"
        driver = link.resolve().name if link.exists() else ""
        ids = f"{_number(folder / 'vendor'):04x}:{_number(folder / 'device'):04x}"
        found.append(Function(name if segment == "0000" else folder.name, ids, driver,
                              _state(folder, segment, driver)))
    return found


def devices(args: Arguments, system: System) -> int:
    """What a line `devices:` may name."""
    found = functions(Path("/"))
    if args.json:
        output.as_json({"devices": [vars(f) for f in found]})
        return 0
    output.table(("PCI", "IDS", "DRIVER", "FOR A CELL"), [[f.name, f.ids, f.driver, f.state] for f in found],
                 frozenset())
    return 0
