# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell dump: the memory of a cell that has ended, as an ELF core that gdb opens."""

import re
import subprocess
from pathlib import Path

import pytest

from lab import build
from product import Product
from test_management import scanner
from test_watchdog import described
from test_watching import until

SYMBOLS = build.OUT / "inmates/quest/quest.debug.elf"


def small(qv: Product, more: str = "debug: true") -> str:
    """Returns a file for Quest with little memory, as cores are as large."""
    path = qv.config("quest", 3, more=more)
    qv.sh(f"sed -i 's/^memory:.*/memory: 8M/' {path}")
    return path


def gdb(core: Path, *commands: str) -> str:
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(["gdb", "-q", "-nx", "-batch", SYMBOLS, core, *words],
                          capture_output=True, text=True, check=True)
    return done.stdout


def failed(qv: Product, line: str) -> None:
    """Has Quest fail by a line that it does not survive."""
    qv.machine.run(["quesh", "quest", "-t", "5", "-c", line], 30)
    until(lambda: qv.show()["state"] == "failed", "the failure", 60)


@pytest.mark.slow
@pytest.mark.both_vendors
def test_core_of_a_failed_cell_opens_in_gdb(qv: Product, tmp_path: Path) -> None:
    """gdb shows the function that touched foreign memory and its callers. Afterwards the cell starts
    again."""
    qv.do(f"cell create {small(qv)} --start")
    qv.quesh("echo a word in the shell's memory")
    assert "cell 'quest' has not ended" in qv.refused("cell dump quest --file /run/quest.core")
    failed(qv, "crash memory")
    failure = qv.show()["failure"]
    said = qv.ask("cell dump quest --file /run/quest.core")
    assert said | {"name": "quest", "memory": 8 << 20, "rip": failure["rip"], "paging": "4 levels", "whole": True} == said
    assert qv.show()["failure"] == failure and qv.show()["state"] == "failed"
    assert qv.sh("stat -c %a /run/quest.core") == "600\n"
    qv.machine.get("/run/quest.core", tmp_path / "quest.core")
    told = gdb(tmp_path / "quest.core", "backtrace", "print/x $rip", "print ways[0].name", "x/32xb 0xb8000")
    assert "crash_memory () at " in told and "command_crash (argc=2" in told, told
    assert f"$1 = {failure['rip']}\n" in told and '"memory"' in told
    # the screen is in Linux's memory
    screen = qv.sh("head -c 32 /dev/qv-cell/quest/console | od -An -v -tx1").split()
    assert len(set(screen)) > 2 and re.findall(r"\t0x(\w\w)", told.partition("0xb8000")[2]) == screen
    # the memory stays the same until the next life
    qv.do("cell dump quest --file /run/again.core")
    qv.sh("cmp /run/quest.core /run/again.core; rm /run/*.core")
    qv.do("cell recover quest")
    assert qv.quesh("echo up") == "up\n"
    assert qv.show()["last_failure"] == failure


@pytest.mark.slow
def test_core_of_a_hung_and_of_an_ended_cell(qv: Product, tmp_path: Path) -> None:
    """A cell without `debug: true` has no core."""
    qv.do(f"cell create {small(qv, 'debug: false')} --start")
    failed(qv, "crash memory")
    said = qv.refused("cell dump quest --file /run/quest.core")
    assert "does not show its memory" in said and "debug: true" in said
    qv.sh("test ! -e /run/quest.core")
    qv.do("cell destroy quest")
    path = small(qv)
    qv.sh(f"echo 'watchdog: 1000ms' >>{path}")
    qv.do(f"cell create {path} --start")
    failed(qv, "hang")
    qv.do("cell dump quest --file /run/quest.core")
    qv.machine.get("/run/quest.core", tmp_path / "hung.core")
    assert "command_hang (" in gdb(tmp_path / "hung.core", "backtrace")
    qv.do("cell start quest")
    qv.quesh("echo up")
    qv.do("cell shutdown quest")
    qv.do("cell dump quest --file /run/quest.core")
    assert qv.show()["failure"] is None and qv.show()["state"] == "shut-down"
    qv.machine.get("/run/quest.core", tmp_path / "ended.core")
    told = gdb(tmp_path / "ended.core", "print/x $rip")
    assert "$1 = 0x" in told and "$1 = 0x0\n" not in told and "signal" not in told
    qv.sh("rm /run/quest.core")
    # the counters have gone with the instance, and that is no error
    assert qv.ask("cell stats quest")["cpus"] == [] and "quest" in qv.do("cell list")


@pytest.mark.slow
def test_memory_of_a_cell_with_debug_is_cleared_all_the_same(qv: Product, tmp_path: Path) -> None:
    """The monitor leaves it to the driver: before the next life, and before another cell gets it."""
    qv.machine.put(scanner(tmp_path), "/run/scan.elf")
    path = described(qv, "quest", 3, "off", "debug: true\n")
    qv.sh(f"sed -i 's,^image:.*,image: /run/scan.elf,; s,^memory:.*,memory: 16M,' {path}")
    qv.do("pool --set 18M")

    def beats() -> None:
        until(lambda: qv.show()["heartbeat"] > 0 or qv.show()["state"] != "running", "the end of the scan")
        assert qv.show()["state"] == "running", qv.show()["failure"]

    qv.do(f"cell create {path} --start")
    beats()
    for dump in (True, False):
        qv.do("cell shutdown quest --timeout 0")
        if dump:
            qv.do("cell dump quest --file /run/quest.core")
            assert qv.sh("tail -c 4 /run/quest.core | od -An -tx1") == " 5a 5a 5a 5a\n"
        qv.do("cell start quest")
        beats()
    qv.do("cell shutdown quest --timeout 0")
    qv.do("cell dump quest --file /run/quest.core")
    qv.do("cell destroy quest")
    qv.do(f"cell create {path} --start")  # the same pages
    beats()
    qv.do("cell destroy quest")
    qv.do("pool --set 0")
    qv.sh("rm /run/quest.core")
