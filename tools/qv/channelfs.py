# SPDX-License-Identifier: GPL-2.0-only
"""Channels as /sys/class/qv-channel shows them, to every user: those with an end of Linux."""

from __future__ import annotations

import os

from .keys.channel_owner import mode_text, owner_text
from .machine import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYSFS = "/sys/class/qv-channel"
DEVICES = "/dev/qv-channel"
_BELLS: dict[str, bool | str] = {"false": False, "true": True, "one-shot": "one-shot"}


def _word(name: str, file: str) -> str:
    return (read_text(os.path.join(SYSFS, name, file)) or "").strip()


def _device(path: str) -> tuple[str | None, str | None]:
    """Returns the owner and the mode of a device."""
    try:
        about = os.stat(path)
    except OSError:
        return None, None
    return owner_text(about.st_uid, about.st_gid), mode_text(about.st_mode & 0o666)


def last_error(name: str) -> dict[str, Any] | None:
    """Returns the last error of read() and write() of the device and its time (CLOCK_BOOTTIME)."""
    words = _word(name, "last_error").split()
    if len(words) != 2 or not words[1].isdigit():
        return None
    return {"error": words[0], "at_ns": int(words[1])}


def _channel(name: str) -> dict[str, Any]:
    ends, states = _word(name, "ends").split(), _word(name, "state").split()
    full, path = _word(name, "full"), os.path.join(DEVICES, name)
    owner, mode = _device(path)
    return {
        "name": name,
        "type": _word(name, "type"),
        "item": int(_word(name, "item")),
        "slots": int(_word(name, "slots")),
        "full": None if full == "none" else full,
        "writer": ends[0],
        "writers": _word(name, "writers").split(),
        "readers": ends[1:],
        "reconnect": _word(name, "reconnect"),
        "bell": _BELLS[_word(name, "bell")],
        "schema": _word(name, "schema") or None,
        "owner": owner,
        "mode": mode,
        "device": path,
        "ends": [{"name": end, "state": state} for end, state in zip(ends, states)],
    }


def channels() -> dict[str, dict[str, Any]]:
    """Returns the channels that have a device."""
    try:
        names = sorted(os.listdir(SYSFS))
    except OSError:
        return {}
    found = {}
    for name in names:
        try:
            found[name] = _channel(name)
        except (ValueError, LookupError):
            continue  # its last cell was destroyed meanwhile
    return found
