# SPDX-License-Identifier: GPL-2.0-only
"""Programs that have a device file of QV open or mapped. While there is one, Linux does not unload
the module. The file may be gone: a channel's device goes with its cells."""

from __future__ import annotations

import os

from .machine import read_text

FOLDERS = ("/dev/qv-channel/", "/dev/qv-cell/")
GONE = " (deleted)"


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _is_ours(path: str) -> bool:
    return path == "/dev/qv" or path.startswith(FOLDERS)


def _open_files(folder: str) -> set[str]:
    """Returns the files that the process has open by a descriptor or by a mapping."""
    fds = (_target(os.path.join(folder, "fd", fd)) for fd in _names(os.path.join(folder, "fd")))
    # a line of maps has six columns, and the last one is the path
    lines = (read_text(os.path.join(folder, "maps")) or "").splitlines()
    maps = (line.split(maxsplit=5)[-1] for line in lines if "/dev/qv" in line)
    return {path.removesuffix(GONE) for path in (*fds, *maps)}


def holders(root: str) -> list[str]:
    """Returns a sentence for each such file of each process but this one. Only root sees all."""
    found = []
    processes = (name for name in _names(os.path.join(root, "proc")) if name.isdigit())
    for process in sorted(processes, key=int):
        if int(process) == os.getpid():
            continue
        folder = os.path.join(root, "proc", process)
        program = (read_text(os.path.join(folder, "comm")) or "a program").strip()
        found += [
            f"{path} is open in {program} (process {process})"
            for path in sorted(filter(_is_ours, _open_files(folder)))
        ]
    return found
