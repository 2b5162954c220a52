# SPDX-License-Identifier: GPL-2.0-only
"""Saved states of booted machines. Each is made once, and every start resumes from it.

Bochs needs more than a minute to boot and QEMU almost one, and both a few seconds to resume."""

import dataclasses
import hashlib
from pathlib import Path

from . import images, roots
from .config import Config
from .paths import LAB

RECIPE = 2  # raise this number when a boot leads to a different state


def ensure(config: Config, root: Path, tree: str, settings: str) -> Path:
    """Returns the folder with the state of such a machine right after its boot. `tree` is the Debian
    tree of the emulator. `settings` has everything else on which the state depends."""
    from .machine import Machine  # imported here, since it imports the emulators
    # these settings are set at each start and are not part of the state
    config = dataclasses.replace(config, reboots=False)
    kernel = images.kernel(config.kernel)
    guest = [file.read_text() for file in sorted((LAB / "guest").iterdir())]
    ident = (RECIPE, kernel.place.name, root.parent.name, roots.key(tree), config, settings, guest)
    short = hashlib.sha256(repr(ident).encode()).hexdigest()[:12]

    def build(fresh: Path) -> None:
        with Machine(dataclasses.replace(config, machine=f"{config.machine}-boot"), install=False) as m:
            # these programs are in the page cache of the saved state
            m.run("python3 -c 'import argparse, json, yaml'; tar --version; sync", 300)
            m.emulator.keep(fresh)
    special = dataclasses.replace(config, kernel="", cpus=0, memory="")
    name = f"{config.machine}-{config.kernel}-{config.cpus}-{config.memory or 'usual'}"
    if special != Config(machine=config.machine, kernel="", cpus=0):
        name += f"-{hashlib.sha256(repr(special).encode()).hexdigest()[:6]}"
    return roots.make_once(images.IMAGES / f"{name}_{short}", build,
                           f"a machine ({config.machine}) that has booted {kernel.version}")
