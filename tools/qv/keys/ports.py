# SPDX-License-Identifier: GPL-2.0-only
"""`ports`: I/O ports that the cell may use without an exit.

devices.py compares them with those of other cells, since a device has ports too."""

from __future__ import annotations

from .. import abi
from ..words import port_range, shown
from .key import Context, Key, listed, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..nodes import Node
    from . import CellConfig

EXAMPLE = "a list such as [0x3f8-0x3ff, 0x80]"
RANGE_EXAMPLE = "a port such as 0x80 or a range such as 0x3f8-0x3ff"
RANGE = r"0x([0-9a-fA-F]{1,8})(?:\s*-\s*0x([0-9a-fA-F]{1,8}))?"

Range = tuple[int, int]
Ports = list[Range]

# Ports that no cell may have, since each reaches beyond the cell (hypervisor/core/ports.c has the
# reasons)
NEVER_PORTS = (
    (0x00, 0x1F, "DMA controller"),
    (0x20, 0x21, "interrupt controller"),
    (0x2E, 0x2F, "Super-I/O"),
    (0x40, 0x43, "PIT"),
    (0x4E, 0x4F, "Super-I/O"),
    (0x60, 0x60, "keyboard controller"),
    (0x61, 0x61, "NMI control"),
    (0x62, 0x62, "embedded controller"),
    (0x64, 0x64, "reset line"),
    (0x66, 0x66, "embedded controller"),
    (0x70, 0x77, "CMOS clock and NMI mask"),
    (0x81, 0x8F, "DMA pages"),
    (0x92, 0x92, "fast reset"),
    (0xA0, 0xA1, "interrupt controller"),
    (0xB2, 0xB3, "SMI command"),
    (0xC0, 0xDF, "DMA controller"),
    (0x4D0, 0x4D1, "interrupt controllers"),
    (0xCD4, 0xCD7, "power management"),
    (0xCF8, 0xCFF, "PCI config space and reset"),
)


def overlaps(one: Range, other: Range) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def parse(node: Node, context: Context) -> Ports | None:
    return listed(node, context, EXAMPLE, _one, _twice, abi.MAX_PORTS, "ranges")


def _one(node: Node, context: Context) -> Range | None:
    found = _range(node, context)
    return found if found is not None and _allowed(node, found, context) else None


def _twice(found: Range, earlier: Ports) -> tuple[str, str] | None:
    other = next((other for other in earlier if overlaps(found, other)), None)
    return (
        (f"{port_range(*found)} overlaps {port_range(*other)}", "each port once") if other else None
    )


def _range(node: Node, context: Context) -> Range | None:
    raw = scalar(node, context, RANGE_EXAMPLE, ("str", "int"))
    if raw is None:
        return None
    match = matched(RANGE, raw)
    if not match:
        bare = matched(r"[0-9]+", raw)
        context.bad(
            node,
            f"`{shown(raw)}` is not a port",
            f"{int(raw):#x}, in hexadecimal" if bare and int(raw) <= 0xFFFF else RANGE_EXAMPLE,
        )
        return None
    first = int(match[1], 16)
    last = int(match[2], 16) if match[2] else first
    if max(first, last) > 0xFFFF:
        context.bad(node, f"port {max(first, last):#x} does not exist", "0x0 to 0xffff")
        return None
    if first > last:
        context.bad(node, f"the range {raw} runs backwards", port_range(last, first))
        return None
    return first, last


def _allowed(node: Node, ports: Range, context: Context) -> bool:
    for low, high, what in NEVER_PORTS:
        if overlaps(ports, (low, high)):
            context.bad(
                node, f"no cell may have {port_range(low, high)}: {what}", "leave it to Linux"
            )
            return False
    return True


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.num_ports = len(cell.ports)
    for number, (first, last) in enumerate(cell.ports):
        request.ports[number] = abi.PortRange(first, last)


def data(info: abi.CellInfo) -> dict[str, Any]:
    ports = info.ports[: min(info.num_ports, abi.MAX_PORTS)]
    return {"ports": [port_range(port.first, port.last) for port in ports]}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("ports", ", ".join(found["ports"]) or "none")]


KEY = Key(
    "ports",
    "I/O ports that the cell may use without an exit",
    "list of ports and ranges: `[0x3f8-0x3ff, 0x80]`",
    "`[]`",
    EXAMPLE,
    parse,
    pack=pack,
    data=data,
    show=show,
)
