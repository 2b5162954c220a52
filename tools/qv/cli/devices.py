# SPDX-License-Identifier: GPL-2.0-only
"""qvctl devices: the functions that a line `devices:` may name."""

from __future__ import annotations

from .. import output
from ..devices import Bus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..system import System
    from .command import Arguments


def devices(args: Arguments, system: System) -> int:
    bus = Bus(system.root)
    found = [bus.function(name) for name in bus.names]
    if args.json:
        output.as_json(
            {
                "devices": [
                    {
                        "name": f.name,
                        "ids": f.ids,
                        "driver": f.driver,
                        "state": f.state(),
                        "uses": f.used,
                    }
                    for f in found
                ]
            }
        )
        return 0
    output.table(
        ("PCI", "IDS", "DRIVER", "FOR A CELL"),
        [[f.name, f.ids, f.driver, f.state()] for f in found],
        frozenset(),
    )
    return 0
