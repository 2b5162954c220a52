# SPDX-License-Identifier: GPL-2.0-only
"""The attacks of a hostile Linux, in the order of the generated page."""

from . import memory, calls, registers, board, interrupts, management, channels, iommu  # noqa: F401
from .linux import ROWS, Front, Linux

__all__ = ["ROWS", "Front", "Linux"]
