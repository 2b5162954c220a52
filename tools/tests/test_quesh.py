# SPDX-License-Identifier: GPL-2.0-only
"""quesh as a whole, with a file for a console and a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeshell import LEAVE, LINE_MAX, LINE_STATUS, FakeShell

from qv.version import own

QUESH = os.environ.get("QUESH", "")
pytestmark = pytest.mark.skipif(not QUESH, reason="make check names the program in QUESH")
ROOT = "quesh gives up root, so this test needs it: tests/lab/qvlab make"
# sessions keep no history here, except in the test of that
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0", "XDG_STATE_HOME": "", "HOME": ""}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[FakeShell]:
    tmp_path.chmod(0o755)
    with FakeShell(tmp_path) as shell:
        shell.folder = tmp_path  # type: ignore[attr-defined]
        yield shell


def quesh(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([QUESH, "--folder", str(folder), *argv], capture_output=True, text=True,
                          env=ENVIRONMENT, timeout=120, stdin=subprocess.DEVNULL, check=False)


def test_command(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    done = quesh(tmp_path, "quest", "-c", "help")
    assert (done.returncode, done.stdout, done.stderr) == (0, "you said help\n", "")
    assert shell.lines == [b"help"]


def test_commands_one_after_another(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    done = quesh(tmp_path, "quest", "-c", "partial", "-c", "slow", "-c", "help")
    assert done.stdout == ("you said partial\nand no newline\nyou said slow\nyou said help\n")
    assert done.returncode == 0


def test_command_waits_for_the_shell(shell: FakeShell, tmp_path: Path) -> None:
    done = quesh(tmp_path, "quest", "-c", "help", "-t", "0.3")
    assert (done.returncode, done.stdout) == (124, "")
    assert "was not ready for a line within 0.3 s\n  remedy: a longer -t, or ^C in `quesh quest`" in done.stderr
    assert shell.lines == []


def test_command_that_does_not_end(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    done = quesh(tmp_path, "quest", "-c", "hang", "-t", "3")
    assert (done.returncode, done.stdout) == (124, "hanging^C\n")
    assert "did not end within 3 s\n  it was interrupted by ^C; remedy: a longer -t" in done.stderr
    assert quesh(tmp_path, "quest", "-c", "help").returncode == 0, "the shell is ready again"


def test_command_that_even_an_interruption_does_not_end(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    done = quesh(tmp_path, "quest", "-c", "hang on", "-t", "3")
    assert (done.returncode, done.stdout) == (124, "hanging\n")
    assert "did not end within 3 s\n  ^C does not end it: it still runs" in done.stderr


def test_status_of_a_command(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    for number in (0, 1, 127, 139, 255):
        done = quesh(tmp_path, "quest", "-c", f"exit {number}")
        assert (done.returncode, done.stderr) == (number, "")
    done = quesh(tmp_path, "quest", "-c", "exit 3", "-c", "help")
    assert (done.returncode, shell.lines[-1]) == (3, b"exit 3"), "a line that fails is the last one"
    shell.number(LINE_STATUS, 5)
    assert quesh(tmp_path, "quest", "-c", "help").returncode == 0, "a shell that tells nothing"


def test_line_that_the_shell_would_cut(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    shell.number(LINE_MAX, 20)
    done = quesh(tmp_path, "quest", "-c", "x" * 21)
    assert (done.returncode, done.stdout, shell.lines) == (2, "", [])
    assert "quesh: quest: the line has 21 bytes, and the cell's shell takes 20\n  remedy: " in done.stderr
    assert quesh(tmp_path, "quest", "-c", "x" * 20).returncode == 0


def test_flood_is_said(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    done = quesh(tmp_path, "quest", "-c", "flood")
    assert done.returncode == 0
    assert "came too fast and were lost" in done.stderr


def test_hostile_stream_head(shell: FakeShell, tmp_path: Path) -> None:
    shell.boot()
    shell.head = 0xfffffff0
    shell.put(b"\r\nquest> \x04" * 5)
    done = quesh(tmp_path, "quest", "-c", "help")
    assert (done.returncode, done.stdout) == (0, "you said help\n")


def test_dump(shell: FakeShell, tmp_path: Path) -> None:
    shell.screen(1, 2, b"box \xc9\xcd\xbb \x1b")
    done = quesh(tmp_path, "quest", "--dump")
    assert (done.returncode, done.stdout) == (0, "\n  box ╔═╗ ←\n")


@pytest.mark.parametrize(("argv", "status", "words"), [
    ((), 2, "which cell?"),
    (("quest",), 2, "no terminal here"),
    (("quest", "other", "--dump"), 2, "one cell at a time"),
    (("quest", "-c", "hello", "moon"), 2, "-c takes one word: quote the line"),
    (("../etc", "--dump"), 2, "name"),
    (("quest", "-c", "a\nb"), 2, "one line"),
    (("quest", "-c", "gr\u00fcn"), 2, "ASCII"),
    (("quest", "-t", "x", "--dump"), 2, "-t takes"),
    (("quest", "-c", "x", "--dump"), 2, "exclude"),
    (("quest", "--fly"), 2, "unknown option"), (("quest", "-c"), 2, "needs a value"),
    (("quest", "--log"), 2, "needs a value"),
    (("quest", "--dump", "--force"), 2, "leave out --force"),
    (("quest", "--dump", "--stay"), 2, "are for a terminal"),
    (("quest", "-c", "x", "--log", "/tmp/x"), 2, "are for a terminal"),
    (("quest", "-l"), 2, "take no cell's name"),
    (("nobody", "--dump"), 1, "there is no cell nobody"),
    (("nobody", "-c", "x", "--wait", "-t", "0.2"), 1, "there is no cell nobody"),
])
def test_refusals(shell: FakeShell, tmp_path: Path, argv: tuple[str, ...], status: int, words: str) -> None:
    done = quesh(tmp_path, *argv)
    assert done.returncode == status
    assert words in done.stderr


def test_version(tmp_path: Path) -> None:
    done = quesh(tmp_path, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"quesh {own()}\n", "")


class Terminal:
    """quesh on a pseudo-terminal."""

    def __init__(self, folder: Path, *more: str, rows: int = 30, cols: int = 100,
                 path: str = "") -> None:
        self.master, slave = pty.openpty()
        self.slave = slave
        self.resize(rows, cols)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [QUESH, "--folder", str(folder), "quest", *more], stdin=slave, stdout=slave, stderr=slave,
            env={**ENVIRONMENT, "PATH": path or os.environ["PATH"]}, start_new_session=True)
        self.seen = b""

    def resize(self, rows: int, cols: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("4H", rows, cols, 0, 0))

    def await_bytes(self, wanted: bytes) -> None:
        deadline = time.monotonic() + 60
        while wanted not in self.seen:
            assert time.monotonic() < deadline, (wanted, self.seen[-500:])
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536)

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        status = self.process.wait(60)
        self.await_bytes(b"\x1b[?1049l")
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is as it was"
        os.close(self.master)
        os.close(self.slave)
        return status


def test_session(shell: FakeShell, tmp_path: Path) -> None:
    shell.screen(2, 4, b"Quest", 0x1e)
    shell.cursor(3, 5)
    terminal = Terminal(tmp_path)
    terminal.await_bytes(b"\x1b[0;93;44mQuest")
    terminal.await_bytes(b"\x1b[4;6H\x1b[?25h")
    terminal.await_bytes(b"quest: ^] detaches, ^^ scrolls back")
    shell.screen(10, 0, b"later")
    terminal.await_bytes(b"later")
    terminal.type(b"\x1d")
    assert terminal.end() == 0


@pytest.mark.parametrize("rows", [3, 24, 30])
def test_how_to_leave_is_said_at_any_size(shell: FakeShell, tmp_path: Path, rows: int) -> None:
    """Before the screen is taken, and in the last row."""
    terminal = Terminal(tmp_path, rows=rows, cols=80)
    terminal.await_bytes(b"quest: ^] detaches, ^^ scrolls back")
    before, _, _ = terminal.seen.partition(b"\x1b[?1049h")
    assert before == b"quesh: quest: ^] (Ctrl and ]) detaches\r\n"
    shell.number(LEAVE, 1)
    terminal.await_bytes(b"quesh: detached; quest continues")
    assert terminal.end() == 0


def test_keys(shell: FakeShell, tmp_path: Path) -> None:
    """Types all keys at once: in a file, each later write would begin at the end of the earlier
    write."""
    terminal = Terminal(tmp_path)
    terminal.await_bytes(b"^] detaches")
    terminal.type(b"ab\x08\r")
    deadline = time.monotonic() + 60
    while not shell.lines and time.monotonic() < deadline:
        time.sleep(0.01)
    assert shell.lines == [b"ab\x7f"]
    terminal.type(b"\x1d")
    assert terminal.end() == 0


def test_resize(shell: FakeShell, tmp_path: Path) -> None:
    shell.screen(24, 0, b"bottom")
    shell.cursor(24, 0)
    terminal = Terminal(tmp_path)
    terminal.await_bytes(b"bottom")
    terminal.seen = b""
    terminal.resize(5, 20)
    terminal.process.send_signal(signal.SIGWINCH)
    terminal.await_bytes(b"\x1b[5;1H\x1b[0;37;40mbottom")
    terminal.type(b"\x1d")
    assert terminal.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT])
def test_terminal_is_restored(shell: FakeShell, tmp_path: Path, number: signal.Signals) -> None:
    terminal = Terminal(tmp_path)
    terminal.await_bytes(b"^] detaches")
    terminal.process.send_signal(number)
    assert terminal.end() == -number


def test_privileges_are_dropped(shell: FakeShell, tmp_path: Path) -> None:
    assert os.geteuid() == 0, ROOT
    terminal = Terminal(tmp_path)
    terminal.await_bytes(b"^] detaches")
    status = dict(line.split(":\t", 1) for line in
                  Path(f"/proc/{terminal.process.pid}/status").read_text().splitlines() if ":\t" in line)
    assert status["Uid"].split() == ["65534"] * 4 and status["Gid"].split() == ["65534"] * 4
    assert status["Groups"].split() == []
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"] == "1"
    terminal.type(b"\x1d")
    assert terminal.end() == 0


def test_sessions_of_root_keep_no_history(
        shell: FakeShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """quesh gives up root, so it promises nothing about files of root."""
    assert os.geteuid() == 0, ROOT
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    monkeypatch.setitem(ENVIRONMENT, "XDG_STATE_HOME", str(state))
    terminal = Terminal(tmp_path)
    terminal.await_bytes(b"^] detaches")
    shell.put(b"text\r\n")
    terminal.type(b"\x1d")
    assert terminal.end() == 0
    assert b"is not kept" not in terminal.seen and b"detached; quest continues" in terminal.seen
    assert not list(state.iterdir())


@pytest.fixture
def programs() -> Iterator[Path]:
    """A folder for programs of a test. quesh gives up root, so the folders above must be open, too."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_list(shell: FakeShell, tmp_path: Path) -> None:
    (tmp_path / "camera").mkdir()
    (tmp_path / "NOT-A-CELL").mkdir()
    done = quesh(tmp_path, "-l")
    assert (done.returncode, done.stdout) == (0, "camera            gone\nquest             running\n")
    done = quesh(tmp_path / "none", "--list")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "quesh: there is no cell with a console\n  remedy: qvctl cell list\n"


def test_log_and_scroll_back(shell: FakeShell, tmp_path: Path, programs: Path) -> None:
    """The history begins with the output that the console still holds, and has no escape sequence."""
    shell.put(b"be\x1b[2Jfore\r\n\x04")
    log = tmp_path / "log"
    program(programs, "less", "echo less \"$@\" secure=$LESSSECURE; while read -r line; do echo \"<$line>\"; done")
    terminal = Terminal(tmp_path, "--log", str(log), path=str(programs))
    terminal.await_bytes(b"scrolls back")
    shell.put(b"caf\x82\r\n")
    terminal.type(b"\x1e")
    terminal.await_bytes(b"less -S +G -- - secure=1")
    terminal.await_bytes(b"<before>")
    terminal.await_bytes("<caf\u00e9>".encode())
    terminal.seen = terminal.seen.partition("<caf\u00e9>".encode())[2]
    terminal.await_bytes(b"^] detaches")
    shell.put(b"end")
    terminal.type(b"\x1d")
    assert terminal.end() == 0
    assert log.read_text() == "before\ncaf\u00e9\nend" and log.stat().st_mode & 0o777 == 0o600


def test_options_of_the_person_do_not_end_less(
        shell: FakeShell, tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With -F, less would end at once, and the text could not be read."""
    program(programs, "less", "echo \"less=<$LESS>\"")
    monkeypatch.setitem(ENVIRONMENT, "LESS", "-FEX")
    terminal = Terminal(tmp_path, path=str(programs))
    terminal.await_bytes(b"scrolls back")
    terminal.type(b"\x1e")
    terminal.await_bytes(b"less=<>")
    terminal.seen = terminal.seen.partition(b"less=<>")[2]
    terminal.await_bytes(b"^] detaches")
    terminal.type(b"\x1d")
    assert terminal.end() == 0


def test_scroll_back_without_less(shell: FakeShell, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, path=str(tmp_path))
    terminal.await_bytes(b"scrolls back")
    terminal.type(b"\x1e")
    terminal.await_bytes(b"quest: less is not installed")
    terminal.type(b"\x1d")
    assert terminal.end() == 0


def test_log_that_cannot_be_written(shell: FakeShell, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--log", str(tmp_path / "none/log"))
    terminal.await_bytes(b"none/log cannot be opened (No such file or directory)\r\n  remedy: ")
    assert terminal.process.wait(10) == 1
    terminal = Terminal(tmp_path, "--log", "/dev/full")
    terminal.await_bytes(b"scrolls back")
    shell.put(b"more\n")
    terminal.await_bytes(b"quest: the log cannot be written")
    terminal.type(b"\x1d")
    assert terminal.end() == 0


def test_tmux_has_a_window_for_each_cell(shell: FakeShell, tmp_path: Path, programs: Path) -> None:
    """A quesh inside tmux makes tmux go to the session, since sessions do not nest."""
    (tmp_path / "camera").mkdir()
    program(programs, "tmux", "[ $1 != has-session ] || exit $(cat \"${0%/*}/status\"); printf '<%s>' \"$@\"")
    second = [";", "new-window", "-d", "-n", "quest"]
    for status, tmux, words, last in (
            (1, "", [["new-session", "-s", "qv", "-n", "camera"], second], ""),
            (0, "", [["attach-session", "-t", "=qv"]], ""),
            (1, "/tmp/a,1,0", [["new-session", "-ds", "qv", "-n", "camera"], second],
             "<;><switch-client><-t><=qv>"),
            (0, "/tmp/a,1,0", [["switch-client", "-t", "=qv"]], "")):
        (programs / "status").write_text(f"{status}\n")
        done = subprocess.run([QUESH, "--folder", str(tmp_path), "--tmux"], capture_output=True,
                              text=True, check=True,
                              env={**ENVIRONMENT, "PATH": f"{programs}:{os.environ['PATH']}", "TMUX": tmux})
        wanted = []
        for one in words:
            inside = [os.path.realpath(QUESH), "--stay", "--folder", str(tmp_path), one[-1]]
            wanted += one + (inside if status else [])
        assert done.stdout == "".join(f"<{word}>" for word in wanted) + last
    assert subprocess.run([QUESH, "--folder", str(tmp_path / "none"), "--tmux"], capture_output=True, check=False,
                          env={**ENVIRONMENT, "PATH": str(tmp_path)}).returncode == 1
