# SPDX-License-Identifier: GPL-2.0-only
"""qv.abi, which scripts/abi makes of include/uapi/linux/qv.h."""

from __future__ import annotations

import ctypes

from qv import abi


def test_calls_that_end_qv_are_the_same_in_all_versions() -> None:
    """A number has the size of its structure."""
    assert [hex(number) for number in (abi.IOC_DISABLE, abi.IOC_POOL, abi.IOC_CELL_DESTROY)] == [
        "0xc2085103", "0xc2285104", "0xc2305113"]


def test_ctypes_lays_structures_out_as_c_does() -> None:
    calls = {abi.IOC_STATUS: abi.StatusInfo, abi.IOC_CELL_CREATE: abi.CellCreate,
             abi.IOC_CELL_INFO: abi.CellInfo, abi.IOC_STATS: abi.Stats,
             abi.IOC_CONSOLE_CURSOR: abi.Cursor}
    assert {number: number >> 16 & 0x3FFF for number in calls} == {
        number: ctypes.sizeof(structure) for number, structure in calls.items()}


def test_members_lack_their_common_prefix() -> None:
    assert (abi.Reason.OK, abi.Reason.E_ABI, abi.Boot.MULTIBOOT2, abi.DmaLevel.FULL) == (0, 1, 1, 3)
    assert (abi.Failure(1).name, abi.FRONT_END, abi.MAX_IMAGE) == ("MEMORY", "linux", 256 << 20)
