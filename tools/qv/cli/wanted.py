# SPDX-License-Identifier: GPL-2.0-only
"""The cell that a unit keeps running: its file, the files that this names, and its settings for
failures and the end."""

from __future__ import annotations

import os

from .. import mark
from ..errors import Refused
from ..keys.unit import Restart
from .create import checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..files import Files
    from ..keys import CellConfig
    from ..system import System
    from .command import Arguments


class Wanted:
    """`timeout` are the milliseconds that the cell has to end. `digest` is the hash of all that the
    driver gets to create it."""

    def __init__(self, cell: CellConfig, contents: Files, restart: Restart, timeout: int) -> None:
        self.cell, self.contents = cell, contents
        self.restart, self.timeout = restart, timeout
        self.digest = mark.digest(cell, contents)


def settings(
    cell: CellConfig, args: Arguments, environment: Mapping[str, str]
) -> tuple[Restart, int]:
    """Returns what happens after failures, and the milliseconds to end in. An option counts more
    than the cell's file, and the file more than /etc/qv/qv.conf, which systemd makes
    environment."""

    def number(name: str, default: int) -> int:
        value = environment.get(name) or str(default)
        if not value.isascii() or not value.isdigit() or len(value) > 7:
            raise Refused(f"{name}={value} is not a number", "correct it in /etc/qv/qv.conf")
        return int(value)

    usual = Restart()
    restart = cell.restart or Restart(
        number("QV_RESTARTS", usual.limit),
        number("QV_RESTART_FIRST_MS", usual.first),
        max(number("QV_RESTART_MOST_MS", usual.most), 1),
        number("QV_RESTART_HEALTHY_MS", usual.healthy),
    )
    if args.restarts is not None:
        restart = Restart(args.restarts, restart.first, restart.most, restart.healthy)
    stop = number("QV_STOP_MS", 5000) if cell.stop is None else cell.stop
    return restart, stop if args.timeout is None else args.timeout


def wanted(args: Arguments, system: System) -> Wanted:
    """Reads and checks the file as it is now."""
    cell, contents = checked(args.file, args.force, system, system.running().with_all_memory())
    return Wanted(cell, contents, *settings(cell, args, os.environ))
