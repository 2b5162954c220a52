# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell run: the main process of a cell's unit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import FakeService
from running import YAML, Run

from qv import abi
from qv.errors import Refused


@pytest.fixture(autouse=True)
def enabled(run: Run) -> None:
    """qv.service has enabled QV."""
    run.device.enabled = True


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


def pauses(manager: FakeService) -> list[float]:
    """The pauses before a new start. The looks for the first heartbeat are shorter."""
    return [round(pause, 6) for pause in manager.pauses if pause > 0.05]


def killed(run: Run) -> None:
    """The process ends without a word, as kill -9 ends it."""
    def die() -> None:
        raise KeyboardInterrupt
    run.system.manager.script = [die]
    keep(run)
    run.device.calls.clear()


def test_unit_creates_starts_and_ends_a_cell(run: Run, manager: FakeService) -> None:
    assert keep(run) == 0, run.err
    assert run.device.calls == ["create", "start", "shutdown 5000", "destroy"]
    assert manager.told[:2] == ["WATCHDOG_USEC=30000000", "READY=1"]
    assert manager.told[-4:] == ["STOPPING=1", "EXTEND_TIMEOUT_USEC=30000000", "WATCHDOG_USEC=30000000", "STATUS=ended"]
    assert not list(run.yaml.parent.glob("*.cell"))


@pytest.mark.parametrize("obstacle, said", [
    ((abi.Reason.E_VIRT_IN_USE, b"kvm_amd is loaded", b"rmmod kvm_amd"),
     "qv.service could not enable QV: kvm_amd is loaded\n  remedy: rmmod kvm_amd\n"),
    ((0, b"", b""), "qv.service has not enabled QV\n  remedy: systemctl restart qv.service; ")])
def test_unit_says_why_qv_is_not_enabled(run: Run, manager: FakeService,
                                         obstacle: tuple[int, bytes, bytes], said: str) -> None:
    run.device.enabled, run.device.obstacle = False, obstacle
    assert keep(run) == 4
    assert said in run.err and run.device.calls == []


def test_command_without_a_unit_enables_qv(run: Run, manager: FakeService) -> None:
    run.device.enabled, manager.folder = False, ""
    assert keep(run) == 0, run.err
    assert run.device.calls[:2] == ["enable", "create"]


def test_status_tells_heartbeats_and_exits(run: Run, manager: FakeService) -> None:
    def beat() -> None:
        run.device.cells["quest"].heartbeat += 1
    manager.script = [beat]
    assert keep(run) == 0, run.err
    assert "STATUS=running: 1 heartbeat, 406 exits" in manager.told
    assert manager.told.count("WATCHDOG=1") == 2


def test_failed_cell_starts_again_with_longer_pauses(run: Run, manager: FakeService) -> None:
    fails = becomes(run, abi.State.FAILED, abi.Failure.MEMORY)
    manager.script = [fails, fails, fails]
    assert keep(run, "--restarts", "2") == 3
    assert run.device.calls == ["create", "start", "start", "start"]
    assert pauses(manager) == [0.1, 0.2]
    assert "failed: it touched memory outside the cell; it starts again in 100 ms" in run.out
    assert "that was failure 3, so it is left as it is\n  remedy: `qvctl cell show quest`" in run.out
    assert "systemctl reset-failed qv-cell@quest, and systemctl start qv-cell@quest" in run.out
    assert run.device.cells["quest"].state == abi.State.FAILED, "it is kept to be looked at"


def test_without_a_choice_a_cell_starts_again_ten_times(run: Run, manager: FakeService) -> None:
    manager.script = [becomes(run, abi.State.FAILED, abi.Failure.MEMORY)] * 11
    assert keep(run) == 3
    assert run.device.calls.count("start") == 11 and "that was failure 11" in run.out


def test_a_good_minute_forgives_earlier_failures(run: Run, manager: FakeService) -> None:
    fails = becomes(run, abi.State.FAILED, abi.Failure.MEMORY)

    def later() -> None:
        run.system.clock += 61
        fails()
    manager.script = [fails, later, later]
    assert keep(run, "--restarts", "1") == 0
    assert pauses(manager) == [0.1, 0.1, 0.1]


Entries = list[tuple[str, str, dict[str, str]]]
AGAIN = "cell quest failed, and runs again by itself after 5.93 ms: "


@pytest.fixture
def entries(manager: FakeService, monkeypatch: pytest.MonkeyPatch) -> Entries:
    """The entries that the journal gets: kind, words and fields of each."""
    found: Entries = []

    def send(kind: str, words: str, **fields: str) -> bool:
        found.append((kind, words, fields))
        return True
    monkeypatch.setattr(manager.journal, "send", send)
    return found


def begins_again(run: Run, restarts: int, reason: abi.Failure) -> Callable[[], None]:
    def change() -> None:
        info = run.device.cells["quest"]
        info.restarts, info.restart_ns = restarts, 5_930_000
        info.last_failure.reason, info.last_failure.rip = reason, 0x100085
    return change


def test_journal_tells_of_a_cell_on_standby(run: Run, manager: FakeService, entries: Entries,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Each restart by itself once, with its reason. The driver may not have seen the reasons of
    failures just before the last one. The next life counts from 0."""
    start = run.device.start

    def starts(name: str) -> abi.Reply:
        run.device.cells[name].restarts = 0
        return start(name)
    monkeypatch.setattr(run.device, "start", starts)

    def fails() -> None:
        begins_again(run, 5, abi.Failure.PANIC)()
        becomes(run, abi.State.FAILED, abi.Failure.MSR)()
    manager.script = [begins_again(run, 1, abi.Failure.MEMORY), lambda: None,
                      begins_again(run, 3, abi.Failure.PANIC), fails,
                      begins_again(run, 1, abi.Failure.PORT)]
    assert keep(run) == 0, run.err
    told = [(words, fields.get("QV_RESTARTS"), fields.get("QV_FAILURE"))
            for kind, words, fields in entries if kind == "began-again"]
    assert told == [
        (f"{AGAIN}it touched memory outside the cell", "1", "memory"),
        ("cell quest failed 2 times, and runs again by itself after 5.93 ms: the inmate panicked", "3", "panic"),
        ("cell quest failed 2 times, and ran again by itself, before its last failure", "5", None),
        (f"{AGAIN}it touched an I/O port that it does not own", "1", "port")]
    [first] = [fields for _, words, fields in entries if words == told[0][0]]
    assert (first["QV_CELL"], first["QV_RIP"], first["QV_RESTART_NS"]) == ("quest", "0x100085", "5930000")
    assert "QV_FAILURES" not in first
    [failed] = [fields for kind, _, fields in entries if kind == "failed"]
    assert (failed["QV_FAILURE"], failed["QV_FAILURES"]) == ("msr", "1")


def test_journal_tells_no_restart_from_before_the_process(run: Run, manager: FakeService,
                                                          entries: Entries) -> None:
    killed(run)
    begins_again(run, 7, abi.Failure.MEMORY)()
    entries.clear()
    manager.script = [begins_again(run, 8, abi.Failure.MEMORY)]
    assert keep(run) == 0, run.err
    assert [words for kind, words, _ in entries if kind in ("taken-over", "began-again")] == [
        "cell quest runs already: it is taken over", f"{AGAIN}it touched memory outside the cell"]


def test_killed_process_leaves_a_cell_that_the_next_takes_over(run: Run) -> None:
    killed(run)
    assert [file.stat().st_mode & 0o777 for file in run.yaml.parent.glob("*.cell")] == [0o600]
    assert keep(run) == 0, run.err
    assert "cell quest runs already: it is taken over" in run.out
    assert run.device.calls == ["shutdown 5000", "destroy"]


def test_cell_destroyed_in_the_pause_is_not_created_again(run: Run, manager: FakeService) -> None:
    manager.script = [becomes(run, abi.State.FAILED, abi.Failure.MEMORY)]
    manager.asleep = run.device.cells.clear
    assert keep(run) == 0, run.err
    assert "was destroyed by another command" in run.out
    assert run.device.calls == ["create", "start"]
    assert not list(run.yaml.parent.glob("*.cell"))


def test_locked_management_delays_the_next_start(run: Run, manager: FakeService) -> None:
    def fail() -> None:
        becomes(run, abi.State.FAILED, abi.Failure.MEMORY)()
        run.device.refuse["start"] = Refused("cell other has locked management", "", abi.Reason.E_LOCKED)

    def asleep() -> None:
        if manager.pauses[-1] == 15.0:
            run.device.refuse.clear()
    manager.script = [fail]
    manager.asleep = asleep
    assert keep(run) == 0, run.err
    assert "cell other has locked management; tried again in 30.000 s" in run.out
    assert run.device.calls[:4] == ["create", "start", "start", "start"]


def test_call_of_another_command_delays_the_next_start_briefly(
        run: Run, manager: FakeService) -> None:
    def fail() -> None:
        becomes(run, abi.State.FAILED, abi.Failure.MEMORY)()
        run.device.refuse["start"] = Refused("another management call is under way", "", abi.Reason.E_BUSY)

    def asleep() -> None:
        if len(pauses(manager)) == 4:
            run.device.refuse.clear()
    manager.script = [fail]
    manager.asleep = asleep
    assert keep(run) == 0, run.err
    assert pauses(manager) == [0.1, 0.2, 0.2, 0.2]
    assert run.out.count("another management call is under way; tried again in 200 ms") == 1


def test_long_pause_tells_systemd_that_the_process_is_well(run: Run, manager: FakeService) -> None:
    fails = becomes(run, abi.State.FAILED, abi.Failure.MEMORY)
    manager.script = [fails] * 12
    assert keep(run, "--restarts", "20") == 0, run.err
    assert max(manager.pauses) <= 15.0, "half of WatchdogSec"


def test_cell_that_no_unit_created_is_left_alone(run: Run) -> None:
    run.create("--start")
    assert keep(run) == 1
    assert "a cell quest exists, and no unit has created it" in run.err
    assert run.device.cells["quest"].state == abi.State.RUNNING


def is_left_alone(run: Run) -> bool:
    run.device.calls.clear()
    assert keep(run) == 1
    return "no unit has created it" in run.err and not run.device.calls


@pytest.mark.parametrize("call", ["create", "start"])
def test_cell_created_by_hand_after_a_refusal_is_left_alone(run: Run, call: str) -> None:
    """Also if it has the same configuration and the same image."""
    run.device.refuse[call] = Refused("a CPU does not answer", "", abi.Reason.E_CPU_STUCK)
    assert keep(run) == 1
    run.device.refuse.clear()
    run.create()
    assert is_left_alone(run)


@pytest.mark.parametrize("more", ["", "debug: true\n"])
def test_cell_created_by_hand_after_the_unit_gave_up_is_left_alone(
        run: Run, manager: FakeService, more: str) -> None:
    """It has the same id and the same facts."""
    def fail() -> None:
        becomes(run, abi.State.FAILED, abi.Failure.MEMORY)()
        run.device.cells["quest"].failures = 1
    manager.script = [fail]
    assert keep(run, "--restarts", "0") == 3
    run("cell", "destroy", "quest")
    run.create("--start")
    run.yaml.write_text(YAML + more)
    assert is_left_alone(run)


def test_cell_that_started_again_with_another_id_is_taken_over(run: Run) -> None:
    """The monitor gives the lowest free id, also to a cell that starts again."""
    killed(run)
    run.device.cells["quest"].id = 7
    assert keep(run) == 0, run.err
    assert run.device.calls == ["shutdown 5000", "destroy"]


@pytest.mark.parametrize("more", ["", "debug: true\n"])
def test_process_killed_between_mark_and_facts(run: Run, more: str) -> None:
    """The unit keeps the cell. If its file has changed meanwhile, it is replaced."""
    killed(run)
    mark = run.yaml.parent / "quest.cell"
    mark.write_text(mark.read_text().partition("\n")[0] + "\n")
    run.device.cells["quest"].state = abi.State.LOADABLE
    run.yaml.write_text(YAML + more)
    assert keep(run) == 0, run.err
    assert run.device.calls == [*(["destroy", "create"] if more else []), "start", "shutdown 5000", "destroy"]


def test_file_and_cell_have_one_name(run: Run, tmp_path: Path) -> None:
    """A unit has the name of its file."""
    run.system.root = str(tmp_path)
    folder = tmp_path / "etc/qv/cells"
    folder.mkdir(parents=True)
    link = folder / "camera.yaml"
    link.symlink_to(run.yaml)
    assert run("cell", "run", str(link)) == 2 and not run.device.calls
    assert "camera.yaml:1:7: name: the file camera.yaml describes the cell quest" in run.err
    # the image is next to the link's target
    link.rename(folder / "quest.yaml")
    assert run("cell", "run", str(folder / "quest.yaml")) == 0, run.err


def test_second_process_for_the_same_cell_is_refused(run: Run, manager: FakeService) -> None:
    def second() -> None:
        run.system.manager = FakeService(run.system, run.yaml.parent)
        assert keep(run) == 1
        assert "another process keeps cell quest running" in run.err
    manager.script = [second]
    assert keep(run) == 0
    assert not run.device.cells


def test_refused_start_leaves_no_cell(run: Run) -> None:
    run.device.refuse["start"] = Refused("a CPU does not answer", "", abi.Reason.E_CPU_STUCK)
    assert keep(run) == 1
    assert not run.device.cells


def test_cell_may_have_more_memory_than_is_free(run: Run) -> None:
    """The cell that is taken over has this memory itself."""
    run.yaml.write_text(YAML.replace("64M", "1536M"))
    assert keep(run) == 0, run.err


@pytest.mark.parametrize("change", ["file", "image", "module"])
def test_changed_cell_is_replaced(run: Run, change: str) -> None:
    module = run.yaml.parent / "hello"
    module.write_bytes(b"first")
    run.yaml.write_text(YAML + "modules: [hello]\n")
    killed(run)
    if change == "file":
        run.yaml.write_text(YAML + "modules: [hello]\ndebug: true\n")
    elif change == "module":
        module.write_bytes(b"other")
    else:
        image = run.yaml.parent / "quest.elf"
        image.write_bytes(image.read_bytes() + b"\0")
    assert keep(run) == 0, run.err
    assert "the cell is replaced" in run.out
    assert run.device.calls == ["destroy", "create", "start", "shutdown 5000", "destroy"]


def test_cell_that_another_command_ends_ends_the_unit(run: Run, manager: FakeService) -> None:
    manager.script = [becomes(run, abi.State.SHUT_DOWN)]
    assert keep(run) == 0, run.err
    assert "was shut down by another command" in run.out and not run.device.cells
    assert manager.told[-1] == "STATUS=another command shut it down"
    manager.script = [run.device.cells.clear]
    assert keep(run) == 0, run.err
    assert "was destroyed by another command" in run.out


def test_signals_interrupt_waits_only() -> None:
    """A signal that arrives between two waits ends the next one at once."""
    code = """if True:
        import os, signal, time
        from qv.service import Service
        service = Service({})
        service.tell("READY=1")
        os.kill(os.getpid(), signal.SIGTERM)
        assert not service.ended and service.watchdog is None
        began = time.monotonic()
        assert service.sleep(60) and time.monotonic() - began < 30"""
    tools = Path(__file__).resolve().parents[1]
    subprocess.run([sys.executable, "-B", "-c", code], check=True, cwd=tools)


def test_file_sets_pauses_and_limit(run: Run, manager: FakeService) -> None:
    run.yaml.write_text(YAML + "restart: {limit: 3, first: 200ms, most: 500ms, healthy: 30s}\nstop: 7s\n")
    fails = becomes(run, abi.State.FAILED, abi.Failure.MEMORY)

    def later() -> None:
        run.system.clock += 30
        fails()
    manager.script = [fails, fails, fails, later]
    assert keep(run) == 0, run.err
    assert pauses(manager) == [0.2, 0.4, 0.5, 0.2]
    assert "shutdown 7000" in run.device.calls


def test_cell_that_is_to_be_held(run: Run, manager: FakeService) -> None:
    run.yaml.write_text(YAML + "restart: off\n")
    manager.script = [becomes(run, abi.State.FAILED, abi.Failure.MEMORY)]
    assert keep(run) == 3 and not pauses(manager)


def test_environment_counts_less_than_the_file(run: Run, manager: FakeService,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QV_RESTARTS", "0")
    monkeypatch.setenv("QV_STOP_MS", "3000")
    monkeypatch.setenv("QV_RESTART_FIRST_MS", "")
    manager.script = [becomes(run, abi.State.FAILED, abi.Failure.MEMORY)]
    assert keep(run) == 3
    assert keep(run, "--restarts", "1") == 0
    run.yaml.write_text(YAML + "stop: 4s\nrestart: {limit: 1}\n")
    manager.ended = False
    manager.script = [becomes(run, abi.State.FAILED, abi.Failure.MEMORY)]
    assert keep(run) == 0 and "shutdown 4000" in run.device.calls
    monkeypatch.setenv("QV_STOP_MS", "soon")
    run.yaml.write_text(YAML)
    assert keep(run) == 1 and "QV_STOP_MS=soon is not a number" in run.err


def test_heart_that_does_not_beat_is_not_reported_as_well(run: Run, manager: FakeService) -> None:
    """The driver could not stop it, since another cell has locked management."""
    class Console:
        ended = False

        def lines(self, _now: float, _end: bool = False) -> list[str]:
            return []

        def recoveries(self, *_: object) -> list[object]:
            return []

        def restart(self) -> None: ...

        def is_ready(self) -> bool:
            return True

        def has_ended(self) -> bool:
            return self.ended

    console = Console()
    run.system.transcript = lambda _name: console  # type: ignore[assignment, return-value]

    def beat() -> None:
        run.device.cells["quest"].heartbeat += 1

    def end() -> None:
        console.ended = True
    manager.script = [beat, lambda: None, beat, end]
    assert keep(run) == 0, run.err
    reports = [line for line in manager.told if line.startswith("STATUS=running")]
    assert len(reports) == 5 and manager.told.count("WATCHDOG=1") == 4
    assert "WATCHDOG_USEC=30000000" in manager.told


def dies_at(run: Run, lives: list[int]) -> None:
    """The cell fails at these looks at its readiness, and has its first heartbeat at the tenth."""
    def asleep() -> None:
        cell, looks = run.device.cells["quest"], run.system.manager.pauses.count(0.02)
        if looks in lives and run.system.manager.pauses[-1] == 0.02:
            becomes(run, abi.State.FAILED, abi.Failure.MEMORY)()
        cell.heartbeat = looks >= 10
    run.system.manager.asleep = asleep
    run.yaml.write_text(YAML + "ready: beat\n")


def test_cell_that_fails_is_not_ready(run: Run, manager: FakeService) -> None:
    """The unit becomes active in the life that is ready, and each life has the time for it."""
    dies_at(run, [2, 5])
    manager.script = [lambda: None] * 3
    assert keep(run) == 0, run.err
    assert run.device.calls == ["create", "start", "start", "start", "shutdown 5000", "destroy"]
    assert pauses(manager) == [0.1, 0.2] and manager.pauses.count(0.02) == 10
    assert manager.told.count("READY=1") == 1
    ready = manager.told.index("READY=1")
    assert [line for line in manager.told[:ready] if line.startswith("EXTEND")] == ["EXTEND_TIMEOUT_USEC=330000000"] * 2
    assert any(line.startswith("STATUS=running") for line in manager.told[ready:])


def test_start_that_a_lock_delays_has_time(run: Run, manager: FakeService) -> None:
    """systemd would end the unit before the lock goes."""
    dies_at(run, [2])
    lives = manager.asleep

    def asleep() -> None:
        lives()
        if run.device.cells["quest"].state == abi.State.FAILED:
            run.device.refuse["start"] = Refused("cell other has locked management", "", abi.Reason.E_LOCKED)
        if manager.told.count("EXTEND_TIMEOUT_USEC=330000000") == 4 or len(manager.pauses) > 50:
            run.device.refuse.clear()
    manager.asleep = asleep
    manager.script = [lambda: None] * 3
    assert keep(run) == 0, run.err
    assert manager.told.count("READY=1") == 1
    assert manager.told[:manager.told.index("READY=1")].count("EXTEND_TIMEOUT_USEC=330000000") == 4


def test_cell_that_fails_too_often_is_never_ready(run: Run, manager: FakeService) -> None:
    dies_at(run, [2, 5])
    manager.script = [lambda: None] * 3
    assert keep(run, "--restarts", "1") == 3
    assert "READY=1" not in manager.told


def test_cell_destroyed_before_it_is_ready_ends_the_unit(run: Run, manager: FakeService) -> None:
    """An end without READY=1 would be a failure for systemd, which would create the cell again."""
    run.yaml.write_text(YAML + "ready: beat\n")
    manager.asleep = run.device.cells.clear
    assert keep(run) == 0, run.err
    assert "was destroyed by another command" in run.out and manager.told.count("READY=1") == 1
    assert manager.told[-1] == "STATUS=another command destroyed it"


@pytest.mark.parametrize("how, waits", [("start", 0), ("beat", 3), ("flag", 3)])
def test_inmate_is_ready_as_its_file_says(run: Run, manager: FakeService, how: str,
                                          waits: int) -> None:
    class Console:
        flag = False

        def lines(self, _now: float, _end: bool = False) -> list[str]:
            return []

        def recoveries(self, *_: object) -> list[object]:
            return []

        def restart(self) -> None: ...

        def is_ready(self) -> bool:
            return self.flag

        def has_ended(self) -> bool:
            return False

    console = Console()
    run.system.transcript = lambda _name: console  # type: ignore[assignment, return-value]
    run.yaml.write_text(YAML + f"ready: {how}\n")

    def asleep() -> None:
        if len(manager.pauses) == 3:
            console.flag = how == "flag"
            run.device.cells["quest"].heartbeat = how == "beat"
    manager.asleep = asleep
    assert keep(run) == 0, run.err
    assert manager.pauses == [0.02] * waits
