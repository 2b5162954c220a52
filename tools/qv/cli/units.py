# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell enable, disable: whether systemd starts the unit of a cell at boot."""

from __future__ import annotations

import os

from .. import config, dropin, order, output
from ..errors import Refused, WrongConfiguration
from .needs import said_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..keys import CellConfig
    from ..system import System
    from .command import Arguments


def _named(name: str, system: System) -> CellConfig:
    """Returns the cell of the file that the unit reads. Nothing is changed before all files are
    correct, so a wrong file leaves its old drop-in and all other cells alone."""
    file = dropin.file_of(system.root, name)
    cells, problems = config.check_files([file], system.running().with_all_memory())
    if problems:
        raise WrongConfiguration(problems)
    if cells[0].name != name:
        raise Refused(
            f"{file} describes a cell named {cells[0].name}",
            f"name the file {cells[0].name}.yaml, or the cell {name}",
        )
    return cells[0]


def _explained(refusal: Refused, cells: list[CellConfig], system: System) -> Refused:
    """Returns the reason of a unit that does not start. systemd says only that there was one."""
    for cell in cells:
        try:
            system.systemctl("is-failed", dropin.unit(cell.name))
        except Refused:
            continue  # this one has not failed
        if why := said_by(cell.name, system):
            return Refused(why, f"systemctl status {dropin.unit(cell.name)}", refusal.code)
    return refusal


def enable(args: Arguments, system: System) -> int:
    cells = [_named(name, system) for name in args.names]
    # A new writer of a channel starts before cells that were enabled earlier, too
    machine = system.running().with_all_memory()
    described = order.described(system.root, machine)
    earlier = [
        cell
        for cell in described.values()
        if cell.name not in args.names
        and dropin.is_enabled(system.root, cell.name)
        and not config.check_file(cell.file, machine)[1]
    ]
    if any(
        [
            dropin.write(system.root, cell, order.writers(cell, described))
            for cell in (*cells, *earlier)
        ]
    ):
        system.systemctl("daemon-reload")
    try:
        system.systemctl(
            "enable", *(["--now"] if args.now else []), *(dropin.unit(cell.name) for cell in cells)
        )
    except Refused as refusal:
        raise _explained(refusal, cells, system) from None
    for cell in cells:
        _say(
            args,
            cell.name,
            f"cell {cell.name} starts at boot{' and runs' if args.now else ''}",
            enabled=True,
        )
    return 0


def disable(args: Arguments, system: System) -> int:
    """Works without the cells' files, too. A name without a file and a unit is a typing error."""
    for name in args.names:
        file = dropin.file_of(system.root, name)
        known = dropin.is_enabled(system.root, name) or dropin.present(system.root, name)
        if not known and not os.path.lexists(file):
            raise Refused(
                f"no unit of a cell {name} starts at boot, and there is no {file}",
                "see `qvctl cell list --all`",
            )
    system.systemctl(
        "disable", *(["--now"] if args.now else []), *(dropin.unit(name) for name in args.names)
    )
    if any([dropin.remove(system.root, name) for name in args.names]):
        system.systemctl("daemon-reload")
    for name in args.names:
        _say(
            args,
            name,
            f"cell {name} no longer starts at boot{' and is shut down' if args.now else ''}",
            enabled=False,
        )
    return 0


def _say(args: Arguments, name: str, words: str, enabled: bool) -> None:
    if args.json:
        output.as_json({"name": name, "enabled": enabled})
    else:
        output.line(words)
