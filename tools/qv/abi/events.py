# SPDX-License-Identifier: GPL-2.0-only
"""The log, and the events that a read of /dev/qv returns."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint32, c_uint64

from .members import Enum
from .reply import NAME_LEN, Reply

LOG_PRESENT = 0  # enum qv_which_log
LOG_PREVIOUS = 1


class EventType(Enum):
    """enum qv_event_type."""

    ENABLED = 1
    DISABLED = 2
    CELL = 3
    LOCK = 4


class Log(ctypes.Structure):
    """struct qv_log."""

    # "from" is a Python keyword: read it with getattr(log, "from")
    _fields_ = [
        ("reply", Reply),
        ("from", c_uint64),
        ("next", c_uint64),
        ("buf", c_uint64),
        ("len", c_uint32),
        ("lost", c_uint32),
        ("which", c_uint32),
        ("reserved", c_uint32),
    ]


class Event(ctypes.Structure):
    """struct qv_event."""

    _fields_ = [
        ("seq", c_uint64),
        ("time_ns", c_uint64),
        ("type", c_uint32),
        ("state", c_uint32),
        ("name", c_char * NAME_LEN),
        ("text", c_char * 128),
    ]
