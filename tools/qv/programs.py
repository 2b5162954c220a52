# SPDX-License-Identifier: GPL-2.0-only
"""Programs as YAML: a list of the VCPUs that they need, the cell or device that they want to be
near to, and the cell in which they run."""

from __future__ import annotations

import os

from . import config, placement, words
from .admission import Vcpu
from .keys import devices, vcpus
from .keys.key import Context, listed, mapping, matched, scalar, truth
from .nodes import Node, SequenceNode
from .problems import Problem, Problems
from .record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .keys import CellConfig
    from .machine import Machine

KEY = "programs"
KEYS = ("name", "C", "T", "vcpus", "near", "at", "stays")
EXAMPLE = "a list such as [{name: logger, C: 20ms, T: 100ms}]"
ONE = "such as {name: logger, C: 20ms, T: 100ms, near: two}"
MOST = 1024
NAME_LEN = 31


@dataclass(frozen=True)
class Named:
    name: str
    program: placement.Program  # times in us; cells by their place in the list of files


def holds_programs(file: str) -> bool:
    """Returns whether a file is a list of programs, and not a cell. Pipes are cells: they can be
    read once only."""
    if not os.path.isfile(file):
        return False
    return isinstance(config.compose(file, Problems(file)), SequenceNode)


def is_stream(file: str) -> bool:
    """Returns whether a file can be read once only: standard input, a pipe."""
    return file == "-" or (
        os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)
    )


def unreadable(file: str) -> list[Problem]:
    """Returns why a file has no YAML at all."""
    problems = Problems(file)
    if not is_stream(file):
        config.compose(file, problems)
    return problems.found


def read(
    file: str, cells: Sequence[CellConfig], machine: Machine
) -> tuple[list[Named], list[Problem]]:
    """Reads programs of these cells."""
    problems = Problems(file)
    root = config.compose(file, problems)
    context = Context(KEY, problems, machine, os.path.dirname(file))
    found = (
        None
        if root is None
        else listed(
            root,
            context,
            EXAMPLE,
            lambda node, known: _program(node, known, cells),
            _twice,
            MOST,
            KEY,
        )
    )
    return found or [], sorted(problems.found, key=lambda problem: problem.place)


def _twice(one: Named, earlier: list[Named]) -> tuple[str, str] | None:
    if one.name not in (other.name for other in earlier):
        return None
    return f"`{one.name}` is listed twice", "a name of its own for each program"


def _program(node: Node, context: Context, cells: Sequence[CellConfig]) -> Named | None:
    before = len(context.problems.found)
    values = mapping(node, context, "program", KEYS, ONE)
    if values is None:
        return None
    if "name" not in values:
        context.bad(node, "the program has no `name`", ONE)
        return None
    name = scalar(values["name"], context, "a name such as logger", ("str",))
    if name is not None and (not matched(r"[A-Za-z0-9._-]+", name) or len(name) > NAME_LEN):
        context.bad(
            values["name"],
            f"`{words.shown(name)}` is not the name of a program",
            f"1 to {NAME_LEN} letters, digits, -, _ and .",
        )
    needs = _needs(node, values, context)
    at = _cell(values["at"], context, cells) if "at" in values else None
    near = _near(values["near"], context, cells) if "near" in values else None
    stays = truth(values["stays"], context) if "stays" in values else False
    if name is None or len(context.problems.found) > before:
        return None
    return Named(name, placement.Program(needs, near, at, bool(stays)))


def _needs(node: Node, values: dict[str, Node], context: Context) -> list[Vcpu]:
    """Returns the VCPUs: one by the keys C and T, or those of a list as a cell's file has it."""
    both = "vcpus" in values and ("C" in values or "T" in values)
    if both or not ("vcpus" in values or ("C" in values and "T" in values)):
        context.bad(
            node,
            "the program has both `C`, `T` and `vcpus`"
            if both
            else "the program has not both `C` and `T`",
            "C and T, or vcpus: [{name: a, C: 2ms, T: 10ms}]",
        )
        return []
    if "vcpus" in values:
        found = vcpus.VCPUS.parse(values["vcpus"], context) or []
        return [one.vcpu for one in found if one.vcpu]
    budget, period = vcpus.time(values["C"], context), vcpus.time(values["T"], context)
    if budget is None or period is None:
        return []
    if budget > period:
        context.bad(values["C"], "the budget C is larger than the period T", "C at most T")
        return []
    return [Vcpu(budget, period)]


def _cell(node: Node, context: Context, cells: Sequence[CellConfig]) -> int | None:
    names = [cell.name for cell in cells]
    raw = scalar(node, context, "the name of a cell", ("str",))
    if raw is None or raw in names:
        return None if raw is None else names.index(raw)
    known = ", ".join(name for name in names if name)
    context.bad(
        node,
        f"no file has a cell `{words.shown(raw)}`",
        f"the file of the cell, or one of {known}" if known else "the file of the cell",
    )
    return None


def _near(node: Node, context: Context, cells: Sequence[CellConfig]) -> int | None:
    """Returns the cell itself, or the cell that has the device."""
    raw = scalar(node, context, "the name of a cell, or a PCI function", ("str",))
    if raw is None:
        return None
    if not matched(devices.PCI, raw):
        return _cell(node, context, cells)
    for number, cell in enumerate(cells):
        if raw.removeprefix("0000:") in map(str, cell.devices):
            return number
    context.bad(
        node,
        f"no cell of the files has the PCI function {raw}",
        "one of the key `devices` of a cell",
    )
    return None


def links(cells: Sequence[CellConfig]) -> list[set[int]]:
    """Returns for each cell the cells to which its programs can move: both have a word
    migrate=CHANNEL, where CHANNEL is a mailbox from the one to the other."""
    found: list[set[int]] = [set() for _ in cells]
    for number, cell in enumerate(cells):
        for channel in cell.channels:
            for other, peer in enumerate(cells):
                joins = channel.type == "mailbox" and channel.ends == [cell.name, peer.name]
                if joins and channel.name in migrates(cell) and channel.name in migrates(peer):
                    found[number].add(other)
    return found


def migrates(cell: CellConfig) -> list[str]:
    """Returns the mailboxes of the words migrate=CHANNEL[,MEMORY], which the key `migrate` adds."""
    beginning = "migrate="
    return [
        word[len(beginning) :].split(",")[0]
        for word in cell.command_line().split()
        if word.startswith(beginning)
    ]


def peers(cells: Sequence[CellConfig]) -> list[set[int]]:
    """Returns for each cell the cells that share a channel with it."""
    ends = [
        {end for channel in cell.channels for end in channel.ends} - {cell.name} for cell in cells
    ]
    return [{other for other, peer in enumerate(cells) if peer.name in near} for near in ends]
