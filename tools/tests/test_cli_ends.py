# SPDX-License-Identifier: GPL-2.0-only
"""How qvctl ends: nothing to do, several cells, errors as data, help, lost output, ^C; never with a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import FakeDevice
from running import NO_MEMORY, Run

from qv import abi, cli
from qv.errors import NotLoaded, Refused
from qv.files import Files

QVCTL = str(Path(__file__).resolve().parents[1] / "qvctl")
STATE = Refused("cell 'quest' is running already", "nothing to do", abi.Reason.E_STATE)


def say_done(run: Run, line: str, wanted: str) -> None:
    """If nothing is to be done, that is success with a sentence, and `changed` is false. With
    --strict the driver's refusal is reported."""
    assert run(*line.split()) == 0, run.err
    assert wanted in run.out
    assert run.json(*line.split(), "--json")["changed"] is False
    assert run(*line.split(), "--strict") == 1
    assert run.err.startswith("qvctl: ")


def test_verbs_twice(run: Run) -> None:
    run.create("--start")
    enabled = Refused("QV is enabled already", "-", abi.Reason.E_ENABLED)
    run.device.refuse = {"enable": enabled, "enable --strict": enabled, "start": STATE,
                         "lock": STATE, "unlock 5000": STATE, "shutdown 5000": STATE,
                         "disable": Refused("QV is not enabled", "-", abi.Reason.E_NOT_ENABLED)}
    say_done(run, "enable", "QV is enabled already")
    say_done(run, "disable", "QV is disabled already")
    say_done(run, "cell start quest", "cell quest runs already")
    say_done(run, "cell unlock quest", "cell quest has not locked management")
    run.device.cells["quest"].locked = 1
    say_done(run, "cell lock quest", "cell quest has locked management")
    run.device.cells["quest"].state = abi.State.SHUT_DOWN
    say_done(run, "cell shutdown quest", "cell quest does not run: it is shut-down")
    say_done(run, "cell destroy other", "there is no cell other: nothing to destroy")


def test_another_refusal_stays_one(run: Run) -> None:
    """A refusal is success only if the requested state holds already."""
    run.create()
    run.device.refuse["start"] = STATE
    assert run("cell", "start", "quest") == 1, "it is loadable, and refused to start"
    run.device.refuse["enable"] = NO_MEMORY
    assert run("enable") == 1
    assert run("cell", "start", "other") == 1


def test_disable_without_a_module(run: Run) -> None:
    run.system.fake = NotLoaded("the module qv is not loaded", "modprobe qv")
    say_done(run, "disable", "QV is disabled: the module qv is not loaded")


def test_destroy_without_a_module(run: Run) -> None:
    run.system.fake = NotLoaded("the module qv is not loaded", "modprobe qv")
    assert run("cell", "destroy", "quest", "other") == 0, run.err
    assert run.out == "".join(
        f"there is no cell {name}: the module qv is not loaded\n" for name in ("quest", "other"))
    assert run.json("cell", "destroy", "quest", "--json")["changed"] is False
    assert run("cell", "destroy", "quest", "--strict") == 1 and "is not loaded" in run.err
    assert run("cell", "shutdown", "quest") == 1


def test_several_cells(run: Run) -> None:
    run.create()
    run.yaml.write_text(run.yaml.read_text().replace("quest\n", "other\n", 1))
    run.create()
    assert run("cell", "start", "quest", "none", "other") == 1
    assert [line.split(" (")[0] for line in run.out.splitlines()] == ["cell quest runs", "cell other runs"]
    assert run.err.startswith("qvctl: there is no cell named none\n  remedy: ")
    assert run("cell", "show", "quest", "other", "--json") == 0
    assert [json.loads(line)["name"] for line in run.out.splitlines()] == ["quest", "other"]
    assert run("cell", "shutdown", "quest", "none", "--json") == 1 and run.err == ""
    first, second = map(json.loads, run.out.splitlines())
    assert first["state"] == "shut-down"
    assert second == {"name": "none", "error": {"sentence": "there is no cell named none", "remedy": "qvctl cell list shows the cells",
                                                "reason": "E_NO_CELL"}}
    assert run("cell", "destroy", "quest", "other") == 0 and run.device.cells == {}


def test_errors_as_data(run: Run) -> None:
    def error(status: int, *argv: str) -> dict[str, object]:
        assert run(*argv, "--json") == status and run.err == ""
        return json.loads(run.out)["error"]  # type: ignore[no-any-return]
    run.device.refuse["create"] = NO_MEMORY
    assert error(1, "cell", "create", str(run.yaml)) == {
        "sentence": "there are only 20M in 2M pages", "remedy": "end programs", "reason": "E_NO_MEMORY"}
    assert error(2, "cell", "start") == {"sentence": "cell start: NAME is missing",
                                         "usage": "qvctl cell start NAME... [--strict] [--json]"}
    run.yaml.write_text("name: quest\ncpus: [0]\nmemory: 64M\nimage: quest.elf\n")
    assert error(2, "cell", "create", str(run.yaml)) == {"sentence": "the configuration is wrong", "problems": [{
        "file": str(run.yaml), "line": 2, "column": 8, "key": "cpus", "wrong": "CPU 0 always stays with Linux", "right": "one or more of 1-3"}]}


@pytest.mark.parametrize("argv", [
    [], ["fly"], ["cell"], ["cell", "fly"], ["cell", "start"], ["cell", "list", "x"], ["config", "check"],
    ["cell", "shutdown", "q", "--timeout", "-1"], ["cell", "stats", "q", "--interval", "0"],
    ["cell", "stats", "q", "-n", "3"], ["--nonsense"]], ids=" ".join)
def test_wrong_usage(run: Run, argv: list[str]) -> None:
    assert run(*argv) == 2
    assert run.err.startswith("qvctl: ")
    assert run.device.calls == []


@pytest.mark.parametrize("line,sentence,usage", [
    ("cell shutdwon q", "cell: there is no `shutdwon` (perhaps `shutdown`)", "qvctl cell create|apply|"),
    ("cell shutdown q --timeout -1", "--timeout: `-1` is not a number of milliseconds (0 to 3600000)", "qvctl cell shutdown NAME... [--strict] [--timeout MS]"),
    ("cell shutdown q --timeot 1", "cell shutdown: there is no option --timeot (perhaps `--timeout`)", "qvctl cell shutdown NAME..."),
    ("cell shutdown q --timeout", "--timeout wants a value: MS", "qvctl cell shutdown NAME..."),
    ("cell list x", "cell list: `x` is too much", "qvctl cell list [-a] [--json]"),
    ("cell stop q", "cell: there is no `stop` (perhaps `qvctl cell shutdown NAME`)", "qvctl cell create|apply|"),
    ("cell rm q", "cell: there is no `rm` (perhaps `qvctl cell destroy NAME`)", "qvctl cell create|apply|"),
    ("cell console q", "cell: there is no `console` (perhaps `quesh NAME`)", "qvctl cell create|apply|"),
    ("cell exec q", "cell: there is no `exec` (perhaps `quesh NAME -c LINE`)", "qvctl cell create|apply|"),
    ("cell logs q", "cell: there is no `logs` (perhaps `qvctl cell console-log NAME`)", "qvctl cell create|apply|"),
    ("delete q", "there is no command `delete` (perhaps `qvctl cell destroy NAME`)", "qvctl COMMAND ..."),
    ("list", "there is no command `list` (perhaps `qvctl cell list` or `qvctl channel list`)", "qvctl COMMAND ..."),
    ("start q", "there is no command `start` (perhaps `qvctl cell start`)", "qvctl COMMAND ..."),
    ("cell create q.yaml --dry-run", "cell create: there is no option --dry-run (`qvctl cell apply` has it)", "qvctl cell create FILE"),
    ("run q.yaml", "there is no command `run` (perhaps `qvctl cell apply FILE`)", "qvctl COMMAND ..."),
    ("enabel", "there is no command `enabel` (perhaps `enable`)", "qvctl COMMAND ...")])
def test_usage_errors_show_the_usage_of_what_was_meant(run: Run, line: str, sentence: str, usage: str) -> None:
    assert run(*line.split()) == 2
    first, second = run.err.splitlines()
    assert first == f"qvctl: {sentence}" and second.startswith(f"  usage: {usage}")


def test_help(run: Run) -> None:
    assert run("help") == 0
    assert all(f"  {command.path} " in run.out for command in cli.COMMANDS)
    for command in cli.COMMANDS:
        assert run("help", *command.path.split()) == 0
        text = run.out
        assert text.startswith(f"usage: {command.usage()}\n") and command.words in text
        assert run(*command.path.split(), "--help") == 0 and run.out == text
    assert run("help", "cell") == 0 and "cell shutdown NAME..." in run.out
    assert run("help", "fly") == 2 and run("help", "cell", "fly") == 2


@pytest.mark.parametrize("columns", [50, 80, 120])
def test_help_fits_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    run("help")
    whole = run.out
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (["help"], ["help", "cell"], ["help", "cell", "create"], ["help", "analyze"]):
        assert run(*words) == 0
        # a name of a command is never split
        assert max(map(len, run.out.splitlines())) <= columns, run.out
    run("help")
    assert run.out.split() == whole.split()


def test_options_stand_anywhere(run: Run) -> None:
    run.create("--start")
    assert run("cell", "shutdown", "--timeout=7", "--", "quest") == 0
    assert "shutdown 7" in run.device.calls


def test_what_nobody_foresaw_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeDevice, "names", lambda self: 1 // 0)
    assert run("cell", "list") == 1
    assert run.err.startswith("qvctl: qvctl met something that it does not know: ZeroDivisionError: ") and "QVCTL_TRACE=1" in run.err


def qvctl(line: str, redirection: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", f"{sys.executable} -I {QVCTL} {line} {redirection}"], capture_output=True, text=True, check=False)


def test_standard_output_that_takes_nothing() -> None:
    for redirection, why in ((">/dev/full", "no space left on device"), (">&-", "it is closed")):
        for line in ("help", "--version", "doctor", "disable"):
            done = qvctl(line, redirection)
            assert (done.returncode, done.stdout) == (1, ""), line
            assert done.stderr.startswith(f"qvctl: the output could not be written: {why}\n  remedy: "), done.stderr
    assert qvctl("help --json fly", ">/dev/full").stderr == ""
    assert qvctl("cell fly", "2>&-").returncode == 2
    assert qvctl("cell fly", "2>/dev/full").returncode == 2
    assert qvctl("help", "| true").stderr == ""


@pytest.mark.parametrize("wait", [0.0, 0.005, 0.01, 0.02, 0.04, 0.08])
def test_an_interruption_has_no_traceback(wait: float) -> None:
    """The user presses ^C after the first lines of qvctl: during imports, while qvctl waits for a
    pipe, at the end."""
    read, write = os.pipe()
    process = subprocess.Popen([sys.executable, "-IS", "-c", f"""if True:
        import _signal, os, sys
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [2])
        sys.argv = ["qvctl", "config", "check", "-"]
        __file__ = {QVCTL!r}
        source = open(__file__).read().replace("# From a source", "_signal.pthread_sigmask(_signal.SIG_UNBLOCK, [2])\\n# From", 1)
        os.write({write}, b"x")
        exec(source)"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[write],
        # the children of a background job ignore SIGINT
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.read(read, 1)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert b"Traceback" not in err, err
    assert process.returncode in (130, -signal.SIGINT)
    os.close(read)
    os.close(write)


def test_an_interruption_of_the_first_import_has_no_traceback() -> None:
    """Loading `os` takes most of the time in which Python would still handle ^C by itself."""
    done = subprocess.run([sys.executable, "-IS", "-c", f"""if True:
        import _signal, sys
        source = open({QVCTL!r}).read()
        sys.addaudithook(lambda event, words: event != "import" or _signal.raise_signal(2))
        exec(source)"""], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_an_interrupted_call_says_how_things_stand(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(destroyed: bool) -> str:
        def destroy(self: FakeDevice, name: str) -> abi.Reply:
            if destroyed:
                del self.cells[name]
            raise KeyboardInterrupt
        monkeypatch.setattr(FakeDevice, "destroy", destroy)
        assert run("cell", "destroy", "quest") == 130
        return run.err
    run.create("--start")
    assert interrupted(False) == "qvctl: interrupted: cell quest is running\n"
    assert interrupted(True) == "qvctl: interrupted: cell quest is not there\n"

    def create(self: FakeDevice, request: abi.CellCreate, files: Files) -> abi.Reply:
        raise KeyboardInterrupt
    monkeypatch.setattr(FakeDevice, "create", create)
    assert run("cell", "create", str(run.yaml)) == 130
    assert run.err == "qvctl: interrupted: QV is enabled, cells: none\n"
