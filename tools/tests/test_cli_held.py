# SPDX-License-Identifier: GPL-2.0-only
"""Failed cells that are held, cell recover, cell on-failure, and the history of a console."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import FakeService
from running import YAML, Run

from qv import abi
from qv.cli import main
from qv.cli.recover import choice
from qv.cli.waiting import is_kept
from qv.errors import Refused


@pytest.fixture
def manager(run: Run) -> FakeService:
    run.device.enabled = True
    manager = run.system.manager
    manager.folder = str(Path(run.system.root) / "run/qv")
    return manager


def becomes(run: Run, state: abi.State) -> Callable[[], None]:
    def change() -> None:
        run.device.cells["quest"].state = state
        run.device.cells["quest"].failure.reason = (
            abi.Failure.MEMORY if state == abi.State.FAILED else 0
        )

    return change


def inner(run: Run, *argv: str) -> None:
    """A command of another process, whose output stays among that of the unit's process."""
    assert main(argv, run.system) == 0  # type: ignore[arg-type]


def keep(run: Run) -> int:
    return run("cell", "run", str(run.yaml))


def test_held_cell_waits_for_recover(run: Run, manager: FakeService) -> None:
    run.yaml.write_text(YAML + "on-failure: hold\n")

    def recover() -> None:
        inner(run, "cell", "recover", "quest")

    manager.script = [
        becomes(run, abi.State.FAILED),
        lambda: None,
        lambda: None,
        recover,
        lambda: None,
    ]
    assert keep(run) == 0, run.err
    assert (
        "held as it is\n  remedy: `qvctl cell show quest` says more; then qvctl cell recover quest"
        in run.out
    )
    assert "cell quest runs again: another command has started it" in run.out
    assert run.device.calls == ["create", "start", "start", "shutdown 5000", "destroy"]
    assert manager.told.count("STATUS=failed: it touched memory outside the cell; held") == 3
    assert manager.told.count("WATCHDOG=1") >= 3


def test_choice_at_run_time_counts_more_than_the_file(run: Run, manager: FakeService) -> None:
    def choose(what: str) -> Callable[[], None]:
        def change() -> None:
            inner(run, "--json", "cell", "on-failure", "quest", "--set", what)

        return change

    def hold() -> None:
        choose("hold")()
        becomes(run, abi.State.FAILED)()

    manager.script = [hold, choose("restart"), lambda: None]
    assert keep(run) == 0, run.err
    assert "it is held as it is" in run.out and "it starts again in 100 ms" in run.out
    assert '{"name": "quest", "on_failure": "hold"}' in run.out
    assert run.device.calls.count("start") == 2
    assert choice(manager.folder, "quest", "restart") == "restart", "the choice ended with the unit"
    assert run("cell", "on-failure", "quest") == 1 and "no unit keeps cell quest" in run.err
    assert run("cell", "on-failure", "quest", "--set", "never") == 2


def test_choice_is_printed_without_a_change(run: Run, manager: FakeService) -> None:
    file = Path(run.system.root) / "etc/qv/cells/quest.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        YAML.replace("quest.elf", str(run.yaml.parent / "quest.elf")) + "on-failure: hold\n"
    )
    run.yaml.write_text(file.read_text())

    def look() -> None:
        inner(run, "--json", "cell", "on-failure", "quest")

    manager.script = [
        look,
        lambda: inner(run, "cell", "on-failure", "quest", "--set", "restart"),
        look,
        file.unlink,
        look,
    ]
    assert keep(run) == 0, run.err
    said = [json.loads(line) for line in run.out.splitlines() if line.startswith("{")]
    assert [line["on_failure"] for line in said] == ["hold", "restart", "restart"]


def test_choice_of_a_file_that_is_gone_is_refused(run: Run, manager: FakeService) -> None:
    told: list[int] = []
    manager.script = [
        lambda: told.append(main(["cell", "on-failure", "quest"], run.system))  # type: ignore[arg-type]
    ]
    assert keep(run) == 0 and told == [1]
    assert "is wrong or absent, so what it says is not known\n  remedy: qvctl config check" in run.err


def test_choice_ends_when_the_unit_gives_up(run: Run, manager: FakeService) -> None:
    """The next start of the unit does as the cell's file says."""

    def fail() -> None:
        inner(run, "cell", "on-failure", "quest", "--set", "restart")
        becomes(run, abi.State.FAILED)()

    manager.script = [fail]
    assert run("cell", "run", str(run.yaml), "--restarts", "0") == 3
    assert choice(manager.folder, "quest", "hold") == "hold"


def test_only_root_may_ask_for_the_unit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.create("--start")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("qv.cli.waiting.os.open", refuse)
        with pytest.raises(Refused) as refusal:
            is_kept(run.system, "quest")  # type: ignore[arg-type]
    assert "only root may ask whether a unit keeps cell quest" in refusal.value.text()


class Window:
    """A transcript that counts how often the next life begins."""

    lost, lives = 0, 0

    def restart(self) -> None:
        self.lives += 1

    def is_ready(self) -> bool:
        return True

    def has_ended(self) -> bool:
        return False

    def lines(self, *_: object) -> list[str]:
        return []

    def recoveries(self, *_: object) -> list[object]:
        return []


def test_start_by_another_command_during_the_pause(run: Run, manager: FakeService) -> None:
    """The transcript follows the new life, and failures count from the beginning again."""
    run.yaml.write_text(YAML + "console: true\n")
    window = Window()
    run.system.transcript = lambda _name: window  # type: ignore[assignment, return-value]
    manager.asleep = lambda: (
        inner(run, "cell", "recover", "quest")
        if run.device.cells["quest"].state == abi.State.FAILED
        else None
    )
    manager.script = [becomes(run, abi.State.FAILED), lambda: None, becomes(run, abi.State.FAILED)]
    assert keep(run) == 0, run.err
    assert run.out.count("cell quest runs again: another command has started it") == 2
    assert window.lives == 3, "of the start, and of both others"
    assert run.out.count("it starts again in 100 ms") == 2


@pytest.mark.parametrize("gone", [False, True])
def test_unit_of_a_held_cell_ends(run: Run, manager: FakeService, gone: bool) -> None:
    run.yaml.write_text(YAML + "on-failure: hold\n")
    manager.script = [becomes(run, abi.State.FAILED), *([run.device.cells.clear] if gone else [])]
    assert keep(run) == 0, run.err
    assert not run.device.cells
    assert ("was destroyed by another command" in run.out) is gone


def test_recover_refuses_other_cells(run: Run) -> None:
    run.create("--start")
    assert run("cell", "recover", "quest") == 1
    assert "cell quest has not failed: it is running" in run.err
    becomes(run, abi.State.FAILED)()
    folder = Path(run.system.root) / "run/qv"
    folder.mkdir(parents=True)
    (folder / "quest.cell").write_text("a mark of the unit\n")
    assert run("cell", "recover", "quest") == 1
    assert (
        "failed too often, and its unit has ended\n  remedy: systemctl restart qv-cell@quest.service"
        in run.err
    )
    with (folder / "quest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run("cell", "recover", "quest") == 0, run.err
    assert run.device.cells["quest"].state == abi.State.RUNNING


ENTRY = {"__REALTIME_TIMESTAMP": "1700000000000001", "MESSAGE": "hello"}


def test_console_log_prints_the_journal(run: Run) -> None:
    run.system.entries = [json.dumps(ENTRY), json.dumps({**ENTRY, "MESSAGE": [97, 27, 98]})]
    assert run("cell", "console-log", "quest", "-n", "5", "--boot", "-1") == 0, run.err
    assert run.out == "hello\na?b\n"
    assert run.system.systemd == [
        "--output=json --output-fields=MESSAGE --lines=5 --boot=-1 "
        "_UID=0 SYSLOG_IDENTIFIER=qv-console QV_CELL=quest"
    ]
    run.system.logged = ["quest"]
    assert run("--json", "cell", "console-log", "quest", "-f") == 0
    assert json.loads(run.out.splitlines()[0]) == {
        "name": "quest",
        "time_ns": 1700000000000001000,
        "line": "hello",
    }
    assert "--follow --lines=all" in run.system.systemd[2]


def test_console_log_of_no_cell(run: Run) -> None:
    """It waits for no lines of a name that is misspelt."""
    run.system.logged, run.system.entries = ["camera\n"], [json.dumps(ENTRY)]
    (cells := Path(run.system.root) / "etc/qv/cells").mkdir(parents=True)
    (cells / "kamera2.yaml").write_text("")
    run.create()
    assert run("cell", "console-log", "camrea", "-f") == 1
    assert run.out == ""
    assert (
        "there is no cell camrea (perhaps camera or kamera2), and the journal has no line of one\n"
        "  remedy: qvctl cell list; only root" in run.err
    )
    run.system.entries = []
    assert run("cell", "console-log", "qest") == 1
    assert "there is no cell qest (perhaps quest), and" in run.err
    for name in ("camera", "kamera2", "quest"):
        run("cell", "console-log", name, "-f")
        assert f"the journal has no line of cell {name}\n" in run.err
    run.system.fake = Refused("the module qv is not loaded", "modprobe qv")
    assert run("cell", "console-log", "quest", "-f") == 1
    assert "there is no cell quest, and" in run.err


def test_console_log_without_lines(run: Run) -> None:
    run.system.logged = ["quest"]
    assert run("cell", "console-log", "quest") == 1
    assert (
        "the journal has no line of cell quest\n  remedy: qvctl cell console-log quest --stream"
        in run.err
    )
    assert (
        run("cell", "console-log", "quest", "--stream") == 1
        and "there is no cell quest with a console" in run.err
    )
    assert run("cell", "console-log", "quest", "--stream", "-f") == 2
    assert run("cell", "console-log", "quest", "--boot", "1") == 2
