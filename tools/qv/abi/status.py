# SPDX-License-Identifier: GPL-2.0-only
"""The machine and the monitor under it: status, enable."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint32, c_uint64

from .reply import TEXT_LEN, Reply

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
FEATURE_X2APIC = 1 << 10
ENABLE_STRICT = 1 << 0
ENABLE_IPI_DIRECT = 1 << 1
ENABLE_IOMMU = 1 << 2
POOL_SET = 1 << 0


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
        ("ipi_direct", c_uint32),
        ("dma_level", c_uint32),
        ("reserved", c_uint32),
        ("obstacle_text", c_char * TEXT_LEN),
        ("obstacle_remedy", c_char * TEXT_LEN),
        ("dma_obstacle", c_char * TEXT_LEN),
    ]


class Enable(ctypes.Structure):
    """struct qv_enable."""

    _fields_ = [
        ("reply", Reply),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


class Pool(ctypes.Structure):
    """struct qv_pool."""

    _fields_ = [
        ("reply", Reply),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("size", c_uint64),
        ("free", c_uint64),
        ("lent", c_uint64),
    ]
