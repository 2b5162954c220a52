# SPDX-License-Identifier: GPL-2.0-only
"""qvctl channel list, show, open, close, send, ring, watch, hz, record, replay."""

from __future__ import annotations

import fcntl
import json
import os
import select
import sys
import time

from .. import channelfs, output
from ..condition import state_name
from ..errors import NotAllowed, Refused, WrongUsage
from ..keys import channels as key
from ..keys import dynamic_channels
from ..window import Window
from ..words import channel_counts, text
from . import recordings
from .acting import infos_of
from .channel_refusals import refusal, waiting
from .recordings import Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..device import Device
    from ..system import System
    from ..window import Counts
    from .command import Arguments

FOLDER = "/dev/qv-channel"
LINUX = key.LINUX
QUIET = 2.0  # seconds without an item, until that is explained
RING = ord("q") << 8 | 0x62  # QV_CHANNEL_RING


def _window(channel: dict[str, Any]) -> Window | None:
    """Returns None if Linux cannot look into the channel: it has no end, or no cell has started."""
    if not channel["device"]:
        return None
    try:
        return Window(
            channel["device"],
            channel["type"],
            channel["item"],
            channel["slots"],
            1 + len(channel["readers"]),
        )
    except OSError:
        return None


def _look(channel: dict[str, Any]) -> Counts | None:
    window = _window(channel)
    if window is None:
        return None
    with window:
        return window.counts()


def counts(channel: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the members of `counts`; None if Linux cannot look into the channel. The channel has
    its `device`."""
    found = _look(channel)
    return found.members() if found else None


def _per_second(before: Counts, now: Counts, seconds: float) -> float:
    # a writer that has restarted counts from 0 again
    return (now.items - before.items if now.items >= before.items else now.items) / seconds


def _rate_of(channel: dict[str, Any], before: Counts | None, since: float) -> float | None:
    """Returns the items per second since `before`; None if Linux cannot count them."""
    now, at = _look(channel), time.monotonic()
    if not before or not now or channel["type"] == "memory":
        return None
    return round(_per_second(before, now, at - since), 3)


def _measure(channels: list[dict[str, Any]], seconds: float) -> None:
    """Adds `rate`, which takes so many seconds (0: null), `counts` and `last_error`."""
    rates: list[float | None] = [None] * len(channels)
    if seconds:
        first, since = [_look(channel) for channel in channels], time.monotonic()
        time.sleep(seconds)
        rates = [_rate_of(channel, before, since) for channel, before in zip(channels, first)]
    for channel, rate in zip(channels, rates):
        channel["counts"], channel["rate"] = counts(channel), rate
        channel["last_error"] = channelfs.last_error(channel["name"]) if channel["device"] else None


def _all(system: System, seconds: float = 0) -> dict[str, dict[str, Any]]:
    """Returns the channels of all cells. Each has the state of its ends: of a cell its state, or
    `absent`; of Linux `running`. A user who may not open /dev/qv sees the channels with an end of
    Linux, with the states of their life pages. The rates are measured for some seconds."""
    try:
        found = _named(system.device())
    except NotAllowed:
        found = channelfs.channels()
    _measure(list(found.values()), seconds)
    return found


def of_driver(device: Device) -> dict[str, dict[str, Any]]:
    """Returns the channels of all cells by name, with their counts, as in --json."""
    found = _named(device)
    for channel in found.values():
        channel["counts"] = counts(channel)
    return found


def _named(device: Device) -> dict[str, dict[str, Any]]:
    """Returns the channels of all cells without their counts, and without the cells that are
    destroyed meanwhile."""
    infos = infos_of(device)
    states = {LINUX: "running", **{info.name.decode(): state_name(info.state) for info in infos}}
    found: dict[str, dict[str, Any]] = {}
    for info in infos:
        for channel in key.data(info)["channels"] + dynamic_channels.opened(info):
            found[channel["name"]] = {
                **channel,
                "device": device_of(channel),
                "ends": [
                    {"name": end, "state": states.get(end, "absent")} for end in _names(channel)
                ],
            }
    return found


def _names(channel: dict[str, Any]) -> list[str]:
    return [channel["writer"], *channel["readers"]]


def device_of(channel: dict[str, Any]) -> str | None:
    return os.path.join(FOLDER, channel["name"]) if LINUX in _names(channel) else None


def _one(system: System, name: str, seconds: float = 0) -> dict[str, Any]:
    channels = _all(system, seconds)
    if name not in channels:
        raise Refused(f"no cell has a channel '{name}'", "see 'qvctl channel list'")
    return channels[name]


def _ends(channel: dict[str, Any]) -> str:
    return " ".join(f"{end['name']}:{end['state']}" for end in channel["ends"])


def _error_now(channel: dict[str, Any]) -> str | None:
    return channel["counts"]["error"] if channel["counts"] else None


def _last_error(channel: dict[str, Any]) -> str:
    last = channel["last_error"]
    return f"{last['error']} {output.ago(last['at_ns'])}" if last else ""


def _rate_text(channel: dict[str, Any]) -> str:
    return "" if channel["rate"] is None else f"{channel['rate']:.1f}/s"


def list_channels(args: Arguments, system: System) -> int:
    found = list(_all(system, args.rate).values())
    if args.json:
        output.as_json({"channels": found})
        return 0
    rate = ["RATE"] if args.rate else []
    output.table(
        ("NAME", "TYPE", "ITEM", "SLOTS", "ENDS", *rate, "ERROR", "DEVICE"),
        [
            [
                c["name"],
                c["type"],
                str(c["item"]),
                str(c["slots"]) if c["type"] == "ring" else "",
                _ends(c),
                *([_rate_text(c)] if rate else []),
                _error_now(c) or _last_error(c),
                c["device"] or "",
            ]
            for c in found
        ],
        frozenset({2, 3, 5} if rate else {2, 3}),
    )
    return 0


def show_channel(args: Arguments, system: System) -> int:
    channel = _one(system, args.channel, args.rate)
    if args.json:
        output.as_json(channel)
        return 0
    full = f", full: {channel['full']}" if channel["full"] else ""
    lines = [
        ("name", channel["name"]),
        ("type", f"{channel['type']}{full}"),
        ("item", f"{channel['item']} bytes"),
        ("slots", str(channel["slots"])),
        *_direction(channel),
        ("ends", _ends(channel)),
        ("reconnect", channel["reconnect"]),
        ("schema", channel["schema"] or "none"),
        ("device", _device(channel)),
    ]
    if channel["counts"]:
        lines += [
            (name.replace("_", " "), str(value))
            for name, value in channel["counts"].items()
            if value is not None
        ]
    lines += [
        (name, value)
        for name, value in (("rate", _rate_text(channel)), ("last error", _last_error(channel)))
        if value
    ]
    for name, value in lines:
        output.line(f"{name + ':':13}{value}")
    return 0


def _direction(channel: dict[str, Any]) -> list[tuple[str, str]]:
    writers = channel.get("writers") or [channel["writer"]]
    readers = [name for name in channel["readers"] if name not in writers]
    return [
        ("writer" if len(writers) == 1 else "writers", ", ".join(writers)),
        ("readers", ", ".join(readers) or "none"),
    ]


def _device(channel: dict[str, Any]) -> str:
    if not channel["device"]:
        return "none: Linux has no end"
    return f"{channel['device']}, {channel['owner']}, {channel['mode']}"


def hz(args: Arguments, system: System) -> int:
    """Prints the rate of items each `interval`. Takes no item. As --json: a document per line."""
    channel = _one(system, args.channel)
    window = _window(channel)
    if window is None or channel["type"] == "memory":
        raise Refused(
            f"{channel['name']} has no items that Linux can count",
            "name linux in the files of its cells, and start one; a memory has no items",
        )
    left = args.count
    with window:
        before, since = window.counts(), time.monotonic()
        while True:
            time.sleep(args.interval)
            now, at = window.counts(), time.monotonic()
            _rate(args.json, channel["name"], _per_second(before, now, at - since), now.members())
            before, since = now, at
            left -= 1
            if not left:
                return 0


def _rate(as_json: bool, name: str, rate: float, members: dict[str, Any]) -> None:
    if as_json:
        output.as_json({"channel": name, "rate": round(rate, 3), **members})
        return
    output.line(f"{rate:.1f} items/s, {channel_counts(members)}")


def _key(args: Arguments) -> int:
    if not args.key:
        raise WrongUsage("which channel? --key names it")
    return int(args.key)


def open_key(args: Arguments, system: System) -> int:
    key = _key(args)
    system.device().open_channel(args.name, key)
    path = os.path.join(FOLDER, f"key-{key:016x}")
    if args.json:
        output.as_json({"name": os.path.basename(path), "device": path})
    else:
        output.line(path)
    return 0


def close_key(args: Arguments, system: System) -> int:
    system.device().close_channel(args.name, _key(args))
    if args.json:
        output.as_json({})
    return 0


def _open(channel: dict[str, Any], flags: int) -> int:
    if not channel["device"]:
        raise Refused(
            f"Linux has no end of the channel '{channel['name']}'",
            "name linux in the files of its cells",
        )
    try:
        return os.open(channel["device"], flags)
    except OSError as error:
        writes = flags & os.O_ACCMODE != os.O_RDONLY
        raise refusal(channel, error, writes, lambda: _attached(channel)) from None


def _check_form(args: Arguments, channel: dict[str, Any]) -> None:
    if args.form and args.form.size > channel["item"]:
        raise WrongUsage(
            f"the format {args.form.text} has {args.form.size} bytes, "
            f"an item of {channel['name']} has {channel['item']}"
        )


def _item(args: Arguments, channel: dict[str, Any]) -> bytes:
    """Returns the bytes that a person wants to send."""
    data = (
        args.text.encode()
        if args.text is not None
        else sys.stdin.buffer.read(-1 if args.form else channel["item"] + 1)
    )
    if args.form:
        _check_form(args, channel)
        try:
            data = args.form.pack(data.decode("utf-8", "replace").split())
        except ValueError as error:
            raise WrongUsage(str(error)) from None
    if not data:
        raise WrongUsage(
            "the item is empty: nothing is sent", "give a text; --format B --text 0 sends zeros"
        )
    if len(data) > channel["item"]:
        raise WrongUsage(f"an item of {channel['name']} has {channel['item']} bytes at most")
    return data


def send(args: Arguments, system: System) -> int:
    """Writes one item, filled up with zeros."""
    channel = _one(system, args.channel)
    data = _item(args, channel)
    descriptor = _open(channel, os.O_WRONLY | os.O_NONBLOCK)
    try:
        _put(descriptor, channel, data.ljust(channel["item"], b"\0"))
    finally:
        os.close(descriptor)
    return 0


def ring(args: Arguments, system: System) -> int:
    """Rings the bell of the other ends once, as a write does, without writing an item."""
    channel = _one(system, args.channel)
    descriptor = _open(channel, os.O_WRONLY | os.O_NONBLOCK)
    try:
        if not channel.get("bell"):
            raise Refused(
                f"the channel '{channel['name']}' has no bell",
                "say 'bell: true' in the files of its cells",
            )
        if not any(end["state"] == "running" for end in channel["ends"] if end["name"] != LINUX):
            raise Refused(
                f"no cell of the channel '{channel['name']}' runs", "start one: qvctl cell start"
            )
        fcntl.ioctl(descriptor, RING)
    finally:
        os.close(descriptor)
    if args.json:
        output.as_json({})
    return 0


def _explain_quiet(descriptor: int, channel: dict[str, Any]) -> None:
    """Says why nothing comes, if the first item does not come soon."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(QUIET * 1000):
        output.complain(f"qvctl: {waiting(channel, _attached(channel))}; ^C ends the wait")


def _items(args: Arguments, channel: dict[str, Any]) -> Iterator[bytes]:
    """Takes items as they come, args.count of them (0: until the writer stops)."""
    descriptor, count = _open(channel, os.O_RDONLY), args.count
    try:
        if not args.json:
            _explain_quiet(descriptor, channel)
        while data := os.read(descriptor, channel["item"]):
            yield data
            count -= 1
            if not count:
                return
    except OSError as error:
        raise refusal(channel, error, False, lambda: _attached(channel)) from None
    finally:
        os.close(descriptor)


def _members(args: Arguments, data: bytes) -> dict[str, Any]:
    """Returns an item as in --json. With a format, also its values, or null if it is too short."""
    return {"hex": data.hex(), **({"values": args.form.values(data)} if args.form else {})}


def record(args: Arguments, system: System) -> int:
    """Writes a line of JSON for each item: the seconds since the first, and its bytes."""
    channel = _one(system, args.channel)
    _check_form(args, channel)
    file = Recording(args.file) if args.file else None
    first = None
    try:
        for data in _items(args, channel):
            now = time.monotonic()
            first = now if first is None else first
            line = {
                "channel": channel["name"],
                "seconds": round(now - first, 6),
                **_members(args, data),
            }
            if file:
                file.add(line)
            else:
                output.as_json(line)
    finally:
        if file:
            file.close()
    return 0


def replay(args: Arguments, system: System) -> int:
    """Writes recorded items at the times of the record, `speed` times as fast."""
    channel = _one(system, args.channel)
    try:
        # pylint: disable-next=consider-using-with
        file = open(args.file, "rb") if args.file else sys.stdin.buffer
    except OSError as error:
        raise Refused(
            f"{args.file}: {(error.strerror or 'error').lower()}",
            "name a file of 'qvctl channel record'",
        ) from None
    with file:
        recordings.check(channel, file)
        descriptor = _open(channel, os.O_WRONLY | os.O_NONBLOCK)
        start = time.monotonic()
        try:
            for number, seconds, data in recordings.lines(channel, file):
                time.sleep(max(0.0, start + seconds / args.speed - time.monotonic()))
                _put(descriptor, channel, data, f"line {number} of the record: ")
        finally:
            os.close(descriptor)
    return 0


def _attached(channel: dict[str, Any]) -> bool | None:
    """Returns whether all ends of cells have opened the channel; None if Linux cannot see that."""
    window = _window(channel)
    if not window:
        return None
    with window:
        ends = enumerate(_names(channel))
        return all(window.attached(end) for end, name in ends if name != LINUX)


def _put(descriptor: int, channel: dict[str, Any], data: bytes, before: str = "") -> None:
    try:
        os.write(descriptor, data)
    except OSError as error:
        raise refusal(channel, error, True, lambda: _attached(channel), before) from None


def _text(data: bytes) -> str:
    """The item as text if it is one, else in hexadecimal."""
    bare = data.rstrip(b"\0")
    return bare.decode() if bare and all(0x20 <= byte < 0x7F for byte in bare) else data.hex()


def watch(args: Arguments, system: System) -> int:
    """Prints items as they come, until the writer stops. As --json: a document per line."""
    channel = _one(system, args.channel)
    _check_form(args, channel)
    for data in _items(args, channel):
        if args.json:
            output.as_json({"channel": channel["name"], **_members(args, data)})
            continue
        found = args.form.values(data) if args.form else None
        output.line(text(" ".join(map(str, found)).encode()) if found else _text(data))
    return 0
