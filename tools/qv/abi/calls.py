# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of the ioctls of /dev/qv, and of consoles."""

from __future__ import annotations

import ctypes

from .cell import CellCreate, CellInfo, CellList, CellName, ChannelKey, Cursor
from .events import Log
from .failure import CellMemory, CellSample
from .reply import Simple
from .stats import Stats
from .status import Enable, Pool, StatusInfo


def _iowr(number: int, structure: type[ctypes.Structure], directions: int = 3) -> int:
    """_IOWR('Q', number, structure) on x86; _IOR with the directions 2."""
    return directions << 30 | ctypes.sizeof(structure) << 16 | ord("Q") << 8 | number


IOC_STATUS = _iowr(0x01, StatusInfo)
IOC_ENABLE = _iowr(0x02, Enable)
IOC_DISABLE = _iowr(0x03, Simple)
IOC_POOL = _iowr(0x04, Pool)
IOC_CELL_CREATE = _iowr(0x10, CellCreate)
IOC_CELL_START = _iowr(0x11, CellName)
IOC_CELL_SHUTDOWN = _iowr(0x12, CellName)
IOC_CELL_DESTROY = _iowr(0x13, CellName)
IOC_CELL_LIST = _iowr(0x14, CellList)
IOC_CELL_INFO = _iowr(0x15, CellInfo)
IOC_CELL_LOCK = _iowr(0x16, CellName)
IOC_CELL_UNLOCK = _iowr(0x17, CellName)
IOC_CELL_SAMPLE = _iowr(0x18, CellSample)
IOC_CHANNEL_OPEN = _iowr(0x19, ChannelKey)
IOC_CHANNEL_CLOSE = _iowr(0x1a, ChannelKey)
IOC_CELL_MEMORY = _iowr(0x1b, CellMemory)
IOC_STATS = _iowr(0x20, Stats)
IOC_LOG = _iowr(0x21, Log)
IOC_CONSOLE_CURSOR = _iowr(0x30, Cursor, 2)
