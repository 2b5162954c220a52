# SPDX-License-Identifier: GPL-2.0-only
"""The keys of a cell's YAML file: one file each, of the shape in key.py."""

from __future__ import annotations

from . import (bell_rate, cmdline, console, cpus, debug, devices, image, lock, memory, name, ports,
               vcpus, watchdog)
from .key import Key

# Every key, in the order of messages and of Documentation/reference/configuration.md
TABLE: tuple[Key, ...] = (
    name.KEY, cpus.KEY, memory.KEY, image.IMAGE, image.BOOT, cmdline.KEY, console.KEY,
    watchdog.KEY, lock.KEY, bell_rate.KEY, debug.KEY, ports.KEY, devices.KEY,
    vcpus.VCPUS, vcpus.ADMISSION)
BY_NAME = {key.name: key for key in TABLE}

# The keys that `cell show` shows, in its order: resources and image, then supervision
RESOURCES = (cpus.KEY, memory.KEY, image.IMAGE, image.BOOT, cmdline.KEY, console.KEY, ports.KEY,
             devices.KEY)
SUPERVISION = (watchdog.KEY, bell_rate.KEY, debug.KEY, lock.KEY)
