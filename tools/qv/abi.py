# SPDX-License-Identifier: GPL-2.0-only
"""The ioctl contract of include/uapi/linux/qv.h as ctypes structures.

A unit test compiles the C header and compares every size, offset and constant
with those of this file.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint8, c_uint16, c_uint32, c_uint64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ABI_VERSION = 2
NAME_LEN = 32
TEXT_LEN = 248
MAX_CPUS = 64
MAX_CELLS = 15
MAX_PORTS = 16
MAX_DEVICES = 8
CMDLINE_LEN = 1024
MAX_IMAGE = 256 << 20
BELL_RATE = 10  # doorbells a millisecond
BELL_RATE_MAX = 1000
WATCHDOG_MIN = 100  # ms
WATCHDOG_MAX = 3_600_000
LOG_PRESENT = 0  # enum qv_which_log
LOG_PREVIOUS = 1
LOCK_NEVER = 0  # enum qv_lock
LOCK_MAY = 1
LOCK_START = 2
FRONT_END = "linux"
CONSOLE_LEN = 0x8000

DEVICE_PIN = 1 << 0
DEVICE_MESSAGES = 1 << 1
DEVICE_NO_RESET = 1 << 2

FEATURE_NPT = 1 << 0
FEATURE_NRIPS = 1 << 1
FEATURE_DECODE = 1 << 2
FEATURE_FLUSH_ASID = 1 << 3
FEATURE_PAGE1G = 1 << 4
FEATURE_INVLPGB = 1 << 5
FEATURE_SPEC_CTRL = 1 << 6
FEATURE_EPT = 1 << 7
FEATURE_VPID = 1 << 8
FEATURE_UNRESTRICTED = 1 << 9


class Member(int):
    """A value of an enum, and its name."""

    name: str

    @property
    def value(self) -> int:
        return int(self)


class _Members(type):
    """Makes members of a class's constants."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        cls.by_value: dict[int, Member] = {}
        for key, value in space.items():
            if key.isupper():
                member = Member(value)
                member.name = key
                setattr(cls, key, member)
                cls.by_value[value] = member

    def __iter__(cls) -> Iterator[Member]:
        return iter(cls.by_value.values())

    def __call__(cls, value: int) -> Member:
        if value not in cls.by_value:
            raise ValueError(f"{value} is not of {cls.__name__}")
        return cls.by_value[value]


class Enum(metaclass=_Members):
    """Replaces enum.IntEnum, which takes longer to load than a whole command."""


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


class Boot(Enum):
    """enum qv_boot."""

    MULTIBOOT2 = 1


class Dma(Enum):
    """enum qv_dma: how the DMA of a device is restricted."""

    PROTECTED = 0
    OFF = 1
    UNSAFE = 2


class State(Enum):
    """enum qv_cell_state."""

    CREATED = 1
    LOADABLE = 2
    RUNNING = 3
    SHUT_DOWN = 4
    FAILED = 5


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


class EventType(Enum):
    """enum qv_event_type."""

    ENABLED = 1
    DISABLED = 2
    CELL = 3
    LOCK = 4


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


class StatusInfo(ctypes.Structure):
    """struct qv_status_info."""

    _fields_ = [
        ("reply", Reply),
        ("enabled", c_uint32),
        ("num_cells", c_uint32),
        ("vendor", c_uint32),
        ("features", c_uint32),
        ("x2apic", c_uint32),
        ("num_cpus", c_uint32),
        ("tsc_khz", c_uint32),
        ("monitor_text", c_uint32),
        ("obstacle", c_uint32),
        ("lost_cpus", c_uint32),
        ("cpus_outside", c_uint32),
        ("reserved", c_uint32),
        ("obstacle_text", c_char * TEXT_LEN),
        ("obstacle_remedy", c_char * TEXT_LEN),
    ]


class Enable(ctypes.Structure):
    """struct qv_enable."""

    _fields_ = [
        ("reply", Reply),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


ENABLE_STRICT = 1


class Simple(ctypes.Structure):
    """struct qv_simple."""

    _fields_ = [("reply", Reply)]


class PortRange(ctypes.Structure):
    """struct qv_port_range: both ends inclusive."""

    _fields_ = [("first", c_uint16), ("last", c_uint16)]


class PciDevice(ctypes.Structure):
    """struct qv_device: a PCI function of a cell."""

    _fields_ = [("segment", c_uint32), ("bdf", c_uint32), ("dma", c_uint32), ("state", c_uint32)]


class CellCreate(ctypes.Structure):
    """struct qv_cell_create."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("num_cpus", c_uint32),
        ("cpus", c_uint32 * MAX_CPUS),
        ("boot", c_uint32),
        ("memory", c_uint64),
        ("image", c_uint64),
        ("image_len", c_uint64),
        ("image_name", c_char * 128),
        ("cmdline", c_char * CMDLINE_LEN),
        ("console", c_uint32),
        ("num_ports", c_uint32),
        ("watchdog_ms", c_uint32),
        ("lock", c_uint32),
        ("ports", PortRange * MAX_PORTS),
        ("num_devices", c_uint32),
        ("bell_rate", c_uint32),
        ("devices", PciDevice * MAX_DEVICES),
        ("debug", c_uint32),
        ("reserved", c_uint32),
    ]


class CellName(ctypes.Structure):
    """struct qv_cell_name."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("timeout_ms", c_uint32),
        ("reserved", c_uint32),
    ]


class CellList(ctypes.Structure):
    """struct qv_cell_list."""

    _fields_ = [
        ("reply", Reply),
        ("num_cells", c_uint32),
        ("reserved", c_uint32),
        ("names", (c_char * NAME_LEN) * MAX_CELLS),
    ]


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


REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
             "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")


class CellInfo(ctypes.Structure):
    """struct qv_cell_info."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("id", c_uint32),
        ("state", c_uint32),
        ("num_cpus", c_uint32),
        ("boot", c_uint32),
        ("cpus", c_uint32 * MAX_CPUS),
        ("memory", c_uint64),
        ("heartbeat", c_uint64),
        ("started_ns", c_uint64),
        ("first_entry_ns", c_uint64),
        ("console", c_uint32),
        ("num_ports", c_uint32),
        ("ports", PortRange * MAX_PORTS),
        ("num_devices", c_uint32),
        ("bell_rate", c_uint32),
        ("devices", PciDevice * MAX_DEVICES),
        ("watchdog_ms", c_uint32),
        ("locked", c_uint32),
        ("failure", FailureRecord),
        ("last_failure", FailureRecord),
        ("failures", c_uint64),
        ("forced", c_uint32),
        ("debug", c_uint32),
        ("image_name", c_char * 128),
        ("cmdline", c_char * CMDLINE_LEN),
    ]


class CpuState(Enum):
    """enum qv_cpu_state: .address of a sample."""

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


def _iowr(number: int, structure: type[ctypes.Structure]) -> int:
    """_IOWR('Q', number, structure) on x86."""
    return 3 << 30 | ctypes.sizeof(structure) << 16 | ord("Q") << 8 | number


IOC_STATUS = _iowr(0x01, StatusInfo)
IOC_ENABLE = _iowr(0x02, Enable)
IOC_DISABLE = _iowr(0x03, Simple)
IOC_CELL_CREATE = _iowr(0x10, CellCreate)
IOC_CELL_START = _iowr(0x11, CellName)
IOC_CELL_SHUTDOWN = _iowr(0x12, CellName)
IOC_CELL_DESTROY = _iowr(0x13, CellName)
IOC_CELL_LIST = _iowr(0x14, CellList)
IOC_CELL_INFO = _iowr(0x15, CellInfo)
IOC_CELL_LOCK = _iowr(0x16, CellName)
IOC_CELL_UNLOCK = _iowr(0x17, CellName)
IOC_CELL_SAMPLE = _iowr(0x18, CellSample)
IOC_STATS = _iowr(0x20, Stats)
IOC_LOG = _iowr(0x21, Log)
