# SPDX-License-Identifier: GPL-2.0-only
"""The first member of every ioctl structure: version, reason, sentence and times."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint32, c_uint64

from .members import Enum

ABI_VERSION = 8
NAME_LEN = 32
TEXT_LEN = 248


class Reason(Enum):
    """enum qv_reason: why the driver refused."""

    OK = 0
    E_ABI = 1
    E_ARGUMENT = 2
    E_NO_VIRT = 3
    E_VIRT_DISABLED = 4
    E_VIRT_IN_USE = 5
    E_NO_NESTED = 6
    E_RENDEZVOUS = 7
    E_NOT_ENABLED = 8
    E_ENABLED = 9
    E_CELLS_EXIST = 10
    E_NO_MEMORY = 11
    E_NAME_TAKEN = 12
    E_NO_CELL = 13
    E_CPU = 14
    E_IMAGE = 15
    E_STATE = 16
    E_TOO_MANY = 17
    E_MONITOR = 18
    E_CPU_STUCK = 19
    E_BUSY = 20
    E_CPU_OFFLINE = 21
    E_LOCKDOWN = 22
    E_UNSUPPORTED = 23
    E_INTERRUPTED = 24
    E_LOCKED = 25
    E_NOT_AGREED = 26
    E_DEVICE = 27
    E_DMA = 28
    E_PORT = 29
    E_NO_PREVIOUS = 30
    E_NO_DEBUG = 31
    E_CHANNEL = 32


class Reply(ctypes.Structure):
    """struct qv_reply: the first member of every ioctl structure."""

    _fields_ = [
        ("abi", c_uint32),
        ("code", c_uint32),
        ("duration_ns", c_uint64),
        ("held_ns", c_uint64),
        ("text", c_char * TEXT_LEN),
        ("remedy", c_char * TEXT_LEN),
    ]


class Simple(ctypes.Structure):
    """struct qv_simple."""

    _fields_ = [("reply", Reply)]
