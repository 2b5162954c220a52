# SPDX-License-Identifier: GPL-2.0-only
"""Cells: the request to create one, their names, the facts about one."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint16, c_uint32, c_uint64

from .failure import FailureRecord
from .members import Enum
from .reply import NAME_LEN, Reply

MAX_CPUS = 64
MAX_CELLS = 15
MAX_PORTS = 16
MAX_DEVICES = 8
MAX_CHANNELS = 16
MAX_WITH = 8
CHANNEL_ENDS = 9
CHANNEL_SCHEMA_LEN = 64
CHANNEL_MODE = 0o660
CMDLINE_LEN = 1024
MAX_IMAGE = 256 << 20
BELL_RATE = 10  # doorbells a millisecond
BELL_RATE_MAX = 1000
WATCHDOG_MIN = 100  # ms
WATCHDOG_MAX = 3_600_000
LOCK_NEVER = 0  # enum qv_lock
LOCK_MAY = 1
LOCK_START = 2
CONSOLE_LEN = 0x8000
CONSOLE_SCREEN_LEN = 4000

DEVICE_PIN = 1 << 0  # bits of qv_device.state
DEVICE_MESSAGES = 1 << 1
DEVICE_NO_RESET = 1 << 2
DEVICE_BLOCKED_SHIFT = 16


class Boot(Enum):
    """enum qv_boot."""

    MULTIBOOT2 = 1


class Dma(Enum):
    """enum qv_dma: how the DMA of a device is restricted."""

    PROTECTED = 0
    OFF = 1
    UNSAFE = 2
    BEST = 3


class DmaLevel(Enum):
    """enum qv_dma_level: how a hostile Linux's devices are kept from cells and the monitor."""

    NONE = 0
    DEVICES = 1
    MEMORY = 2
    FULL = 3


class Apic(Enum):
    """enum qv_apic: the mode that a cell's local APICs are to have."""

    BEST = 0
    MACHINE = 1
    X2APIC = 2


class State(Enum):
    """enum qv_cell_state."""

    CREATED = 1
    LOADABLE = 2
    RUNNING = 3
    SHUT_DOWN = 4
    FAILED = 5


class PortRange(ctypes.Structure):
    """struct qv_port_range: both ends inclusive."""

    _fields_ = [("first", c_uint16), ("last", c_uint16)]


class PciDevice(ctypes.Structure):
    """struct qv_device: a PCI function of a cell."""

    _fields_ = [("segment", c_uint32), ("bdf", c_uint32), ("dma", c_uint32), ("state", c_uint32)]


class ChannelPlan(ctypes.Structure):
    """struct qv_channel_plan: a channel of a cell."""

    _fields_ = [
        ("name", c_char * NAME_LEN),
        ("schema", c_char * CHANNEL_SCHEMA_LEN),
        ("type", c_uint32),
        ("full", c_uint32),
        ("flags", c_uint32),
        ("num_ends", c_uint32),
        ("item", c_uint64),
        ("slots", c_uint64),
        ("bell_vector", c_uint32),
        ("bell_cpu", c_uint32),
        ("ends", (c_char * NAME_LEN) * CHANNEL_ENDS),
        ("uid", c_uint32),
        ("gid", c_uint32),
        ("mode", c_uint32),
        ("writers", c_uint32),
    ]


class ChannelOpen(ctypes.Structure):
    """struct qv_channel_open: a channel at run time of which Linux has an end."""

    _fields_ = [
        ("key", c_uint32),
        ("linux_end", c_uint32),
        ("type", c_uint32),
        ("full", c_uint32),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("item", c_uint64),
        ("slots", c_uint64),
    ]


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
        ("apic", c_uint32),
        ("ipi", c_uint32),
        ("num_channels", c_uint32),
        ("channels", ChannelPlan * MAX_CHANNELS),
        ("num_dynamic", c_uint32),
        ("num_with", c_uint32),
        ("with_ends", (c_char * NAME_LEN) * MAX_WITH),
        ("dma_level", c_uint32),
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


class ChannelKey(ctypes.Structure):
    """struct qv_channel_key."""

    _fields_ = [
        ("reply", Reply),
        ("name", c_char * NAME_LEN),
        ("key", c_uint32),
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
        ("apic", c_uint32),
        ("x2apic", c_uint32),
        ("ipi", c_uint32),
        ("lock", c_uint32),
        ("image_name", c_char * 128),
        ("cmdline", c_char * CMDLINE_LEN),
        ("idle_cycles", c_uint64),
        ("idle_cpus", c_uint32),
        ("num_channels", c_uint32),
        ("channels", ChannelPlan * MAX_CHANNELS),
        ("channel_memory", c_uint64),
        ("num_dynamic", c_uint32),
        ("num_with", c_uint32),
        ("with_ends", (c_char * NAME_LEN) * MAX_WITH),
        ("num_open", c_uint32),
        ("dma_level", c_uint32),
        ("open", ChannelOpen * MAX_CHANNELS),
    ]


class Cursor(ctypes.Structure):
    """struct qv_cursor."""

    _fields_ = [
        ("row", c_uint32),
        ("column", c_uint32),
        ("visible", c_uint32),
        ("seq", c_uint32),
    ]
