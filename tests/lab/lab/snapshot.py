# SPDX-License-Identifier: GPL-2.0-only
"""Saved states of booted machines with VT-x. Each is made once, and every start resumes from it.

Bochs needs more than a minute to boot, and a second to resume from a saved state."""

import dataclasses
import hashlib
from pathlib import Path

from . import images, roots
from .config import Config
from .paths import LAB

RECIPE = 1  # raise this number when a boot leads to a different state


def ensure(config: Config, root: Path, settings: str) -> Path:
    """Returns the folder with the state of such a machine right after its boot. `settings` has
    everything else on which the state depends."""
    from .bochs import BochsBoot  # imported here, since both modules import this one
    from .machine import Machine
    # these settings are set at each start and are not part of the state
    config = dataclasses.replace(config, reboots=False)
    kernel = images.kernel(config.kernel)
    agent = (LAB / "guest/qv-lab-agent").read_text()
    ident = f"{RECIPE}-{kernel.place.name}-{root.parent.name}-{config}-{settings}-{agent}"
    short = hashlib.sha256(ident.encode()).hexdigest()[:12]

    def build(fresh: Path) -> None:
        state = fresh / "state"
        state.mkdir()
        with Machine(dataclasses.replace(config, machine="intel-boot"), install=False) as m:
            # the state is in the page cache now
            m.run("python3 -c 'import argparse, json, yaml'; tar --version; sync", 300)
            assert isinstance(m.emulator, BochsBoot)
            m.emulator.save(state)
            m.emulator.keep(fresh)
    name = f"bochs-{config.kernel}-{config.cpus}-{config.memory or 'usual'}"
    if config.boot_args:
        name += f"-{hashlib.sha256(repr(config.boot_args).encode()).hexdigest()[:6]}"
    return roots.make_once(images.IMAGES / f"{name}_{short}", build,
                           f"a machine with VT-x that has booted {kernel.version}")
