# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell start, shutdown, lock and the like on a driver that exists only here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import Run

from qv import abi
from qv.errors import Refused


def test_life_of_a_cell(run: Run) -> None:
    run.create()
    assert run.json("cell", "start", "quest", "--json")["state"] == "running"
    assert run.json("--json", "cell", "shutdown", "quest", "--timeout", "7") == {
        "name": "quest", "state": "shut-down", "forced": False, "changed": True, "duration_ns": 1_500_000, "held_ns": 20_000}
    assert "shutdown 7" in run.device.calls
    assert run("cell", "destroy", "quest") == 0
    assert run("disable") == 0
    assert run("cell", "start", "quest") == 1
    assert "remedy: " in run.err


def test_disable_names_programs_that_keep_the_module(run: Run) -> None:
    """By a descriptor of a channel that is gone, by a mapping alone, or by /dev/qv. qvctl itself,
    which has /dev/qv open, and other files are not named."""
    maps = "7f00-7f01 r--s 00000000 00:05 312 "
    for process, comm, path, mapped in (
            ("9", "cat", "/dev/qv-channel/up (deleted)", ""), ("12", "plot me", "/dev/null", "/dev/qv-channel/sensor"),
            ("30", "watch", "/dev/qv", ""), ("31", "other", "/dev/qvx", "/dev/qvx"), (str(os.getpid()), "qvctl", "/dev/qv", "")):
        folder = Path(run.system.root) / "proc" / process
        (folder / "fd").mkdir(parents=True)
        (folder / "comm").write_text(f"{comm}\n")
        (folder / "fd/3").symlink_to(path)
        (folder / "maps").write_text(f"{maps}{mapped}\n" if mapped else "")
    assert run("enable") == 0 and run("disable") == 0
    wanted = ["/dev/qv-channel/up is open in cat (process 9)", "/dev/qv-channel/sensor is open in plot me (process 12)",
              "/dev/qv is open in watch (process 30)"]
    assert run.out.splitlines()[1:] == [f"  {line}: the module qv stays loaded until it is closed" for line in wanted]
    assert run.json("disable", "--json")["holders"] == wanted


def test_lock(run: Run) -> None:
    run.create("--start")
    assert run("cell", "lock", "quest") == 0 and "only it can unlock" in run.out
    assert run.json("cell", "show", "quest", "--json")["locked"] is True
    run("cell", "list")
    assert run.out.splitlines()[1].split() == ["quest", "running", "3", "64M", "quest.elf", "x2APIC", "locked"]
    run("cell", "show", "quest")
    assert "lock:        it has locked management" in run.out
    run.device.refuse["unlock 70"] = Refused("cell 'quest' did not agree within 70 ms", "ask it", abi.Reason.E_NOT_AGREED)
    assert run("cell", "unlock", "quest", "--timeout", "70") == 1 and "did not agree" in run.err
    assert run.json("cell", "unlock", "quest", "--json")["locked"] is False
    assert "unlock 5000" in run.device.calls


def test_shutdown_by_force(run: Run) -> None:
    run.create("--start")
    run.device.cells["quest"].forced = 1
    assert run("cell", "shutdown", "quest", "--timeout", "70") == 0
    assert run.out.startswith("cell quest was stopped by force: it had not shut down within 70 ms (")
    assert run.json("cell", "show", "quest", "--json")["forced"] is True
    run("cell", "list")
    assert run.out.splitlines()[1].startswith("quest  shut-down (by force)  3 ")
    run("cell", "show", "quest")
    assert "state:       shut-down (by force)\n" in run.out


def test_shutdown_of_a_cell_that_its_unit_destroys(run: Run,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit's process sees the shutdown first and destroys the cell, before qvctl looks at it."""
    shutdown = run.device.shutdown

    def and_gone(name: str, timeout_ms: int) -> abi.Reply:
        answer = shutdown(name, timeout_ms)
        del run.device.cells[name]
        return answer
    monkeypatch.setattr(run.device, "shutdown", and_gone)
    run.create("--start")
    assert run("cell", "shutdown", "quest") == 0
    assert run.out.startswith("cell quest has ended, and its unit, or another command, has destroyed it (")
    run.create("--start")
    found = run.json("cell", "shutdown", "quest", "--json")
    assert (found["state"], found["forced"], found["changed"]) == ("destroyed", False, True)
    assert run("cell", "shutdown", "quest") == 1 and "there is no cell" in run.err


def test_failure_during_shutdown(run: Run) -> None:
    run.create("--start")
    run.device.fails = True
    assert run("cell", "shutdown", "quest") == 0 and "has failed meanwhile" in run.out
    run.create("--start")
    assert run.json("cell", "shutdown", "quest", "--json")["state"] == "failed"
