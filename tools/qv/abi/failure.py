# SPDX-License-Identifier: GPL-2.0-only
"""The registers of a CPU: either when its cell failed, or now, as a sample. And the memory of a
cell that has ended."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint8, c_uint32, c_uint64

from .members import Enum
from .reply import NAME_LEN, Reply


class Failure(Enum):
    """enum qv_failure: why a cell failed."""

    NONE = 0
    MEMORY = 1
    MSR = 2
    PORT = 3
    TRIPLE_FAULT = 4
    INSTRUCTION = 5
    IPI = 6
    EXIT = 7
    MONITOR = 8
    WATCHDOG = 9
    CPU_LOST = 10


class FailureRecord(ctypes.Structure):
    """struct qv_failure_record: the state of a cell when it failed."""

    _fields_ = [
        ("reason", c_uint32),
        ("cpu", c_uint32),
        ("exit_code", c_uint64),
        ("info1", c_uint64),
        ("info2", c_uint64),
        ("rip", c_uint64),
        ("rflags", c_uint64),
        ("cr0", c_uint64),
        ("cr2", c_uint64),
        ("cr3", c_uint64),
        ("cr4", c_uint64),
        ("efer", c_uint64),
        ("address", c_uint64),
        ("tsc", c_uint64),
        ("regs", c_uint64 * 16),
        ("bytes", c_uint8 * 16),
    ]


# The names of the registers in .regs, in their order
REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
             "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")


class CpuState(Enum):
    """enum qv_cpu_state: the field .address of a sample."""

    RUNS = 1
    WAITS = 2
    STOPPED = 3


class CellSample(ctypes.Structure):
    """struct qv_cell_sample: the registers of a CPU of a running cell."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("cpu", c_uint32),
        ("reserved", c_uint32),
        ("at", FailureRecord),
    ]


class CellMemory(ctypes.Structure):
    """struct qv_cell_memory: RAM of a cell that has ended."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("from", c_uint64),
        ("buf", c_uint64),
        ("len", c_uint32),
        ("reserved", c_uint32),
    ]
