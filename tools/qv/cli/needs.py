# SPDX-License-Identifier: GPL-2.0-only
"""Checks of a unit's process before it creates its cell: the name, QV, other cells."""

from __future__ import annotations

import os

from .. import dropin
from ..errors import NotEnabled, Refused, WrongConfiguration
from ..journal import ERROR
from ..problems import Problem
from ..words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..device import Device
    from ..errors import Failed
    from ..keys import CellConfig
    from ..service import Service
    from ..system import System


def check_name(cell: CellConfig, root: str) -> None:
    """systemd names the unit by the file, and other units and `qvctl` name it by the cell."""
    folder, name = os.path.split(os.path.abspath(cell.file))
    if folder != os.path.abspath(os.path.join(root, dropin.CELLS)) or name == f"{cell.name}.yaml":
        return
    wrong = f"the file {name} describes the cell {cell.name}, and its unit has the file's name"
    right = f"name the file {cell.name}.yaml, or the cell {name.removesuffix('.yaml')}"
    raise WrongConfiguration([Problem(cell.file, cell.at["name"], "name", wrong, right)])


def enable(device: Device, service: Service) -> None:
    """Enables QV if it is not. Where systemd runs this process, qv.service has that task and its
    options, and this unit only says why it could not."""
    status = device.status()
    if status.enabled:
        return
    if not service.folder:
        device.enable()
    elif status.obstacle:
        raise NotEnabled(
            f"qv.service could not enable QV: {text(status.obstacle_text)}",
            text(status.obstacle_remedy),
        )
    else:
        raise NotEnabled(
            "qv.service has not enabled QV",
            "systemctl restart qv.service; if that fails, systemctl status qv.service says why",
        )


def said_by(name: str, system: System) -> str:
    """Returns the last complaint of the unit of a cell since its last start; empty if it has none.
    It is what qvctl printed when it ended, or an entry of an error. Other entries, such as the
    lines of the cell's console, are no reasons."""
    start = system.invocation(dropin.unit(name))
    if not start:
        return ""
    mine = (f"_SYSTEMD_INVOCATION_ID={start}", "SYSLOG_IDENTIFIER=qvctl")
    lines = system.journal(
        "--lines=5", "--output=cat", *mine, "_TRANSPORT=stdout", "+", *mine, f"PRIORITY={ERROR}"
    )
    said = [line.strip() for line in lines if line.strip() and not line.startswith(" ")]
    return text(said[-1].removeprefix("qvctl: ").encode()) if said else ""


def check_required(cell: CellConfig, system: System, service: Service) -> None:
    """Refuses a cell whose required cells have no unit that runs. systemd has started these units
    before; it would not say why one of them failed."""
    for name in cell.requires if service.folder else ():
        unit = dropin.unit(name)
        try:
            system.systemctl("is-active", unit)
        except Refused:
            why = said_by(name, system)
            raise NotEnabled(
                f"cell {cell.name} requires cell {name}, whose unit "
                + (f"says: {why}" if why else "does not run"),
                f"systemctl status {unit}; when it runs: systemctl start {dropin.unit(cell.name)}",
            ) from None


def on_one_line(failure: Failed) -> str:
    """Returns sentence and remedy for a place with room for one line. systemd ignores a report of
    more than 4,096 bytes."""
    lines = failure.text().removeprefix("qvctl: ").splitlines()
    return "; ".join(line.strip() for line in lines)[:1000]
