# SPDX-License-Identifier: GPL-2.0-only
"""Entries of the journal, their catalog, and the lines of a cell's console."""

from __future__ import annotations

import os
import re
import socket
import struct
from pathlib import Path

import pytest

from qv.journal import KINDS, Journal, encoded, post
from qv.transcript import HEAD, LEN, LINES, STATE, STREAM, Transcript, plain

CATALOG = Path(__file__).resolve().parents[1] / "systemd/qv.catalog"
WINDOW = 0x8000


def test_entry_has_its_fields(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(str(tmp_path / "journal"))
        stdout = os.fstat(1)
        journal = Journal({"JOURNAL_STREAM": f"{stdout.st_dev}:{stdout.st_ino}"}, str(tmp_path / "journal"))
        assert journal and journal.send("failed", "it failed\nagain", QV_CELL="quest", QV_FAILURE="memory")
        assert end.recv(4096) == (
            b"MESSAGE\n" + struct.pack("<Q", 15) + b"it failed\nagain\nMESSAGE_ID=" + KINDS["failed"].id.encode() +
            b"\nPRIORITY=3\nSYSLOG_IDENTIFIER=qvctl\nQV_EVENT=failed\nQV_CELL=quest\nQV_FAILURE=memory\n")


@pytest.mark.parametrize("stream", ["", "1:2"])
def test_output_that_is_no_journal_gets_no_entry(stream: str) -> None:
    journal = Journal({"JOURNAL_STREAM": stream})
    assert not journal and not journal.send("failed", "it failed")


def test_journal_that_is_away_is_no_error(tmp_path: Path) -> None:
    stdout = os.fstat(1)
    journal = Journal({"JOURNAL_STREAM": f"{stdout.st_dev}:{stdout.st_ino}"}, str(tmp_path / "none"))
    assert not journal.send("failed", "it failed")


def test_receiver_that_hangs_blocks_nothing(tmp_path: Path) -> None:
    """A cell starts again while systemd or the journal hangs."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(str(tmp_path / "full"))
        sent = 0
        while post(str(tmp_path / "full"), b"WATCHDOG=1"):
            sent += 1
        assert sent and end.recv(64) == b"WATCHDOG=1" and post(str(tmp_path / "full"), b"READY=1")


def test_text_that_no_encoding_has() -> None:
    assert encoded({"MESSAGE": "a\ud800b"}) == b"MESSAGE=a?b\n"


def test_catalog_explains_each_kind() -> None:
    found = re.findall(r"^-- ([0-9a-f]{32})\nSubject: \S.*\nDefined-By: QV\nSupport: \S+\n\n\S", CATALOG.read_text(), re.M)
    assert found == [kind.id for kind in KINDS.values()]
    assert len(set(found)) == len(found)


class Inmate:
    """Prints to a window that is a file."""

    def __init__(self, folder: Path) -> None:
        (folder / "quest").mkdir()
        self.path = folder / "quest/console"
        self.path.write_bytes(bytes(WINDOW))
        self.head = 0

    def print(self, data: bytes) -> None:
        window = bytearray(self.path.read_bytes())
        for byte in data:
            window[STREAM + self.head % LEN] = byte
            self.head += 1
        struct.pack_into("<I", window, HEAD, self.head % 2 ** 32)
        with self.path.open("r+b") as stream:
            stream.write(window)

    def set_state(self, state: int) -> None:
        with self.path.open("r+b") as stream:
            stream.seek(STATE)
            stream.write(struct.pack("<I", state))


@pytest.fixture
def inmate(tmp_path: Path) -> Inmate:
    return Inmate(tmp_path)


def test_console_that_cannot_be_mapped_is_closed(tmp_path: Path) -> None:
    """`qvctl events -f` tries it again five times a second."""
    (tmp_path / "quest").mkdir()
    (tmp_path / "quest/console").symlink_to("/dev/null")
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError):
        Transcript("quest", str(tmp_path))
    assert os.listdir("/proc/self/fd") == before


def test_lines_come_whole_and_without_prompts(inmate: Inmate, tmp_path: Path) -> None:
    inmate.print(b"before\n")
    console = Transcript("quest", str(tmp_path))
    assert list(console.lines(0)) == [], "a process that takes over begins here"
    inmate.print(b"one\r\ntw")
    assert list(console.lines(0)) == ["one"]
    inmate.print(b"o\n\n> \x04count\r\n5\n> \x04")
    assert list(console.lines(0)) == ["two", "count", "5"]
    inmate.print(b"last \x1b[2J\x84")
    assert list(console.lines(0)) == []
    assert list(console.lines(0, end=True)) == ["last \u00e4"]
    console.close()


@pytest.mark.parametrize("sequence", [b"\x1b[1;31m", b"\x1b]0;a title\x07", b"\x1b]0;a title\x1b\\"])
def test_sequence_in_two_parts_of_a_long_line_is_removed(
        sequence: bytes, inmate: Inmate, tmp_path: Path) -> None:
    console = Transcript("quest", str(tmp_path))
    for cut in range(1, len(sequence)):
        inmate.print(b"x" * 1000 + sequence[:cut])
        found = list(console.lines(cut))
        inmate.print(sequence[cut:] + b"end\n")
        assert "".join(found + list(console.lines(cut))) == "x" * 1000 + "end"
    inmate.print(b"x" * 1001 + b"\x1b]0;" + b"t" * 3000)
    assert list(console.lines(90)) == ["x" * 1000, "x"]
    inmate.print(b"t" * 3000 + b"\x07end\n")
    assert list(console.lines(95)) == ["end"]
    console.close()


def test_tabs_become_spaces(inmate: Inmate, tmp_path: Path) -> None:
    """Otherwise each tab is shown as a question mark."""
    console = Transcript("quest", str(tmp_path))
    inmate.print(b"a\tb\n")
    assert list(console.lines(0)) == ["a       b"]
    assert console.kept() == "a       b\n"
    console.close()


def test_next_life_begins_at_the_first_byte(inmate: Inmate, tmp_path: Path) -> None:
    console = Transcript("quest", str(tmp_path))
    inmate.print(b"the first life\nrest")
    assert list(console.lines(0, end=True)) == ["the first life", "rest"]
    inmate.head = 0
    inmate.print(b"the second\n")
    console.restart()
    assert list(console.lines(0)) == ["the second"]
    console.close()


def test_overwritten_bytes_are_counted(inmate: Inmate, tmp_path: Path) -> None:
    console = Transcript("quest", str(tmp_path))
    inmate.print(b"x" * 7 + b"\n" + (b"y" * 99 + b"\n") * 163 + b"z" * 83 + b"\n")
    lines = list(console.lines(0))
    assert console.lost == 8 and lines[0] == "y" * 99 and lines[-1] == "z" * 83 and len(lines) == 164
    inmate.head = 2 ** 32 - 5
    inmate.print(b"")
    console._position = inmate.head
    inmate.print(b"over the end\n")
    assert list(console.lines(5)) == ["over the end"]
    console.close()


def test_flood_of_lines_is_limited(inmate: Inmate, tmp_path: Path) -> None:
    console = Transcript("quest", str(tmp_path))
    inmate.print(b"a\n" * (LINES + 50))
    assert list(console.lines(10.0)) == ["a"] * LINES
    inmate.print(b"b\n")
    assert list(console.lines(11.0)) == [f"(50 lines were left out: more than {LINES} came in a second)", "b"]
    inmate.print(b"c" * 2500 + b"\n")
    assert [len(line) for line in console.lines(12.0)] == [1000, 1000, 500]
    console.close()


def test_state_of_the_inmate(inmate: Inmate, tmp_path: Path) -> None:
    console = Transcript("quest", str(tmp_path))
    found = []
    for state in (0, 1, 2):
        inmate.set_state(state)
        found.append((console.is_ready(), console.has_ended()))
    assert found == [(False, False), (True, False), (True, True)]
    console.close()


@pytest.mark.parametrize("before", [0, 5, LEN + 5])
def test_stream_holds_the_last_bytes(inmate: Inmate, tmp_path: Path, before: int) -> None:
    inmate.print(b"." * before + b"\nold\r\n\x04> \x01new\n")
    kept = Transcript("quest", str(tmp_path)).kept()
    assert kept.endswith("old\n> ?new\n") and len(kept) <= LEN
    assert kept.count(".") == min(before, LEN - 14)


@pytest.mark.parametrize(("line", "words"), [
    (b"plain", b"plain"), (b"\x1b[92mQuest\x1b[0m, ready", b"Quest, ready"), (b"\x1b[2J", b""),
    (b"a\x1b[1;31", b"a"), (b"\x1b\x1b[Kb[c", b"b[c"),
    (b"\x1b]0;title\x07a\x1b]8;;x\x1b\\b\x1bPq1\x1b\\c", b"abc"), (b"\x1b(Bascii\x1b7 end", b"ascii end"),
    (b"\x1b]0;never ends", b"")])
def test_colours_are_left_out(line: bytes, words: bytes) -> None:
    assert plain(line) == words
