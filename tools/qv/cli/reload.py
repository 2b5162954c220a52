# SPDX-License-Identifier: GPL-2.0-only
"""systemctl reload of a cell's unit: replaces the cell if its file or a file that it names has
changed. The new file is checked while the cell runs, and a wrong one changes nothing.

ask() runs as ExecReload=. It signals the unit's process, which answers by the file NAME.reload in
the folder of the unit: empty if the cell is as the file says, else why it is not."""

from __future__ import annotations

import os
import signal

from .. import abi, dropin, mark
from ..errors import Failed, Refused
from ..heirs import check_no_heir
from .needs import check_name, check_required
from .wanted import wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..service import Service
    from ..system import System
    from .command import Arguments
    from .keep import Keeper
    from .wanted import Wanted

LOOK = 0.02  # seconds between two looks for the answer


def _answer_file(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.reload")


def _answer(keeper: Keeper, words: str = "") -> None:
    """Answers ask(). It is renamed when it is complete."""
    place = _answer_file(keeper.folder, keeper.name)
    try:
        with open(f"{place}.new", "w", encoding="utf-8") as stream:
            stream.write(words)
        os.rename(f"{place}.new", place)
    except OSError:
        pass  # the journal has the words, and the cell is more important


def _taken_answer(place: str) -> str | None:
    """Returns the answer and removes it; None if the process has not answered yet."""
    try:
        with open(place, encoding="utf-8") as stream:
            words = stream.read()
        os.unlink(place)
    except FileNotFoundError:
        return None
    return words


def ask(args: Arguments, system: System, service: Service) -> int:
    """Asks the unit's process to read its file again, and waits until it has. systemd, which limits
    this time, gives the number of the process."""
    cell = wanted(args, system).cell
    check_name(cell, system.root)  # another name would be that of another unit's answer
    name = cell.name
    unit, process = dropin.unit(name), os.environ.get("MAINPID", "")
    if not process.isdigit():
        raise Refused("--reload is for the unit of a cell", f"systemctl reload {unit}")
    place = _answer_file(service.folder or os.path.join(system.root, mark.FOLDER), name)
    _taken_answer(place)  # of a call that was ended
    try:
        os.kill(int(process), signal.SIGHUP)
        while (words := _taken_answer(place)) is None:
            os.kill(int(process), 0)
            if service.sleep(LOOK):
                raise Refused(f"cell {name} was not replaced in time", f"systemctl status {unit}")
    except ProcessLookupError:
        raise Refused(
            f"the process of {unit} ended when it read the file again", f"systemctl status {unit}"
        ) from None
    if words:
        sentence, _, remedy = words.partition("\n  remedy: ")
        raise Refused(sentence, remedy)
    return 0


def _read(keeper: Keeper) -> Wanted:
    now = wanted(keeper.args, keeper.system)
    if now.cell.name != keeper.name:
        raise Refused(
            f"the file is that of a cell {now.cell.name} now",
            f"systemctl restart the unit, or correct `name:`, which was {keeper.name}",
        )
    if now.digest != keeper.digest:
        check_required(now.cell, keeper.system, keeper.service)
    return now


def _kept(keeper: Keeper, what: str, why: Failed) -> str:
    words = f"cell {keeper.name} {what}: {why.text().removeprefix('qvctl: ')}"
    keeper.say("kept", words)
    return words


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
        _answer(keeper, _kept(keeper, "stays as it is, since its file is refused", why))
        return
    if now.digest == before.digest:
        keeper.use(now)
        if keeper.state() == abi.State.FAILED:
            same = Refused(
                "no file that makes it has changed",
                f"`qvctl cell show {keeper.name}` says why it failed; then qvctl cell recover "
                f"{keeper.name}",
            )
            _answer(keeper, _kept(keeper, "stays failed", same))
            return
        keeper.say(
            "unchanged", f"cell {keeper.name} stays as it is: no file that makes it has changed"
        )
        _answer(keeper)
        return
    try:
        check_no_heir(keeper.device, keeper.name)
    except Refused as why:
        _answer(keeper, _kept(keeper, "stays as it is", why))
        return
    _end(keeper)
    keeper.use(now)
    try:
        keeper.begin()
        _answer(keeper)
    except Refused as why:
        words = _kept(keeper, "starts again as it was, since the new one is refused", why)
        keeper.use(before)
        keeper.begin(again=True)
        _answer(keeper, words)
    if keeper.service.watchdog:
        keeper.service.tell(f"WATCHDOG_USEC={round(keeper.service.watchdog * 1e6)}")
    keeper.report_ready()
