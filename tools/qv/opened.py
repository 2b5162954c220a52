# SPDX-License-Identifier: GPL-2.0-only
"""Character devices of a PCI function (terminals, graphics, input, sound, clocks, VFIO) that a
program has open."""

from __future__ import annotations

import os
import stat

from .machine import read_text

Number = tuple[int, int]  # major, minor


def _number(text: str) -> Number | None:
    major, _, minor = text.strip().partition(":")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _below(root: str, function: str) -> dict[Number, str]:
    """Returns the devices below the function, by number."""
    base, found = os.path.join(root, "sys/dev/char"), {}
    for name in _names(base):
        place = os.path.normpath(os.path.join(base, os.readlink(os.path.join(base, name))))
        number = _number(name)
        if number and place.startswith(function + "/"):
            found[number] = os.path.basename(place)
    return found


def _elsewhere(root: str, function: str) -> dict[Number, str]:
    """Returns devices that sysfs shows under no function: the VFIO devices of the function's IOMMU
    group, and the terminals of virtio consoles. Linux does not show which virtio port a terminal
    belongs to."""
    names = {}
    group = os.path.join(function, "iommu_group")
    if os.path.islink(group):
        name = os.path.basename(os.readlink(group))
        names[f"vfio/{name}"] = f"VFIO group {name}"
    if any(
        os.path.realpath(os.path.join(root, "sys/class/virtio-ports", name)).startswith(
            function + "/"
        )
        for name in _names(os.path.join(root, "sys/class/virtio-ports"))
    ):
        names |= {
            f"tty/{name}": f"{name} may be here, and"
            for name in _names(os.path.join(root, "sys/class/tty"))
            if name.startswith("hvc")
        }
    numbers = {
        name: _number(read_text(os.path.join(root, "sys/class", name, "dev")) or "")
        for name in names
    }
    return {number: names[name] for name, number in numbers.items() if number}


def _open_in(link: str) -> Number | None:
    """Returns the character device that a link of /proc/PID/fd leads to, if it leads to one."""
    try:
        found = os.stat(link)
    except OSError:
        return None
    return (
        (os.major(found.st_rdev), os.minor(found.st_rdev)) if stat.S_ISCHR(found.st_mode) else None
    )


def opened(root: str, function: str) -> dict[str, str]:
    """Returns by the device's name a sentence with the first program that has the device open. Only
    root sees all programs."""
    devices = _below(root, function) | _elsewhere(root, function)
    found: dict[str, str] = {}
    if not devices:
        return found
    for process in _names(os.path.join(root, "proc")):
        if not process.isdigit():
            continue
        folder = os.path.join(root, "proc", process)
        for fd in _names(os.path.join(folder, "fd")):
            name = devices.get(_open_in(os.path.join(folder, "fd", fd)) or (-1, -1))
            if name and name not in found:
                program = (read_text(os.path.join(folder, "comm")) or "a program").strip()
                found[name] = f"{name} is open in {program} (process {process})"
    return found
