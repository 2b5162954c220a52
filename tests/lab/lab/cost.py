# SPDX-License-Identifier: GPL-2.0-only
"""CPU time of processes and their descendants. It depends less on other load than wall time."""

import os
import threading
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def _stat(pid: str) -> tuple[int, float]:
    """Returns the parent of a process, and the CPU seconds of it and of its ended children."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    fields = text.rpartition(")")[2].split()  # from field 3 of proc(5) on
    return int(fields[1]), sum(map(int, fields[11:15])) / TICKS


def processes() -> dict[int, tuple[int, float]]:
    found: dict[int, tuple[int, float]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            found[int(name)] = _stat(name)
        except (OSError, ValueError, IndexError):  # the process has ended meanwhile
            continue
    return found


def tree(running: dict[int, tuple[int, float]], root: int) -> list[int]:
    """Returns a process and its descendants, each after its parent. The value has parent and seconds
    of each process."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in running.items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


def of_tree(running: dict[int, tuple[int, float]], root: int) -> float:
    """Returns the seconds of a process and its descendants."""
    return sum(running[pid][1] for pid in tree(running, root) if pid in running)


def so_far() -> float:
    """Returns the CPU seconds of this process and its descendants, running and ended."""
    return of_tree(processes(), os.getpid())


_commands = threading.local()  # its `seconds` are those of the commands that this thread ran


def wait(pid: int) -> int:
    """Waits for a child and adds its CPU seconds to those of this thread. Returns its exit status,
    as subprocess does."""
    _, status, usage = os.wait4(pid, 0)
    before = getattr(_commands, "seconds", 0.0)
    _commands.seconds = before + usage.ru_utime + usage.ru_stime
    return os.waitstatus_to_exitcode(status)


def of_thread() -> float:
    """Returns the CPU seconds of this thread and of the commands that it ran."""
    return time.thread_time() + float(getattr(_commands, "seconds", 0.0))


def of_all() -> float:
    """Returns the CPU seconds of this process and of all its ended children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
