# SPDX-License-Identifier: GPL-2.0-only
"""The run time of qvctl commands, as a multiple of the start of Python.

The machine's clock counts instructions, so the result does not depend on the host."""

import json

import pytest

from product import CONFIGS, HERE, Product

PYTHON = ["/usr/bin/python3", "-I", "-c", "pass"]
# Command: the limit, as a multiple of the start of Python
LIMITS = {"--version": 1.5, "cell list": 2.0, f"config check {CONFIGS}/quest.yaml": 5.0}


@pytest.mark.machine(icount=True)
@pytest.mark.slow
def test_qvctl_starts_fast(qv: Product) -> None:
    qv.machine.put(HERE / "inside/instructions", "/run/instructions")
    qv.do(f"cell create {CONFIGS}/quest.yaml")
    commands = [PYTHON, *(["/usr/sbin/qvctl", *line.split()] for line in LIMITS)]
    quoted = " ".join(f"'{json.dumps(argv)}'" for argv in commands)
    own, *taken = json.loads(qv.sh(f"/run/instructions {quoted}", 240))
    ratios = {line: round(ns / own, 2) for line, ns in zip(LIMITS, taken)}
    print(own, ratios)
    assert {line: r for line, r in ratios.items() if r > LIMITS[line]} == {}, (own, ratios)
