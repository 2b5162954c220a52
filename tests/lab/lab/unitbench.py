# SPDX-License-Identifier: GPL-2.0-only
"""Measures what the unit of a cell costs the CPUs that stay with Linux: its start, a crash with the
next life, and its end."""

import json
from collections.abc import Callable
from statistics import median
from typing import Any

from .machine import Machine
from .paths import TOP

FILE = "/etc/qv/cells/quest.yaml"
PREPARE = (f"mkdir -p /etc/qv/cells && cp /usr/share/qv/configs/quest.yaml {FILE} && "
           f"echo 'restart: {{limit: 100, first: 0ms}}' >>{FILE} && "
           "echo '[Service]\nType=oneshot\nExecStart=/usr/bin/python3 -c \"import yaml, ctypes, json\"' "
           ">/run/systemd/system/other.service && systemctl daemon-reload && systemctl start qv.service")
LABELS = {"other": "start of another unit", "start": "systemctl start", "crash": "crash, next life",
          "stop": "systemctl stop"}

Costs = dict[str, list[dict[str, Any]]]


def measured(machine: Machine, run: Callable[..., str], rounds: int) -> Costs:
    """Returns the costs of each round by the names of LABELS. QV is disabled afterwards."""
    machine.put(TOP / "tests/lab/inside/unitcost", "/run/unitcost")
    run("sh", "-c", PREPARE)
    found: Costs = json.loads(run("python3", "/run/unitcost", str(rounds)))
    run("sh", "-c", f"systemctl stop qv.service && rm {FILE} /run/systemd/system/other.service")
    return found


def rows(found: Costs) -> list[tuple[str, ...]]:
    """Returns medians; of the time that a CPU was held, also the smallest and the largest. It
    contains turns of other CPUs if the machine runs one at a time: the row of the other unit shows
    how long they are."""
    def middle(name: str, key: str) -> float:
        return float(median(one[key] for one in found[name]))
    return [(label, f"{middle(name, 'ms'):.1f}",
             "-" if found[name][0]["unit_ms"] is None else f"{middle(name, 'unit_ms'):.1f}",
             *(f"{middle(name, key):.0f}" for key in ("exits", "nmis", "calls")),
             *(f"{pick(one['held_us'] for one in found[name]):.1f}" for pick in (median, min, max)))
            for name, label in LABELS.items()]
