# SPDX-License-Identifier: GPL-2.0-only
"""Why a channel's device refused a call: a sentence and a remedy for each errno and state."""

from __future__ import annotations

import errno

from ..errors import Refused
from ..keys.channels import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Channel = dict[str, Any]
    Sentence = tuple[str, str]  # with its remedy

# The states of ends that do not run, in the words of the driver or of sysfs: sentence and remedy
STATES = {
    "absent": ("there is no cell {}", "create it from its file: qvctl cell create FILE --start"),
    "created": ("the cell {} has not started", "qvctl cell start {}"),
    "loadable": ("the cell {} has not started", "qvctl cell start {}"),
    "shut-down": ("the cell {} has stopped", "qvctl cell start {}"),
    "stopped": ("the cell {} has stopped", "qvctl cell start {}"),
    "failed": ("the cell {} failed", "qvctl cell show {} says why"),
}


def _peer(channel: Channel) -> tuple[str, str]:
    """Returns the name and the state of the other end; if there are several, of an end
    that does not run."""
    peers = [(end["name"], end["state"]) for end in channel["ends"] if end["name"] != LINUX]
    return min(peers, key=lambda peer: peer[1] == "running", default=("the cell", "running"))


def _not_running(channel: Channel) -> Sentence | None:
    name, state = _peer(channel)
    if state not in STATES:
        return None
    sentence, remedy = STATES[state]
    return sentence.format(name), remedy.format(name)


def _full(channel: Channel) -> Sentence:
    name, peer = channel["name"], _peer(channel)[0]
    return f"{name} is full: {peer} has not taken its items", "let its reader take items"


def _not_now(channel: Channel, attached: bool | None) -> Sentence:
    name, peer = channel["name"], _peer(channel)[0]
    if attached is False:
        return (
            f"no program of {peer} has opened {name} yet",
            f"start that program; `quesh {peer}` shows the console of the cell",
        )
    if channel["type"] == "mailbox":
        return f"{name} waits for the answer of {peer}", f"let the program of {peer} write it first"
    if channel["type"] == "ring":
        return _full(channel)
    return f"{name} took no item now", "try it again"


def _gone(channel: Channel) -> Sentence:
    name, peer = channel["name"], _peer(channel)[0]
    return (
        f"{peer} has restarted, and {name} does not connect again (reconnect: never)",
        "destroy all cells of the channel, and create them again",
    )


def _corrupt(channel: Channel) -> Sentence:
    name, peer = channel["name"], _peer(channel)[0]
    return (f"{peer} wrote to {name} something that cannot be", f"qvctl cell restart {peer}")


def _empty(channel: Channel) -> Sentence:
    name, peer = channel["name"], _peer(channel)[0]
    return f"the message of {peer} in {name} is empty", "it is the turn of Linux to write"


def _destroyed(channel: Channel) -> Sentence:
    return f"all cells of {channel['name']} are destroyed", "create them again"


def _in_use(channel: Channel) -> Sentence:
    name = channel["name"]
    return (
        f"another program has {name} open for writing",
        f"end it; `fuser {channel['device']}` shows its number",
    )


def _not_allowed(channel: Channel) -> Sentence:
    owner, mode = channel.get("owner") or "root", channel.get("mode") or "0660"
    return (
        f"this user may not open {channel['device']}",
        f"its owner is {owner}, its mode {mode}: become a user who may",
    )


def _no_device(channel: Channel) -> Sentence:
    return f"there is no device {channel['device']}", "qvctl channel list shows the channels"


# Errors of open(), read() and write() whose sentence needs no other fact
BY_ERROR: dict[int, Callable[[Channel], Sentence]] = {
    errno.ENOBUFS: _full,
    errno.EPIPE: _gone,
    errno.EBADMSG: _corrupt,
    errno.ENODATA: _empty,
    errno.ENODEV: _destroyed,
    errno.ENXIO: _destroyed,
    errno.EBUSY: _in_use,
    errno.EACCES: _not_allowed,
    errno.EPERM: _not_allowed,
    errno.ENOENT: _no_device,
}
# A cell that does not run explains these.
OF_PEER = (errno.EAGAIN, errno.EPIPE)


def waiting(channel: Channel, attached: bool | None) -> str:
    """Returns why a reader of the channel waits for its first item."""
    name, peer = channel["name"], _peer(channel)[0]
    stopped = _not_running(channel)
    if stopped:
        return stopped[0]
    if attached is False:
        return f"no program of {peer} has opened {name} yet"
    return f"{name} has no new item yet"


def _wrong_end(channel: Channel, writes: bool) -> Sentence:
    does = "reads" if writes else "writes"
    return f"Linux only {does} {channel['name']}", "Linux is at the other end of this channel"


def refusal(
    channel: Channel,
    error: OSError,
    writes: bool,
    attached: Callable[[], bool | None],
    before: str = "",
) -> Refused:
    """Returns the exception for an error of the device. `attached` returns whether the other end
    has opened the channel, or None if Linux cannot see that; `before` begins the sentence."""
    number = error.errno or 0
    stopped = _not_running(channel) if number in OF_PEER else None
    if stopped:
        sentence, remedy = stopped
    elif number == errno.EAGAIN:
        sentence, remedy = _not_now(channel, attached())
    elif number == errno.EOPNOTSUPP:
        sentence, remedy = _wrong_end(channel, writes)
    elif number in BY_ERROR:
        sentence, remedy = BY_ERROR[number](channel)
    else:
        why = (error.strerror or "error").lower()
        sentence, remedy = f"{channel['device']}: {why}", "see 'qvctl channel show'"
    return Refused(before + sentence, remedy)
