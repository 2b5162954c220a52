# SPDX-License-Identifier: GPL-2.0-only
"""Quest alone in QEMU, to try programs."""

import subprocess
from pathlib import Path

from . import build, enter, roots
from .errors import LabError

IMAGE = build.OUT / "inmates/quest/quest32.elf"
# Only a CPU, RAM and COM1, which is this terminal
QEMU = ["qemu-system-x86_64", "-cpu", "max", "-nographic", "-nic", "none"]


def alone(files: Path | None, cmdline: str) -> int:
    """Builds Quest and runs it on this terminal until Ctrl-A x. Returns QEMU's exit status."""
    if files and not files.is_file():
        raise LabError(f"{files}: no such archive", "inmates/quest/user/pack.py makes one")
    with build.lock():
        build.programs()
    more = ["-initrd", str(files.resolve())] if files else []
    if cmdline:
        more += ["-append", cmdline]
    return subprocess.run(enter.command(roots.ensure("tool"), [*QEMU, "-kernel", str(IMAGE), *more]),
                          check=False).returncode
