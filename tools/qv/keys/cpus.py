# SPDX-License-Identifier: GPL-2.0-only
"""`cpus`: the CPUs that Linux gives to the cell."""

from __future__ import annotations

from .. import abi
from ..nodes import MappingNode, Node, SequenceNode
from ..words import cpu_list, number, shown
from .key import Context, Key, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..machine import Machine
    from . import CellConfig
    from .key import Wrong

EXAMPLE = "CPU numbers such as [2, 3] or 2-3"
RANGE = r"(0|[1-9][0-9]{0,8})(?:-(0|[1-9][0-9]{0,8}))?"

Cpus = list[int]


def parse(node: Node, context: Context) -> Cpus | None:
    if isinstance(node, MappingNode) or node.tag not in ("seq", "int", "str"):
        context.bad_kind(node, EXAMPLE)
        return None
    items = node.value if isinstance(node, SequenceNode) else [node]
    if not items:
        context.bad(node, "the list is empty", "at least one CPU, such as [3]")
        return None
    if _may_be_a_count(node, context):
        return None
    cpus: Cpus = []
    for item, cpu in [(item, cpu) for item in items for cpu in _numbers(item, context)]:
        if not _exists(item, cpu, context):
            continue
        if cpu in cpus:
            context.bad(item, f"CPU {cpu} is listed twice", "each CPU once")
        else:
            cpus.append(cpu)
    if len(cpus) > abi.MAX_CPUS:
        context.bad(node, f"{len(cpus)} CPUs are listed", f"at most {abi.MAX_CPUS}")
    return cpus or None


def _may_be_a_count(node: Node, context: Context) -> bool:
    """Asks about a number alone: CPU 2, or two CPUs? With 1, both mean CPU 1 where that is free."""
    raw = node.value if node.tag == "int" else None
    usable = sorted(context.machine.cpus - {0})
    if not isinstance(raw, str) or not matched(r"[1-9][0-9]{0,3}", raw) or int(raw) < 2:
        return False
    ways = [f"[{raw}] for CPU {raw}"] if int(raw) in usable else []
    if int(raw) <= min(len(usable), abi.MAX_CPUS):
        some = ", ".join(map(str, usable[: int(raw)]))
        ways.append(f"[{some}] for {number(int(raw), 'CPU')}")
    if not ways:
        return False
    context.bad(node, f"{raw} could be a CPU or a count", " or ".join(ways))
    return True


def _numbers(node: Node, context: Context) -> list[int]:
    """Returns the CPUs that an item names: one CPU, or several as Linux writes them (2-3,
    `1,3`)."""
    raw = scalar(node, context, "a CPU number such as 3, or a range such as 2-3", ("int", "str"))
    numbers: list[int] = []
    for part in raw.split(",") if raw is not None else ():
        match = matched(RANGE, part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last - first >= abi.MAX_CPUS:
            if match is None:
                wrong = f"`{shown(str(raw))}` is not a CPU number"
            else:
                wrong = f"the range {part.strip()} " + (
                    "runs backwards" if first > last else f"has more than {abi.MAX_CPUS} CPUs"
                )
            context.bad(node, wrong, "a plain decimal number such as 3, or a range such as 2-3")
            return []
        numbers += range(first, last + 1)
    return numbers


def _exists(node: Node, cpu: int, context: Context) -> bool:
    usable = context.machine.cpus - {0}
    right = one_of(usable) if usable else "a machine with more CPUs"
    if cpu == 0:
        context.bad(node, "CPU 0 always stays with Linux", right)
    elif cpu not in context.machine.cpus:
        context.bad(node, f"CPU {cpu} does not exist here", right)
    else:
        return True
    return False


def one_of(cpus: frozenset[int]) -> str:
    listed = cpu_list(sorted(cpus))
    return f"one or more of {listed}" if len(cpus) > 1 else f"{listed}, the only one"


def clash(cell: CellConfig, other: CellConfig, whose: str, _machine: Machine) -> Iterator[Wrong]:
    for cpu in sorted(set(cell.cpus) & set(other.cpus)):
        yield "cpus", f"CPU {cpu} is also given to {whose}", "each CPU to one cell"


def taken(cell: CellConfig, machine: Machine) -> Iterator[Wrong]:
    others = [other for other in machine.cells if other.name != cell.name]
    gone = {cpu for other in machine.cells for cpu in other.cpus}
    free = machine.cpus - gone - machine.offline - {0}
    right = one_of(free) if free else "no CPU is free: destroy a cell"
    for cpu in cell.cpus:
        holder = next((other.name for other in others if cpu in other.cpus), None)
        if holder:
            yield "cpus", f"CPU {cpu} belongs to the cell {holder}", right
        elif cpu in machine.offline - gone:
            yield (
                "cpus",
                f"CPU {cpu} is offline",
                f"{right}; or echo 1 >/sys/devices/system/cpu/cpu{cpu}/online",
            )


def pack(cell: CellConfig, request: abi.CellCreate) -> None:
    request.num_cpus = len(cell.cpus)
    request.cpus[: len(cell.cpus)] = cell.cpus


def data(info: abi.CellInfo) -> dict[str, Any]:
    return {"cpus": list(info.cpus)[: min(info.num_cpus, abi.MAX_CPUS)]}


def show(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [("cpus", cpu_list(sorted(found["cpus"])))]


KEY = Key(
    "cpus",
    "the CPUs that Linux gives to the cell",
    "list: `[2, 3]`, or Linux's notation: `2-3`, `1,3`",
    "",
    EXAMPLE,
    parse,
    required=True,
    clash=clash,
    taken=taken,
    pack=pack,
    data=data,
    show=show,
)
