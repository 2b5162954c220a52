# SPDX-License-Identifier: GPL-2.0-only
"""systemctl reload of a cell's unit: SIGHUP for qvctl cell run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from running import YAML, Run

from qv import abi
from qv.errors import Refused

FIRST = ["create", "start"]
LAST = ["shutdown 5000", "destroy"]
OTHER = YAML + "debug: true\n"


@pytest.fixture(autouse=True)
def enabled(run: Run) -> None:
    run.device.enabled = True


class Once(dict[str, Refused]):
    """Refusals of which each is of one call only."""

    def __getitem__(self, name: str) -> Refused:
        return self.pop(name)


def answer(run: Run) -> Path:
    return Path(run.system.manager.folder) / "quest.reload"


def reloaded(run: Run, text: str, *before: Callable[[], object]) -> list[str]:
    """Runs the unit's process, changes the file and asks it to read the file again. Returns the
    calls to the driver after those of the first start and before those of the end."""
    def change() -> None:
        run.yaml.write_text(text)
        run.system.manager.reload = True
    run.system.manager.script = [*before, change, lambda: None]
    assert run("cell", "run", str(run.yaml)) == 0, run.err
    assert run.device.calls[:2] == FIRST and run.device.calls[-2:] == LAST
    return run.device.calls[2:-2]


def test_changed_file_replaces_the_cell(run: Run) -> None:
    assert reloaded(run, OTHER) == ["shutdown 5000", "destroy", *FIRST]
    assert "the cell is replaced" in run.out and answer(run).read_text() == ""
    told = run.system.manager.told
    assert told.count("READY=1") == 1 and told.count("WATCHDOG_USEC=30000000") > 1


def test_file_that_has_not_changed_leaves_the_cell_alone(run: Run) -> None:
    """Other values for the unit hold at once."""
    assert reloaded(run, YAML + "restart: {limit: 0}\n") == []
    assert "stays as it is: no file that makes it has changed" in run.out


def test_values_for_the_unit_hold_at_once(run: Run) -> None:
    def reload() -> None:
        run.yaml.write_text(YAML + "restart: {limit: 0}\n")
        run.system.manager.reload = True

    def fail() -> None:
        run.device.cells["quest"].state = abi.State.FAILED
    run.system.manager.script = [reload, fail]
    assert run("cell", "run", str(run.yaml)) == 3
    assert run.device.calls == FIRST and "that was failure 1" in run.out


@pytest.mark.parametrize("text, said", [
    (YAML + "cpu: 3\n", "cpu"),
    (YAML.replace("name: quest", "name: other"), "the file is that of a cell other now\n  remedy: "),
    (YAML.replace("quest.elf", "nothing.elf"), "nothing.elf")])
def test_wrong_file_leaves_the_cell_alone(run: Run, text: str, said: str) -> None:
    assert reloaded(run, text) == []
    assert "cell quest stays as it is, since its file is refused: " in run.out and said in run.out
    assert answer(run).read_text() in run.out and said in answer(run).read_text()


@pytest.mark.parametrize("step", ["create", "start"])
def test_refused_cell_starts_again_as_it_was(run: Run, step: str) -> None:
    def refuse() -> None:
        run.device.refuse = Once({step: Refused("there is no room", "end programs",
                                                abi.Reason.E_NO_MEMORY)})
    calls = reloaded(run, OTHER, refuse)
    assert calls[:2] == ["shutdown 5000", "destroy"] and calls[-2:] == FIRST
    assert ("cell quest starts again as it was, since the new one is refused: there is no room\n"
            "  remedy: end programs") in run.out
    assert answer(run).read_text().endswith("there is no room\n  remedy: end programs")


REQUIRES = "requires: [camera]\n"


def camera_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def systemctl(*words: str) -> None:
        if words == ("is-active", "qv-cell@camera.service"):
            raise Refused("systemctl is-active failed: it did not say why")
    monkeypatch.setattr(run.system, "systemctl", systemctl)


@pytest.mark.parametrize("before", [YAML, YAML + REQUIRES])
def test_required_cell_that_does_not_run_leaves_the_cell_alone(
        run: Run, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    run.yaml.write_text(before)
    assert reloaded(run, OTHER + REQUIRES, lambda: camera_ends(run, monkeypatch)) == []
    said = "cell quest requires cell camera, whose unit does not run"
    assert said in run.out and said in answer(run).read_text()


def test_refused_cell_starts_again_without_the_required_cell(
        run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell of before has done without it until now."""
    run.yaml.write_text(YAML + REQUIRES)
    shutdown = run.device.shutdown

    def end_both(name: str, timeout: int) -> abi.Reply:
        camera_ends(run, monkeypatch)
        return shutdown(name, timeout)
    monkeypatch.setattr(run.device, "shutdown", end_both)
    calls = reloaded(run, OTHER + REQUIRES)
    assert calls == ["shutdown 5000", "destroy", *FIRST]
    assert "cell quest starts again as it was, since the new one is refused: cell quest requires" in run.out


def test_held_cell_is_replaced(run: Run) -> None:
    """A user mends the file or the program of a cell that has failed."""
    run.yaml.write_text(YAML + "on-failure: hold\n")

    def fail() -> None:
        run.device.cells["quest"].state = abi.State.FAILED
        run.device.cells["quest"].failure.reason = abi.Failure.MEMORY
    assert reloaded(run, OTHER, fail) == ["destroy", *FIRST]


def test_held_cell_whose_file_has_not_changed_stays_failed(run: Run) -> None:
    held = YAML + "on-failure: hold\n"
    run.yaml.write_text(held)

    def fail() -> None:
        run.device.cells["quest"].state = abi.State.FAILED
        run.device.cells["quest"].failure.reason = abi.Failure.MEMORY

    def reload() -> None:
        run.system.manager.reload = True
    run.system.manager.script = [fail, reload, lambda: None]
    assert run("cell", "run", str(run.yaml)) == 0, run.err
    assert "cell quest stays failed: no file that makes it has changed\n  remedy: " in run.out
    assert "stays as it is: no file" not in run.out
    assert answer(run).read_text().startswith("cell quest stays failed: ")


WORDS = "cell quest stays failed: no file that makes it has changed\n  remedy: look at it"


@pytest.mark.parametrize("words, status", [(WORDS, 1), ("", 0), (None, 1)])
def test_reload_waits_for_the_answer_of_the_process(run: Run, monkeypatch: pytest.MonkeyPatch,
                                                    words: str | None, status: int) -> None:
    """An answer to an earlier call is not taken. The process may end instead of answering."""
    answer(run).write_text("an earlier one")
    sent: list[int] = []

    def kill(process: int, number: int) -> None:
        assert process == 4711
        if sent and words is None:
            raise ProcessLookupError
        sent.append(number)
        assert sent[0] == 1, "SIGHUP"
        if len(sent) == 1:
            assert not answer(run).exists()
        elif len(sent) == 3 and words is not None:
            answer(run).write_text(words)
    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setenv("MAINPID", "4711")
    assert run("cell", "run", "--reload", str(run.yaml)) == status
    expected = {WORDS: f"qvctl: {WORDS}\n", "": "", None: (
        "qvctl: the process of qv-cell@quest.service ended when it read the file again\n"
        "  remedy: systemctl status qv-cell@quest.service\n")}
    assert run.err == expected[words] and not answer(run).exists()
    assert run.device.calls == [], "the process of the unit does the work"


def test_reload_of_another_name_is_refused_at_once(run: Run,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the unit answers by the name that it knows, so no answer would come."""
    kept = Path(run.system.root) / "etc/qv/cells/quest.yaml"
    kept.parent.mkdir(parents=True)
    kept.write_text(run.yaml.read_text().replace("name: quest", "name: other"))
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("the process was asked"))
    monkeypatch.setenv("MAINPID", "4711")
    assert run("cell", "run", "--reload", str(kept)) != 0
    assert "the file quest.yaml describes the cell other" in run.err


def test_reload_by_hand_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAINPID", raising=False)
    assert run("cell", "run", "--reload", str(run.yaml)) == 1
    assert "is for the unit of a cell\n  remedy: systemctl reload qv-cell@quest.service" in run.err


def test_hang_up_asks_for_the_file_only_under_systemd() -> None:
    code = """if True:
        import os, signal
        from qv.service import Service
        for folder, heard in (("/run/qv", (False, True)), ("", (True, False))):
            service = Service({"RUNTIME_DIRECTORY": folder})
            os.kill(os.getpid(), signal.SIGHUP)
            service.sleep(0.1)
            assert (service.ended, service.reload) == heard
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
