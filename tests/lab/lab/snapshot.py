# SPDX-License-Identifier: GPL-2.0-only
"""Saved states of booted machines. Each is made once, and every start resumes from it.

Bochs needs more than a minute to boot and QEMU almost one, and both a few seconds to resume."""

import dataclasses
import hashlib
from pathlib import Path

from . import images, roots
from .config import Config
from .errors import GuestTimeout, LabError, MachineDead
from .paths import LAB

TRIES = 3
PROGRAMS = {"tool": "qemu-system-x86_64", "bochs": "bochs-bin"}  # by the tree of the emulator
# The boot is as it should be. These programs are in the page cache of the saved state.
READY = """
dmesg | grep -E "$1" && exit 1
[ "$(systemctl is-system-running)" = running ] || { systemctl is-system-running; systemctl --failed; exit 1; }
python3 -c 'import argparse, json, yaml' && tar --version && sync
"""
TROUBLE = r"cut here|\bBUG\b|Oops|Call Trace|rcu.*stall|clocksource.*unstable"
RECIPE = 3  # raise this number when a boot leads to a different state


def ensure(config: Config, root: Path, tree: str, settings: str) -> Path:
    """Returns the folder with the state of such a machine right after its boot. `tree` is the Debian
    tree of the emulator. `settings` has everything else on which the state depends."""
    from .machine import Machine  # imported here, since it imports the emulators
    # these settings are set at each start and are not part of the state
    config = dataclasses.replace(config, reboots=False)
    kernel = images.kernel(config.kernel)
    guest = [file.read_text() for file in sorted((LAB / "guest").iterdir())]
    emulator = (roots.ensure(tree) / "usr/bin" / PROGRAMS[tree]).stat()
    ident = (RECIPE, READY, TROUBLE, kernel.place.name, root.parent.name, roots.key(tree),
             emulator.st_size, emulator.st_mtime_ns, config, settings, guest)
    short = hashlib.sha256(repr(ident).encode()).hexdigest()[:12]

    def boot(fresh: Path) -> None:
        with Machine(dataclasses.replace(config, machine=f"{config.machine}-boot"), install=False) as m:
            done = m.run(["sh", "-c", READY, "ready", TROUBLE], 300)
            if done.rc:
                raise LabError(f"the machine has not booted well:\n{done.out}", f"its console is in {m.console}")
            m.emulator.keep(fresh)

    def build(fresh: Path) -> None:
        # On a busy host a stock kernel may panic, since its timer "doesn't work through the IO-APIC",
        # or may distrust its clock. All tests would have such a state
        for left in reversed(range(TRIES)):
            try:
                return boot(fresh)
            except (LabError, GuestTimeout, MachineDead) as error:
                if not left or any(fresh.iterdir()):
                    raise
                roots.say(f"once more: {error}")
    special = dataclasses.replace(config, kernel="", cpus=0, memory="")
    name = f"{config.machine}-{config.kernel}-{config.cpus}-{config.memory or 'usual'}"
    if special != Config(machine=config.machine, kernel="", cpus=0):
        name += f"-{hashlib.sha256(repr(special).encode()).hexdigest()[:6]}"
    return roots.make_once(images.IMAGES / f"{name}_{short}", build,
                           f"a machine ({config.machine}) that has booted {kernel.version}")
