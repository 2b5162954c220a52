# SPDX-License-Identifier: GPL-2.0-only
"""qvctl channel list, show, send, watch, hz, record, replay."""

from __future__ import annotations

import errno
import json
import os
import sys
import time

from .. import channelfs, output
from ..condition import state_name
from ..errors import NotAllowed, Refused, WrongUsage
from ..keys import channels as key
from ..window import Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from ..device import Device
    from ..system import System
    from .command import Arguments

FOLDER = "/dev/qv-channel"
LINUX = key.LINUX
REMEDIES = {
    errno.EAGAIN: "start the cell at the other end",
    errno.ENOBUFS: "the ring is full: let its reader take items",
    errno.EPIPE: "the other end has stopped or failed: qvctl cell show says why",
    errno.EOPNOTSUPP: "Linux is at the other end of this channel",
    errno.EBUSY: "end the program that uses this end",
    errno.EBADMSG: "the other end wrote what cannot be: restart it",
    errno.ENODATA: "the message was empty: it is the turn of Linux to write",
}


def _window(channel: dict[str, Any]) -> Window | None:
    """Returns None if Linux cannot look into the channel: it has no end, or no cell has started."""
    if not channel["device"]:
        return None
    try:
        return Window(channel["device"], channel["type"], channel["item"], channel["slots"], 1 + len(channel["readers"]))
    except OSError:
        return None


def _counts(channel: dict[str, Any]) -> dict[str, Any] | None:
    window = _window(channel)
    if window is None:
        return None
    with window:
        return window.counts().members()


def _all(system: System) -> dict[str, dict[str, Any]]:
    """Returns the channels of all cells. Each has the state of its ends: of a cell its state, or
    `absent`; of Linux `running`. A user who may not open /dev/qv sees the channels with an end of
    Linux, with the states of their life pages."""
    try:
        found = _of_driver(system.device())
    except NotAllowed:
        found = channelfs.channels()
    for channel in found.values():
        channel["counts"] = _counts(channel)
    return found


def _of_driver(device: Device) -> dict[str, dict[str, Any]]:
    infos = [device.info(name) for name in device.names()]
    states = {LINUX: "running", **{info.name.decode(): state_name(info.state) for info in infos}}
    found: dict[str, dict[str, Any]] = {}
    for info in infos:
        for channel in key.data(info)["channels"]:
            ends = [channel["writer"], *channel["readers"]]
            path = os.path.join(FOLDER, channel["name"]) if LINUX in ends else None
            found[channel["name"]] = {
                **channel, "device": path,
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
             ("device", _device(channel))]
    if channel["counts"]:
        lines += [(name.replace("_", " "), str(value)) for name, value in channel["counts"].items()
                  if value is not None]
    for name, value in lines:
        output.line(f"{name + ':':13}{value}")
    return 0


def _device(channel: dict[str, Any]) -> str:
    if not channel["device"]:
        return "none: Linux has no end"
    return f"{channel['device']}, {channel['owner']}, {channel['mode']}"


def hz(args: Arguments, system: System) -> int:
    """Prints the rate of items each `interval`. Takes no item. As --json: a document per line."""
    channel = _one(system, args.channel)
    window = _window(channel)
    if window is None or channel["type"] == "memory":
        raise Refused(f"{channel['name']} has no items that Linux can count",
                      "name linux in the files of its cells, and start one; a memory has no items")
    left = args.count
    with window:
        before, since = window.counts(), time.monotonic()
        while True:
            time.sleep(args.interval)
            now, at = window.counts(), time.monotonic()
            # a writer that has restarted counts from 0 again
            new = now.items - before.items if now.items >= before.items else now.items
            _rate(args.json, channel["name"], new / (at - since), now.members())
            before, since = now, at
            left -= 1
            if not left:
                return 0


def _rate(as_json: bool, name: str, rate: float, counts: dict[str, Any]) -> None:
    if as_json:
        output.as_json({"channel": name, "rate": round(rate, 3), **counts})
        return
    words = [f"{word.replace('_', ' ')} {value}" for word, value in counts.items() if value is not None]
    output.line(f"{rate:.1f} items/s, {', '.join(words)}")


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
        _put(descriptor, channel, data.ljust(channel["item"], b"\0"), f"{channel['name']} did not take the item")
    finally:
        os.close(descriptor)
    return 0


def _items(channel: dict[str, Any], count: int) -> Iterator[bytes]:
    """Takes items as they come, `count` of them (0: until the writer stops)."""
    descriptor = _open(channel, os.O_RDONLY)
    try:
        while data := os.read(descriptor, channel["item"]):
            yield data
            count -= 1
            if not count:
                return
    except OSError as error:
        raise Refused(f"{channel['name']} gives no more items: {(error.strerror or 'error').lower()}",
                      REMEDIES.get(error.errno or 0, "see 'qvctl channel show'")) from None
    finally:
        os.close(descriptor)


def record(args: Arguments, system: System) -> int:
    """Writes a line of JSON for each item: the seconds since the first, and its bytes."""
    channel = _one(system, args.channel)
    try:
        # pylint: disable-next=consider-using-with
        file = open(args.file, "w", encoding="ascii") if args.file else None
    except OSError as error:
        raise Refused(f"{args.file}: {(error.strerror or 'error').lower()}", "name a file that can be written") from None
    first = None
    try:
        for data in _items(channel, args.count):
            now = time.monotonic()
            first = now if first is None else first
            line = {"channel": channel["name"], "seconds": round(now - first, 6), "hex": data.hex()}
            if file:
                file.write(json.dumps(line) + "\n")
            else:
                output.as_json(line)
    finally:
        if file:
            file.close()
    return 0


def _recorded(channel: dict[str, Any], file: BinaryIO) -> Iterator[tuple[int, float, bytes]]:
    """The number, time and bytes of each line of a record. The bytes fill an item."""
    for number, line in enumerate(file, 1):
        try:
            found = json.loads(line)
            seconds, data = float(found["seconds"]), bytes.fromhex(found["hex"])
        except (ValueError, KeyError, TypeError):
            raise WrongUsage(f"line {number} is no line of 'qvctl channel record'") from None
        if len(data) > channel["item"] or (channel["type"] != "mailbox" and len(data) < channel["item"]):
            raise WrongUsage(f"line {number} has {len(data)} bytes, an item of {channel['name']} has {channel['item']}")
        yield number, seconds, data


def replay(args: Arguments, system: System) -> int:
    """Writes recorded items at the times of the record, `speed` times as fast."""
    channel = _one(system, args.channel)
    try:
        # pylint: disable-next=consider-using-with
        file = open(args.file, "rb") if args.file else sys.stdin.buffer
    except OSError as error:
        raise Refused(f"{args.file}: {(error.strerror or 'error').lower()}", "name a file of 'qvctl channel record'") from None
    with file:
        descriptor = _open(channel, os.O_WRONLY | os.O_NONBLOCK)
        start = time.monotonic()
        try:
            for number, seconds, data in _recorded(channel, file):
                time.sleep(max(0.0, start + seconds / args.speed - time.monotonic()))
                _put(descriptor, channel, data, f"{channel['name']} did not take the item of line {number}")
        finally:
            os.close(descriptor)
    return 0


def _put(descriptor: int, channel: dict[str, Any], data: bytes, words: str) -> None:
    try:
        os.write(descriptor, data)
    except OSError as error:
        raise Refused(f"{words}: {(error.strerror or 'error').lower()}",
                      REMEDIES.get(error.errno or 0, "see 'qvctl channel show'")) from None


def _text(data: bytes) -> str:
    """The item as text if it is one, else in hexadecimal."""
    bare = data.rstrip(b"\0")
    return bare.decode() if bare and all(0x20 <= byte < 0x7f for byte in bare) else data.hex()


def watch(args: Arguments, system: System) -> int:
    """Prints items as they come, until the writer stops. As --json: a document per line."""
    channel = _one(system, args.channel)
    for data in _items(channel, args.count):
        if args.json:
            output.as_json({"channel": channel["name"], "hex": data.hex()})
        else:
            output.line(_text(data))
    return 0
