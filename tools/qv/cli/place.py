# SPDX-License-Identifier: GPL-2.0-only
"""qvctl place: in which cells programs run, and the moves that make room for them, by files."""

from __future__ import annotations

from .. import admission, config, output, placement, programs
from ..admission import Vcpu
from ..errors import Refused, WrongConfiguration, WrongUsage
from ..keys import vcpus
from ..record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..keys import CellConfig
    from ..programs import Named
    from ..system import System
    from .command import Arguments

ONE = 1 << admission.UNITS
# the VCPU that Quest creates if a word migrate=CHANNEL is on its command line
MIGRATION = vcpus.Named("migration", Vcpu(10000, 200000))


@dataclass
class Placed:
    """The result: the cells with all programs that have a place, and the steps that led there."""

    cells: Sequence[CellConfig]
    programs: Sequence[Named]
    system: placement.System
    steps: list[dict[str, Any]] = field(default_factory=list)


def place(args: Arguments, system: System) -> int:
    lists = [file for file in args.files if programs.holds_programs(file)]
    files = [file for file in args.files if file not in lists]
    if not files or not lists:
        raise _missing(args.files, "a cell" if lists else "programs")
    machine = system.machine().as_any()
    cells, problems = config.check_files(files, machine)
    named: list[Named] = []
    for file in lists:
        found, wrong = programs.read(file, cells, machine)
        named += found
        problems += wrong
    if problems:
        raise WrongConfiguration(problems)
    if len(cells) > placement.CELLS:
        raise Refused(f"there are {len(cells)} cells", f"{placement.CELLS} at most")
    placed = Placed(cells, named, _system(cells, named))
    _check_present(placed)
    for number, at in enumerate(placed.system.at):
        if at is None:
            _place_one(placed, number, args.policy)
    found_all = None not in placed.system.at
    if args.json:
        output.as_json(_facts(placed, args.policy))
    else:
        _show(placed)
    return 0 if found_all else 1


def _missing(files: Sequence[str], what: str) -> Exception:
    """Says why no file describes what is needed. If a file cannot be read, or is no YAML, that is
    the reason."""
    problems = [problem for file in files for problem in programs.unreadable(file)]
    if problems:
        return WrongConfiguration(problems)
    sentence = f"no file describes {what}"
    if any(programs.is_stream(file) for file in files):
        sentence += ": programs come from a file, not from a pipe"
    return WrongUsage(sentence, "qvctl place CELL.yaml... PROGRAMS.yaml")


def _own(cell: CellConfig) -> list[Vcpu]:
    listed = list(cell.vcpus)
    if programs.migrates(cell) and MIGRATION.name not in (one.name for one in listed):
        listed.append(MIGRATION)
    return [one.vcpu for one in vcpus.everybody(listed) if one.vcpu]


def _system(cells: Sequence[CellConfig], named: Sequence[Named]) -> placement.System:
    links, peers = programs.links(cells), programs.peers(cells)
    return placement.System(
        [
            placement.Cell(_own(cell), cell.admission == "exact", links[number], peers[number])
            for number, cell in enumerate(cells)
        ],
        [one.program for one in named],
    )


def _check_present(placed: Placed) -> None:
    """Raises Refused if a cell does not admit the programs that run there."""
    system = placed.system
    for number, cell in enumerate(placed.cells):
        there = [at for at, where in enumerate(system.at) if where == number]
        admitted = system.admits(number, there[0]) if there else True
        if not admitted:
            names = ", ".join(placed.programs[at].name for at in there)
            raise Refused(
                f"cell {cell.name} does not admit the programs that run there: {names}",
                "smaller C, longer T, another cell under `at`, "
                f"or `admission: exact` in {cell.file}",
            )


def _place_one(placed: Placed, number: int, policy: str) -> None:
    """Places a program. Records the steps."""
    system = placed.system
    plan = placement.make_room(system, policy, number)
    if plan is None:
        return
    for move in plan.moves:
        system.at[move.program] = move.to
        placed.steps.append(
            {
                "action": "move",
                "program": placed.programs[move.program].name,
                "from": placed.cells[move.source].name,
                "to": placed.cells[move.to].name,
                "for": placed.programs[number].name,
            }
        )
    system.at[number] = plan.cell
    placed.steps.append(
        {
            "action": "start",
            "program": placed.programs[number].name,
            "from": None,
            "to": placed.cells[plan.cell].name,
            "for": None,
        }
    )


def _facts(placed: Placed, policy: str) -> dict[str, Any]:
    cells, system = placed.cells, placed.system

    def name(cell: int | None) -> str | None:
        return None if cell is None else cells[cell].name

    return {
        "policy": policy,
        "steps": placed.steps,
        "programs": [
            {
                "name": one.name,
                "near": name(one.program.near),
                "at": name(one.program.at),
                "cell": name(at),
            }
            for one, at in zip(placed.programs, system.at)
        ],
        "cells": [
            {
                "name": cell.name,
                "admission": cell.admission,
                "load": system.load(number) / ONE,
                "links": sorted(cells[other].name for other in system.cells[number].links),
            }
            for number, cell in enumerate(cells)
        ],
    }


def _needs(program: placement.Program) -> str:
    return ", ".join(f"{vcpus.written(v.budget)}/{vcpus.written(v.period)}" for v in program.vcpus)


def _show(placed: Placed) -> None:
    system, cells = placed.system, placed.cells

    def name(cell: int | None) -> str:
        return "-" if cell is None else cells[cell].name

    output.table(
        ("PROGRAM", "C/T", "NEAR", "CELL"),
        [
            (one.name, _needs(one.program) or "-", name(one.program.near), name(at))
            for one, at in zip(placed.programs, system.at)
        ],
    )
    for number, step in enumerate(placed.steps, 1):
        if step["action"] == "move":
            output.line(
                f"{number}. move {step['program']} from {step['from']} to {step['to']}, "
                f"to make room for {step['for']}"
            )
        else:
            output.line(f"{number}. start {step['program']} in {step['to']}")
    for one, at in zip(placed.programs, system.at):
        if at is None:
            output.line(
                f"no cell admits {one.name}, and no {placement.MOVES} moves make room for it"
            )
    loads = (
        f"{cell.name} {vcpus.percent(system.load(number))}" for number, cell in enumerate(cells)
    )
    output.line("loads: " + ", ".join(loads))
