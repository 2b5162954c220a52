# SPDX-License-Identifier: GPL-2.0-only
"""The OSEK kernel inmates/erika in a cell, next to Linux and Quest."""

import re

import pytest

from product import Product
from test_watching import until


def screen(qv: Product) -> str:
    return qv.sh("quesh erika --dump")


def blinks(qv: Product) -> int:
    """Returns how often blink has blinked; 0 if it has not yet."""
    return max((int(n) for n in re.findall(r"blink (\d+): o(?:n|ff)", screen(qv))), default=0)


@pytest.mark.parametrize("machine_kind", [
    "amd", pytest.param("intel", marks=[pytest.mark.machine(machine="intel"), pytest.mark.thorough])])
def test_blink_next_to_quest(qv: Product, machine_kind: str) -> None:
    """blink continues while Quest runs, shows a heartbeat and no failure, and shuts down on request."""
    qv.run_cell("erika")
    qv.run_cell("quest")
    until(lambda: blinks(qv) >= 3, "three blinks")
    assert qv.quesh("echo up") == "up\n"
    shown = qv.show("erika")
    assert shown["state"] == "running" and shown["heartbeat"] > 0
    before = blinks(qv)
    until(lambda: blinks(qv) > before, "another blink")
    qv.do("cell destroy quest")
    qv.do("cell shutdown erika")
    assert "erika: shut down, status 0" in screen(qv)
    assert qv.show("erika")["state"] == "shut-down"
