# SPDX-License-Identifier: GPL-2.0-only
"""systemctl reload of a cell's unit: replaces the cell if its file or a file that it names has
changed. The new file is checked while the cell runs, and a wrong one changes nothing."""

from __future__ import annotations

from .. import abi
from ..errors import Failed, Refused
from .wanted import wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keep import Keeper
    from .wanted import Wanted


def _read(keeper: Keeper) -> Wanted:
    now = wanted(keeper.args, keeper.system)
    if now.cell.name != keeper.name:
        raise Refused(
            f"the file is that of a cell {now.cell.name} now",
            f"systemctl restart the unit, or correct `name:`, which was {keeper.name}",
        )
    return now


def _kept(keeper: Keeper, what: str, why: Failed) -> None:
    keeper.say("kept", f"cell {keeper.name} {what}: {why.text().removeprefix('qvctl: ')}")


def _end(keeper: Keeper) -> None:
    """systemd waits so long for the next sign of life."""
    keeper.service.tell("WATCHDOG=1", f"WATCHDOG_USEC={keeper.longest()}")
    if keeper.state() == abi.State.RUNNING:
        keeper.shut_down()
    keeper.copy_console(end=True)


def reload(keeper: Keeper) -> None:
    keeper.service.reload = False
    before = keeper.wanted
    try:
        now = _read(keeper)
    except Failed as why:
        _kept(keeper, "stays as it is, since its file is refused", why)
        return
    if now.digest == before.digest:
        keeper.use(now)
        if keeper.state() == abi.State.FAILED:
            keeper.say(
                "kept",
                f"cell {keeper.name} stays failed: no file that makes it has changed\n"
                f"  remedy: `qvctl cell show {keeper.name}` says why it failed; then qvctl cell "
                f"recover {keeper.name}",
            )
            return
        keeper.say(
            "unchanged", f"cell {keeper.name} stays as it is: no file that makes it has changed"
        )
        return
    _end(keeper)
    keeper.use(now)
    try:
        keeper.begin()
    except Refused as why:
        _kept(keeper, "starts again as it was, since the new one is refused", why)
        keeper.use(before)
        keeper.begin()
    if keeper.service.watchdog:
        keeper.service.tell(f"WATCHDOG_USEC={round(keeper.service.watchdog * 1e6)}")
    keeper.report_ready()
