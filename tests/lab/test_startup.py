# SPDX-License-Identifier: GPL-2.0-only
"""How long a command of qvctl takes, in repeatable time: in instructions against those of Python's own start."""

import json

import pytest

from product import CONFIGS, HERE, Product

PYTHON = ["/usr/bin/python3", "-I", "-c", "pass"]
# a command, and how many times Python's own start it may take
LIMITS = {"--version": 1.5, "cell list": 2.0, f"config check {CONFIGS}/quest.yaml": 3.0}


@pytest.mark.machine(icount=True)
def test_qvctl_starts_fast(qv: Product) -> None:
    qv.machine.put(HERE / "inside/instructions", "/run/instructions")
    qv.do(f"cell create {CONFIGS}/quest.yaml")
    commands = [PYTHON, *(["/usr/sbin/qvctl", *line.split()] for line in LIMITS)]
    quoted = " ".join(f"'{json.dumps(argv)}'" for argv in commands)
    own, *taken = json.loads(qv.sh(f"/run/instructions {quoted}", 240))
    ratios = {line: round(ns / own, 2) for line, ns in zip(LIMITS, taken)}
    print(own, ratios)
    assert {line: r for line, r in ratios.items() if r > LIMITS[line]} == {}, (own, ratios)
