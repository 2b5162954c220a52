# SPDX-License-Identifier: GPL-2.0-only
"""How many things run side by side on this host."""

import os
import re
from pathlib import Path

MACHINE = 3 << 30  # bytes: an emulated machine of 2 GiB, its emulator, and the host's own share


def memory() -> int:
    """The host's RAM in bytes."""
    found = re.search(r"^MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def workers(each: int = MACHINE, cores: int | None = None, total: int | None = None) -> int:
    """One per core as far as memory lasts, if each takes so many bytes; two at least."""
    cores = os.cpu_count() or 1 if cores is None else cores
    total = memory() if total is None else total
    return max(2, min(cores, total // each))
