# SPDX-License-Identifier: GPL-2.0-only
"""A limit in time for a command."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterable
from pathlib import Path


def parents() -> dict[int, int]:
    """Returns the parent of each process."""
    found: dict[int, int] = {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
            found[int(pid)] = int(text.rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # the process has ended meanwhile
            continue
    return found


def tree(running: dict[int, int], root: int) -> list[int]:
    """Returns a process and its descendants, each after its parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in running.items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


def _name(pid: int) -> str:
    """Returns the command line of a process, or nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _send(pids: Iterable[int], what: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            os.kill(pid, what)


def kill_tree(root: int) -> None:
    """Kills a process and its descendants. They are all halted before, so none starts another one."""
    halted: set[int] = set()
    while new := set(tree(parents(), root)) - halted:
        _send(new, signal.SIGSTOP)
        halted |= new
    _send(halted, signal.SIGKILL)


class Limit:
    """Kills a process and its descendants after some seconds, or never if that is None."""

    def __init__(self, pid: int, seconds: float | None) -> None:
        self.sentence = ""  # after the limit: names the process that was running
        self._pid, self._seconds = pid, seconds
        self._timer = threading.Timer(seconds or 0, self._reached)
        self._timer.daemon = True
        if seconds is not None:
            self._timer.start()

    def over(self) -> None:
        """Ends the watch. The process has ended."""
        self._timer.cancel()

    def _reached(self) -> None:
        pids = tree(parents(), self._pid)
        last = next((name for pid in reversed(pids) if (name := _name(pid))), "nothing")
        self.sentence = f"stopped after {self._seconds:.0f} s, while this was running: {last}"
        kill_tree(self._pid)
