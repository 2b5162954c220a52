# SPDX-License-Identifier: GPL-2.0-only
"""Connects this terminal with a shell in the machine."""

import os
import select
import shutil
import signal
import sys
import termios
import tty

from .channel import Running
from .errors import MachineDead
from .machine import Machine


def _size() -> tuple[int, int]:
    columns, rows = shutil.get_terminal_size()
    return rows, columns


def attend(machine: Machine, command: Running) -> int:
    """Connects this terminal with a command until it ends. Returns its exit status."""
    here = sys.stdin.fileno()
    on_terminal = os.isatty(here)
    before = termios.tcgetattr(here) if on_terminal else None
    resized = signal.signal(signal.SIGWINCH, lambda *_: command.resize(*_size()))
    try:
        if on_terminal:
            tty.setraw(here)
        reading = True
        while not command.ended.is_set():
            ready, _, _ = select.select([here] if reading else [], [], [], 0.1)
            if ready:
                data = os.read(here, 4096)
                if data:
                    command.write(data)
                else:
                    command.close()
                    reading = False
            elif machine.dead:
                raise MachineDead(f"the machine died: {machine.dead}")
    finally:
        signal.signal(signal.SIGWINCH, resized)
        if before:
            termios.tcsetattr(here, termios.TCSADRAIN, before)
    return command.rc or 0


def interactive(machine: Machine) -> int:
    """Runs a login shell in a running machine. Returns its exit status."""
    def show(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    wanted = {"TERM": os.environ.get("TERM", "vt100"), "LANG": "C.UTF-8"}
    command = machine.start(["/bin/bash", "-l"], tty=_size(), env=wanted, sink=show)
    return attend(machine, command)


def shell(machine: Machine, put: list[tuple[str, str]], get: list[tuple[str, str]]) -> int:
    """Boots a machine and runs a shell in it. Returns the exit status of `qvlab shell`."""
    print("qvlab: starting a machine ...", file=sys.stderr, flush=True)
    try:
        with machine:
            for source, target in put:
                machine.put(source, target)
            rc = interactive(machine)
            for source, target in get:
                machine.get(source, target)
            return rc
    except MachineDead as e:
        print(f"qvlab: {e}; the end of the console ({machine.console}):", file=sys.stderr)
        print(machine.console_tail(), file=sys.stderr)
        return 125
