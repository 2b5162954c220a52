# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Channels of QV: memory that this program shares with a cell.

    import qv
    with qv.open("sensor", format="<dQ") as sensor:
        value, time = sensor.read()

A channel belongs to one thread at a time. All indices and flags are the work of libqv, in C.
"""

import os
from collections.abc import Collection
from typing import Any

try:
    import _cffi_backend  # type: ignore[import-not-found]  # noqa: F401
except ImportError:
    raise ImportError("channels need cffi: apt install python3-cffi-backend") from None

from . import errors
from ._libqv import ffi, lib  # type: ignore[import-not-found]
from .channel import Channel, Codec, Status
from .errors import (Absent, Busy, Corrupt, Empty, Error, Failed, Full, Lapped, Layout, Mismatch,
                     NotFound, PeerGone, Permission, Restarted, Size, Stopped, Timeout, Usage)

__all__ = [
    "Absent", "Busy", "Channel", "Corrupt", "Empty", "Error", "Failed", "Full", "Lapped", "Layout",
    "Mismatch", "NotFound", "PeerGone", "Permission", "Restarted", "Size", "Status", "Stopped",
    "Timeout", "Usage", "create_file", "open", "open_file", "remove_file", "set_state", "start",
]

TYPES = {"mailbox": 1, "four-slot": 2, "ring": 3, "memory": 4}
FULL = {"error": 1, "block": 2, "drop-newest": 3, "drop-oldest": 4}
NAME_MOST, SCHEMA_MOST = 31, 63     # bytes: QV_CHAN_NAME_LEN and QV_CHAN_SCHEMA_LEN without NUL
STATES = {"absent": 0, "running": 1, "stopped": 2, "failed": 3}


def _take_end(cell: str, key: int) -> None:
    """Takes the end of Linux, as `qvctl channel open` does. The modules of qvctl do it."""
    from qv.device import Device
    from qv.errors import NotAllowed, Refused
    try:
        device = Device()
        try:
            device.open_channel(cell, key)
        finally:
            device.close()
    except Refused as refusal:
        kind = Permission if isinstance(refusal, NotAllowed) else Error
        raise kind(f"{refusal.sentence} ({refusal.remedy})") from None


def open(name: str | int = "", *, key: int = 0,  # pylint: disable=redefined-builtin
         create: str = "", format: str | type | None = None, schema: str | None = None) -> Channel:
    """Opens a channel by its name, or by its key. `create`: the cell that has opened this key with
    Linux; takes the end of Linux first, as root may do. `format` is a format of `struct`, or a
    structure of `ctypes`; without it, an item is a memoryview. `schema`: raises Mismatch for
    another schema."""
    if isinstance(name, int):
        name, key = "", name
    if bool(name) == bool(key) or create and not key:
        raise Usage("a channel has a name, or a key; `create` needs a key")
    if create:
        _take_end(create, key)
    handle = ffi.new("struct qv_channel **")
    if key:
        errors.checked(lib.qv_open_key(handle, key))
    else:
        errors.checked(lib.qv_open(handle, os.fsencode(name)))
    return Channel(handle[0], Codec(format), schema)


def open_file(path: str | os.PathLike[str], end: int, *, format: str | type | None = None,
              schema: str | None = None) -> Channel:
    """Opens an end of a channel in a file, for tests of programs without QV."""
    handle = ffi.new("struct qv_channel **")
    errors.checked(lib.qv_file_open(handle, os.fsencode(path), _number("end", end)))
    return Channel(handle[0], Codec(format), schema)


def _known(what: str, word: Any, words: Collection[Any]) -> Any:
    """Returns the word, or raises Usage if it is none of these."""
    if word not in words:
        raise errors.Usage(f"{what}={word!r} is not known (known: {', '.join(map(str, words))})")
    return word


def _number(what: str, number: int) -> int:
    """Returns the number, or raises Usage if it does not fit into 32 bits."""
    if not 0 <= number < 1 << 32:
        raise errors.Usage(f"{what}={number} is not a number from 0 to {(1 << 32) - 1}")
    return number


def _text(what: str, text: str, most: int) -> bytes:
    if len(text.encode()) > most:
        raise errors.Usage(f"{what}={text!r} is longer than {most} bytes")
    return text.encode()


def create_file(path: str | os.PathLike[str], *, type: str, item: int, slots: int = 1,
                readers: int = 1, full: str = "error", bell: bool | str = True, reconnect: bool = True,
                name: str | None = None, schema: str = "") -> None:
    """Makes a channel in a file, and replaces the channel that was there. The words are those of a
    cell's YAML file. Without `name`, messages name the file."""
    plan = ffi.new("struct qv_chan_page *")
    plan.type, plan.ends = TYPES[_known("type", type, TYPES)], _number("readers", readers) + 1
    plan.item, plan.slots = _number("item", item), _number("slots", slots)
    plan.full = FULL[_known("full", full, FULL)] if type == "ring" else 0
    bell = _known("bell", bell, (True, False, "one-shot"))
    plan.flags = lib.QV_CHAN_BELL * bool(bell) | lib.QV_CHAN_ONE_SHOT * (bell == "one-shot")
    plan.flags |= lib.QV_CHAN_RECONNECT * reconnect
    if name is None:
        plan.name = os.path.basename(os.fsencode(path))[:NAME_MOST]
    else:
        plan.name = _text("name", name, NAME_MOST)
    plan.schema = _text("schema", schema, SCHEMA_MOST)
    errors.checked(lib.qv_file_create(os.fsencode(path), plan))


def start(path: str | os.PathLike[str], end: int) -> None:
    """Starts an end of a channel in a file under a new generation, as the start of a cell does."""
    errors.checked(lib.qv_file_start(os.fsencode(path), _number("end", end)))


def set_state(path: str | os.PathLike[str], end: int, state: str) -> None:
    """Makes an end of a channel in a file absent, running, stopped or failed."""
    number = STATES[_known("state", state, STATES)]
    errors.checked(lib.qv_file_state(os.fsencode(path), _number("end", end), number))


def remove_file(path: str | os.PathLike[str]) -> None:
    """Removes a channel in a file."""
    errors.checked(lib.qv_file_remove(os.fsencode(path)))
