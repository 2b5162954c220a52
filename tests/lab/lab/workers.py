# SPDX-License-Identifier: GPL-2.0-only
"""How many machines may run at a time on this host."""

import os
import re
from pathlib import Path

MACHINE = 3 << 30  # bytes: a machine with 2 GiB, its emulator, and a share for the host


def memory() -> int:
    """Returns the host's RAM in bytes."""
    found = re.search(r"^MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def workers(each: int = MACHINE, cores: int | None = None, total: int | None = None) -> int:
    """Returns one worker per core, but not more than fit into memory with `each` bytes, and at
    least two."""
    cores = os.cpu_count() or 1 if cores is None else cores
    total = memory() if total is None else total
    return max(2, min(cores, total // each))
