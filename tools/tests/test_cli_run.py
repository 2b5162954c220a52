# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell run: the main process of a cell's unit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fakes import FakeService
from running import YAML, Run

from qv import abi
from qv.service import Service


@pytest.fixture
def manager(run: Run) -> FakeService:
    return run.system.manager


def becomes(run: Run, state: abi.State, reason: int = 0) -> Callable[[], None]:
    def change() -> None:
        run.device.cells["quest"].state = state
        run.device.cells["quest"].failure.reason = reason
    return change


def keep(run: Run, *more: str) -> int:
    return run("cell", "run", str(run.yaml), *more)


def killed(run: Run) -> None:
    """The process ends without a word, as kill -9 ends it."""
    def die() -> None:
        raise KeyboardInterrupt
    run.system.manager.script = [die]
    keep(run)
    run.device.calls.clear()


def test_unit_creates_starts_and_ends_a_cell(run: Run, manager: FakeService) -> None:
    assert keep(run) == 0, run.err
    assert run.device.calls == ["enable", "create", "start", "shutdown 5000", "destroy"]
    assert manager.told[0] == "READY=1" and manager.told[-1] == "STOPPING=1"
    assert not list(run.yaml.parent.glob("*.cell"))


def test_watchdog_hears_a_heart_that_beats(run: Run, manager: FakeService) -> None:
    def beat() -> None:
        run.device.cells["quest"].heartbeat += 1
    manager.script = [beat, lambda: None, beat]
    assert keep(run) == 0, run.err
    lives = [line for line in manager.told if line.startswith(("STATUS=running", "WATCHDOG"))]
    assert [line.split(",")[0] for line in lives] == [
        "STATUS=running: 0 heartbeats", "WATCHDOG=1", "STATUS=running: 1 heartbeats", "WATCHDOG=1",
        "STATUS=running: 1 heartbeats", "STATUS=running: 2 heartbeats", "WATCHDOG=1"]


def test_failed_cell_starts_again_with_longer_pauses(run: Run, manager: FakeService) -> None:
    fails = becomes(run, abi.State.FAILED, abi.Failure.MEMORY)
    manager.script = [fails, fails, fails]
    assert keep(run, "--restarts", "2") == 3
    assert run.device.calls == ["enable", "create", "start", "start", "start"]
    assert manager.pauses[-2:] == [0.1, 0.2]
    assert "failed: it touched memory outside the cell; it starts again in 100 ms" in run.out
    assert "that was failure 3, so it is left as it is\n  remedy: `qvctl cell show quest`" in run.out
    assert run.device.cells["quest"].state == abi.State.FAILED, "it is kept to be looked at"


def test_a_good_minute_forgives_earlier_failures(run: Run, manager: FakeService) -> None:
    fails = becomes(run, abi.State.FAILED, abi.Failure.MEMORY)

    def later() -> None:
        run.system.clock += 61
        fails()
    manager.script = [fails, later, later]
    assert keep(run, "--restarts", "1") == 0
    assert manager.pauses[-3:] == [0.1, 0.1, 0.1]


def test_killed_process_leaves_a_cell_that_the_next_takes_over(run: Run) -> None:
    killed(run)
    assert keep(run) == 0, run.err
    assert "cell quest runs already: it is taken over" in run.out
    assert run.device.calls == ["shutdown 5000", "destroy"]


@pytest.mark.parametrize("change", ["file", "image", "mark"])
def test_changed_cell_is_replaced(run: Run, change: str) -> None:
    killed(run)
    if change == "file":
        run.yaml.write_text(YAML + "debug: true\n")
    elif change == "image":
        image = run.yaml.parent / "quest.elf"
        image.write_bytes(image.read_bytes() + b"\0")
    else:
        (run.yaml.parent / "quest.cell").unlink()
    assert keep(run) == 0, run.err
    assert "it is replaced" in run.out
    assert run.device.calls == ["destroy", "create", "start", "shutdown 5000", "destroy"]


def test_cell_that_ended_or_is_gone_ends_the_unit(run: Run, manager: FakeService) -> None:
    manager.script = [becomes(run, abi.State.SHUT_DOWN)]
    assert keep(run) == 0, run.err
    assert "has ended by itself" in run.out and not run.device.cells
    manager.script = [run.device.cells.clear]
    assert keep(run) == 0, run.err
    assert "was destroyed by another command" in run.out


def test_without_systemd_nothing_is_sent() -> None:
    service = Service({})
    service.tell("READY=1")
    assert service.watchdog is None and not service.ended
