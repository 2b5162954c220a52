# SPDX-License-Identifier: GPL-2.0-only
"""`devices`: the PCI functions that the cell has, with their I/O ports."""

from __future__ import annotations

from .. import abi
from ..nodes import ScalarNode
from ..record import dataclass
from ..words import pci_name, port_range, shown
from . import name
from .key import Context, Key, listed, mapping, matched, scalar, truth
from .ports import overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..machine import Machine
    from ..nodes import Node
    from . import CellConfig
    from .key import Wrong

EXAMPLE = 'a list such as [{pci: "00:03.0", dma: off}]'
PCI_EXAMPLE = 'bus:device.function in hexadecimal, such as "00:03.0"'
DMA = {"off": abi.Dma.OFF, "protected": abi.Dma.PROTECTED}
# by enum qv_dma: the name in JSON, and the text of `cell show`
REACH = {
    abi.Dma.PROTECTED: ("protected", "DMA to the cell's memory only"),
    abi.Dma.OFF: ("off", "dma off"),
    abi.Dma.UNSAFE: ("unsafe", "UNSAFE-DMA: can reach all memory"),
    abi.Dma.BEST: ("best", "DMA not decided yet"),
    abi.Dma.HEIR: ("heir", "DMA as the cell that has it"),
}
PCI = r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])"


@dataclass(frozen=True)
class Device:
    """A PCI function of a cell, of segment 0."""

    bdf: int
    dma: abi.Dma
    heir_of: str = ""  # the cell that has it first

    def __str__(self) -> str:
        return pci_name(self.bdf)


Devices = list[Device]


def parse(node: Node, context: Context) -> Devices | None:
    return listed(node, context, EXAMPLE, _device, _twice, abi.MAX_DEVICES, "PCI functions")


def _twice(device: Device, earlier: Devices) -> tuple[str, str] | None:
    if device.bdf not in (other.bdf for other in earlier):
        return None
    return f"{device} is listed twice", "each PCI function once"


def _device(node: Node, context: Context) -> Device | None:
    values = mapping(
        node,
        context,
        "device",
        ("pci", "dma", "unsafe-dma", "heir-of"),
        'such as {pci: "00:03.0", dma: off}',
    )
    if values is None:
        return None
    if "pci" not in values:
        context.bad(node, "the device has no `pci`", 'its place, such as pci: "00:03.0"')
        return None
    bdf = _pci(values["pci"], context)
    if "heir-of" in values:
        return _heir(bdf, values, context)
    dma = _dma(values, context)
    return None if bdf is None or dma is None else Device(bdf, dma)


def _heir(bdf: int | None, values: dict[str, Node], context: Context) -> Device | None:
    for key in ("dma", "unsafe-dma"):
        if key in values:
            context.bad(
                values[key],
                f"`{key}` and `heir-of` exclude each other",
                "`heir-of` alone: the cell that has the function first sets its DMA",
            )
            return None
    cell = name.parse(values["heir-of"], context)
    return None if bdf is None or cell is None else Device(bdf, abi.Dma.HEIR, cell)


def _pci(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, PCI_EXAMPLE, ("str", "int", "float"))
    if raw is None:
        return None
    match = matched(PCI, raw.lower())
    if not match:
        context.bad(node, f"`{shown(raw)}` is not the place of a PCI function", PCI_EXAMPLE)
        return None
    if match[1] and int(match[1], 16):
        context.bad(node, f"segment {match[1]} is not supported", "a function of segment 0000")
        return None
    bdf = int(match[2], 16) << 8 | int(match[3], 16) << 3 | int(match[4])
    if context.machine.pci is not None and bdf not in context.machine.pci:
        context.bad(
            node, f"there is no PCI function {pci_name(bdf)} here", "one that `qvctl devices` lists"
        )
        return None
    return bdf


def _dma(values: dict[str, Node], context: Context) -> abi.Dma | None:
    dma = values.get("dma")
    if "unsafe-dma" in values:
        unsafe = truth(values["unsafe-dma"], context)
        if unsafe is None:
            return None
        if unsafe and dma is None:
            return abi.Dma.UNSAFE
        if unsafe and dma is not None:
            context.bad(dma, "`dma` and `unsafe-dma` exclude each other", "one of the two")
            return None
    if dma is None:
        return abi.Dma.BEST
    if not isinstance(dma, ScalarNode) or dma.value not in DMA:
        context.bad_kind(dma, "off or protected, or leave it out")
        return None
    return DMA[dma.value]


@dataclass(frozen=True)
class _Ports:
    """A range of ports that a cell asks for, with the key that names it."""

    key: str
    range: tuple[int, int]
    text: str


def _all_ports(cell: CellConfig, machine: Machine) -> list[_Ports]:
    listed = [_Ports("ports", ports, port_range(*ports)) for ports in cell.ports]
    return listed + [
        _Ports("devices", ports, f"{port_range(*ports)} of {device}")
        for device in cell.devices
        if not device.heir_of
        for ports in machine.pci_ports(device.bdf)
    ]


def clash(cell: CellConfig, other: CellConfig, whose: str, machine: Machine) -> Iterator[Wrong]:
    for device in cell.devices:
        same = [one for one in other.devices if one.bdf == device.bdf]
        if any(not device.heir_of and not one.heir_of for one in same):
            yield "devices", f"{device} is also given to {whose}", "each PCI function to one cell"
        if device.heir_of == other.name and not same:
            yield (
                "devices",
                f"{device} is not given to {whose}",
                "`heir-of: CELL` with a cell that lists the function",
            )
    for ports in _all_ports(cell, machine):
        for others in _all_ports(other, machine):
            same_device = ports.key == others.key == "devices" and ports.text == others.text
            if overlaps(ports.range, others.range) and not same_device:
                yield (
                    ports.key,
                    f"{ports.text} overlaps {others.text} of {whose}",
                    "each port to one cell",
                )


def taken(cell: CellConfig, machine: Machine) -> Iterator[Wrong]:
    for device in cell.devices:
        if device.heir_of == cell.name:
            yield (
                "devices",
                f"{device} cannot come from the cell itself",
                "`heir-of: CELL` with the cell that has the function first",
            )
    for other in (other for other in machine.cells if other.name != cell.name):
        for device in cell.devices:
            if device.bdf not in other.devices or device.heir_of == other.name:
                continue
            better = f"`heir-of: {other.name}`" if device.heir_of else "another PCI function"
            instead = f", not the cell {device.heir_of}'s" if device.heir_of else ""
            yield "devices", f"{device} is the cell {other.name}'s{instead}", better
        its = [*other.ports, *(one for bdf in other.devices for one in machine.pci_ports(bdf))]
        for ports in _all_ports(cell, machine):
            if any(overlaps(ports.range, one) for one in its):
                yield ports.key, f"{ports.text} has ports of the cell {other.name}", "other ports"


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.num_devices = len(cell.devices)
    for number, device in enumerate(cell.devices):
        request.devices[number] = abi.PciDevice(bdf=device.bdf, dma=device.dma)


def _data(device: abi.PciDevice) -> dict[str, Any]:
    return {
        "pci": pci_name(device.bdf),
        "dma": REACH[device.dma][0],
        "dma_blocked": device.state >> abi.DEVICE_BLOCKED_SHIFT,
        "unsafe_dma": device.dma == abi.Dma.UNSAFE,
        "pin": bool(device.state & abi.DEVICE_PIN),
        "messages": bool(device.state & abi.DEVICE_MESSAGES),
        "reset": not device.state & abi.DEVICE_NO_RESET,
        "virtual": bool(device.state & abi.DEVICE_VIRTUAL),
        "waits": bool(device.state & abi.DEVICE_HEIR),
    }


def data(info: abi.CellInfo) -> dict[str, Any]:
    devices = info.devices[: min(info.num_devices, abi.MAX_DEVICES)]
    return {"devices": [_data(device) for device in devices]}


def _text(device: dict[str, Any]) -> str:
    return ", ".join(
        [
            device["pci"],
            *(["another cell has it: this cell inherits it"] if device["waits"] else []),
            dict(REACH.values())[device["dma"]],
            *([f"blocked {device['dma_blocked']} times"] if device["dma_blocked"] else []),
            "pin connected" if device["pin"] else "no pin",
            *(["MSI"] if device["messages"] else []),
            *([] if device["reset"] else ["knows no reset"]),
            *(["virtual: Linux can lead its DMA in the cell"] if device["virtual"] else []),
        ]
    )


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("device", _text(device)) for device in found["devices"]]


KEY = Key(
    "devices",
    "PCI functions that the cell has",
    'list: `[{pci: "00:03.0", dma: off}]`',
    "`[]`",
    EXAMPLE,
    parse,
    clash=clash,
    taken=taken,
    pack=pack,
    data=data,
    show=show,
)
