# SPDX-License-Identifier: GPL-2.0-only
"""The present uses of a PCI function by Linux. A cell that gets the function ends these uses."""

from __future__ import annotations

import errno
import os

from .machine import read_text
from .opened import opened

IFF_UP = 1


def _of_class(root: str, kind: str, function: str) -> list[str]:
    """Returns the folders of a class's devices (block, net, tty) that are directly or indirectly
    below the function."""
    base = os.path.join(root, "sys/class", kind)
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return []
    return [
        os.path.join(base, name)
        for name in names
        if any(place.startswith(function + "/") for place in _places(os.path.join(base, name)))
    ]


def _places(device: str) -> list[str]:
    """Returns the functions above a device. An NVMe disk with several paths is below each of its
    controllers."""
    place = os.path.realpath(device)
    if "/nvme-subsystem/" not in place:
        return [place]
    head, _, tail = place.partition("/nvme-subsystem/")
    folder = os.path.join(head, "nvme-subsystem", tail.partition("/")[0])
    controllers = [
        name
        for name in os.listdir(folder)
        if os.path.islink(os.path.join(folder, name)) and name.startswith("nvme")
    ]
    return [os.path.realpath(os.path.join(folder, name)) + "/" for name in controllers]


def _mounts(root: str) -> dict[str, str]:
    """Returns the mount point of each mounted file system, by MAJOR:MINOR and by the path of its
    device."""
    found: dict[str, str] = {}
    for line in (read_text(os.path.join(root, "proc/self/mountinfo")) or "").splitlines():
        words = line.split(" ")
        if len(words) > 8 and "-" in words:
            source = words[words.index("-") + 2]
            found.setdefault(words[2], words[4])
            found.setdefault(source, words[4])
    return found


def _swaps(root: str) -> set[str]:
    return {
        line.split()[0]
        for line in (read_text(os.path.join(root, "proc/swaps")) or "").splitlines()[1:]
        if line.split()
    }


def _held(node: str) -> bool:
    """Returns whether the disk is in exclusive use: by a file system mounted elsewhere, by ZFS, or
    by a program."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def _disk(root: str, folder: str, mounts: dict[str, str], swaps: set[str]) -> str | None:
    name = os.path.basename(folder)
    node = f"/dev/{name}"
    where = mounts.get((read_text(os.path.join(folder, "dev")) or "").strip()) or mounts.get(node)
    if where:
        return f"{name} is mounted on {where}"
    if node in swaps:
        return f"{name} is swap space"
    holders = os.path.join(folder, "holders")
    if os.path.isdir(holders) and os.listdir(holders):
        holding = ", ".join(sorted(os.listdir(holders)))
        return f"{name} is a part of {holding} (LVM, encryption or RAID)"
    if _held(os.path.join(root, node.lstrip("/"))):
        return f"{name} is in use by a file system or a program"
    return None


def _disks(root: str, function: str) -> list[str]:
    mounts, swaps = _mounts(root), _swaps(root)
    found = {
        os.path.basename(folder): _disk(root, folder, mounts, swaps)
        for folder in _of_class(root, "block", function)
    }
    # an open partition also makes its disk busy; then only the partition is named
    return [
        use
        for name, use in found.items()
        if use
        and not (
            use.endswith("a program")
            and any(other != name and other.startswith(name) and found[other] for other in found)
        )
    ]


def _networks(root: str, function: str) -> list[str]:
    return [
        f"network interface {os.path.basename(folder)} is up"
        for folder in _of_class(root, "net", function)
        if int((read_text(os.path.join(folder, "flags")) or "0").strip(), 16) & IFF_UP
    ]


def _consoles(root: str, function: str) -> list[str]:
    names = {
        line.split()[0]
        for line in (read_text(os.path.join(root, "proc/consoles")) or "").splitlines()
        if line.split()
    }
    found = [
        f"{os.path.basename(folder)} is a console of Linux"
        for folder in _of_class(root, "tty", function)
        if os.path.basename(folder) in names
    ]
    # Linux does not show which virtio port an hvc terminal uses, so each hvc console is listed.
    if _of_class(root, "virtio-ports", function):
        found += [
            f"{name} is a console of Linux, and may be here"
            for name in sorted(names)
            if name.startswith("hvc")
        ]
    if "tty0" in names and (read_text(os.path.join(function, "boot_vga")) or "").strip() == "1":
        found.append("it shows the console of Linux")
    return found


def _programs(root: str, function: str, known: list[str]) -> list[str]:
    """Returns the uses by programs, without the programs on a console that is already named."""
    return [
        use
        for use in opened(root, function).values()
        if not any(k.split()[0] == use.split()[0] for k in known)
    ]


def uses(folder: str, root: str = "/") -> list[str]:
    """Returns a sentence for each use of the function with this folder in sysfs."""
    function = os.path.realpath(folder)
    known = [*_disks(root, function), *_networks(root, function), *_consoles(root, function)]
    return [*known, *_programs(root, function, known)]
