# SPDX-License-Identifier: GPL-2.0-only
"""qvctl channel list, show, send, watch."""

from __future__ import annotations

import errno
import os
import sys

from .. import output
from ..condition import state_name
from ..errors import Refused, WrongUsage
from ..keys import channels as key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..system import System
    from .command import Arguments

FOLDER = "/dev/qv-channel"
LINUX = "linux"
REMEDIES = {
    errno.EAGAIN: "start the cell at the other end",
    errno.ENOBUFS: "the ring is full: let its reader take items",
    errno.EPIPE: "the other end has stopped or failed: qvctl cell show says why",
    errno.EOPNOTSUPP: "Linux is at the other end of this channel",
    errno.EBUSY: "end the program that uses this end",
    errno.EBADMSG: "the other end wrote what cannot be: restart it",
}


def _all(system: System) -> dict[str, dict[str, Any]]:
    """Returns the channels of all cells. Each has the state of its ends: of a cell its state, or
    `absent`; of Linux `running`."""
    device = system.device()
    infos = [device.info(name) for name in device.names()]
    states = {LINUX: "running", **{info.name.decode(): state_name(info.state) for info in infos}}
    found: dict[str, dict[str, Any]] = {}
    for info in infos:
        for channel in key.data(info)["channels"]:
            ends = [channel["writer"], *channel["readers"]]
            path = os.path.join(FOLDER, channel["name"]) if LINUX in ends else None
            found[channel["name"]] = {
                **channel, "device": path, "memory": key.PAGE,
                "ends": [{"name": end, "state": states.get(end, "absent")} for end in ends]}
    return found


def _one(system: System, name: str) -> dict[str, Any]:
    channels = _all(system)
    if name not in channels:
        raise Refused(f"no cell has a channel '{name}'", "see 'qvctl channel list'")
    return channels[name]


def _ends(channel: dict[str, Any]) -> str:
    return " ".join(f"{end['name']}:{end['state']}" for end in channel["ends"])


def list_channels(args: Arguments, system: System) -> int:
    found = list(_all(system).values())
    if args.json:
        output.as_json({"channels": found})
        return 0
    output.table(("NAME", "TYPE", "ITEM", "SLOTS", "ENDS", "DEVICE"),
                 [[c["name"], c["type"], str(c["item"]), str(c["slots"]) if c["type"] == "ring" else "", _ends(c),
                   c["device"] or ""] for c in found], frozenset({2, 3}))
    return 0


def show_channel(args: Arguments, system: System) -> int:
    channel = _one(system, args.channel)
    if args.json:
        output.as_json(channel)
        return 0
    full = f", full: {channel['full']}" if channel["full"] else ""
    lines = [("name", channel["name"]), ("type", f"{channel['type']}{full}"), ("item", f"{channel['item']} bytes"),
             ("slots", str(channel["slots"])), ("writer", channel["writer"]), ("readers", ", ".join(channel["readers"])),
             ("ends", _ends(channel)), ("reconnect", channel["reconnect"]), ("schema", channel["schema"] or "none"),
             ("device", channel["device"] or "none: Linux has no end"), ("memory", f"{channel['memory'] >> 20} MiB")]
    for name, value in lines:
        output.line(f"{name + ':':13}{value}")
    return 0


def _open(channel: dict[str, Any], flags: int) -> int:
    if not channel["device"]:
        raise Refused(f"Linux has no end of the channel '{channel['name']}'", "name linux in the files of its cells")
    try:
        return os.open(channel["device"], flags)
    except OSError as error:
        raise Refused(f"{channel['device']}: {(error.strerror or 'error').lower()}",
                      "end the program that uses it, or become a user who may") from None


def send(args: Arguments, system: System) -> int:
    """Writes one item, filled up with zeros."""
    channel = _one(system, args.channel)
    data = args.text.encode() if args.text is not None else sys.stdin.buffer.read(channel["item"] + 1)
    if len(data) > channel["item"]:
        raise WrongUsage(f"an item of {channel['name']} has {channel['item']} bytes at most")
    descriptor = _open(channel, os.O_WRONLY | os.O_NONBLOCK)
    try:
        os.write(descriptor, data.ljust(channel["item"], b"\0"))
    except OSError as error:
        raise Refused(f"{channel['name']} did not take the item: {(error.strerror or 'error').lower()}",
                      REMEDIES.get(error.errno or 0, "see 'qvctl channel show'")) from None
    finally:
        os.close(descriptor)
    return 0


def _text(data: bytes) -> str:
    """The item as text if it is one, else in hexadecimal."""
    bare = data.rstrip(b"\0")
    return bare.decode() if bare and all(0x20 <= byte < 0x7f for byte in bare) else data.hex()


def watch(args: Arguments, system: System) -> int:
    """Prints items as they come, until the writer stops. As --json: a document per line."""
    channel = _one(system, args.channel)
    descriptor = _open(channel, os.O_RDONLY)
    left = args.count
    try:
        while data := os.read(descriptor, channel["item"]):
            if args.json:
                output.as_json({"channel": channel["name"], "hex": data.hex()})
            else:
                output.line(_text(data))
            left -= 1
            if not left:
                break
    except OSError as error:
        raise Refused(f"{channel['name']} gives no more items: {(error.strerror or 'error').lower()}",
                      REMEDIES.get(error.errno or 0, "see 'qvctl channel show'")) from None
    finally:
        os.close(descriptor)
    return 0
