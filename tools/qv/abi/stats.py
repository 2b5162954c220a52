# SPDX-License-Identifier: GPL-2.0-only
"""The counters of each CPU: exits by reason, and the time that they took."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint32, c_uint64

from .members import Enum
from .reply import NAME_LEN, Reply

FRONT_END = "linux"  # the name of the front end where a cell's name is expected


class Exit(Enum):
    """enum qv_exit: VM exit reasons, the same for both vendors."""

    NMI = 0
    ICR = 1
    XAPIC = 2
    MSR = 3
    CPUID = 4
    PORT = 5
    MEMORY = 6
    HYPERCALL = 7
    CR = 8
    INSTRUCTION = 9
    EXCEPTION = 10
    TRIPLE_FAULT = 11
    OTHER = 12


EXIT_COUNT = 13
EXIT_SLOTS = 16


class CpuStats(ctypes.Structure):
    """struct qv_cpu_stats: one CPU's counters."""

    _fields_ = [
        ("cpu", c_uint32),
        ("apic_id", c_uint32),
        ("exits", c_uint64 * EXIT_SLOTS),
        ("held_max_ns", c_uint64),
        ("call_max_ns", c_uint64),
        ("cycles_in_monitor", c_uint64),
        ("denied", c_uint64),
        ("bells", c_uint64),
        ("bell_overruns", c_uint64),
    ]


class Stats(ctypes.Structure):
    """struct qv_stats."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("num_cpus", c_uint32),
        ("reset_held", c_uint32),
        ("cpus", c_uint64),
    ]
