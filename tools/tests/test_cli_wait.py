# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell wait, and cell restart."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Run

from qv import abi


def becomes(run: Run, state: abi.State) -> Callable[[], None]:
    def change() -> None:
        run.device.cells["quest"].state = state
    return change


def test_wait_for_a_cell_that_does_not_exist_yet(run: Run) -> None:
    run.device.script = [lambda: None, run.create, becomes(run, abi.State.RUNNING)]
    assert run("cell", "wait", "quest") == 0, run.err
    assert run.out.startswith("cell quest is running (") and len(run.device.waits) == 3


@pytest.mark.parametrize("state, number", [("failed", abi.State.FAILED), ("shut-down", abi.State.SHUT_DOWN)])
def test_wait_for_an_end(run: Run, state: str, number: abi.State) -> None:
    run.create("--start")
    run.device.script = [becomes(run, number)]
    assert run.json("--json", "cell", "wait", "quest", "--state", state) == {"name": "quest", "state": state, "ready": False}


def test_wait_for_a_heartbeat(run: Run) -> None:
    run.create("--start")

    def beat() -> None:
        run.device.cells["quest"].heartbeat = 1
    run.device.script = [lambda: None, beat]
    assert run("cell", "wait", "quest", "--state", "ready") == 0
    assert run.device.waits == [0.1, 0.1]


def test_wait_ends_in_time(run: Run) -> None:
    def later() -> None:
        run.system.clock += 0.75
    run.device.script = [later, later, later]
    assert run("cell", "wait", "quest", "--timeout", "1.5") == 124
    assert run.err == "qvctl: there is no cell quest, so it is not running, after 1.5 s\n"
    assert run.device.waits == [1.0, 0.75]


def test_wait_for_a_destroyed_cell_ends(run: Run) -> None:
    run.create()
    run.device.script = [run.device.cells.clear]
    assert run("cell", "wait", "quest") == 3
    assert run.err == "qvctl: cell quest was destroyed while it was to become running\n"
    assert run("cell", "wait", "quest", "--state", "destroyed") == 0


def test_wrong_state_is_wrong_usage(run: Run) -> None:
    assert run("cell", "wait", "quest", "--state", "happy") == 2
    assert "`happy` is not a state of a cell (running, ready, failed, shut-down or destroyed)" in run.err


def test_restart(run: Run) -> None:
    run.create("--start")
    run.device.calls.clear()
    assert run("cell", "restart", "quest", "--timeout", "7") == 0 and run.out == "cell quest runs again (1.5 ms)\n"
    becomes(run, abi.State.FAILED)()
    assert run("cell", "restart", "quest") == 0
    assert run.device.calls == ["shutdown 7", "start", "start"]


def test_cell_of_a_unit_is_restarted_by_its_unit(run: Run) -> None:
    run.create("--start")
    folder = Path(run.system.root) / "run/qv"
    folder.mkdir(parents=True)
    with (folder / "quest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run.device.calls.clear()
        assert run("cell", "restart", "quest") == 1
        assert "cell quest is kept by its unit\n  remedy: systemctl restart qv-cell@quest.service\n" in run.err
    assert not run.device.calls
    assert run("cell", "restart", "quest") == 0
