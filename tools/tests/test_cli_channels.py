# SPDX-License-Identifier: GPL-2.0-only
"""qvctl channel, on files instead of devices, and channels in the files of cells."""

from __future__ import annotations

import errno
import fcntl
import grp
import json
import math
import os
import struct
from pathlib import Path

import pytest
from channelfiles import LINES, Memory
from running import YAML, Run

from qv import abi, channelfs, window
from qv.cli import channels
from qv.cli.recordings import Recording
from qv.errors import NotAllowed


def test_channels_are_packed_for_the_driver_and_shown(three: Run) -> None:
    info = three.device.cells["quest"]
    assert info.num_channels == 3
    plan = info.channels[1]
    assert (plan.name, plan.type, plan.full, plan.flags) == (b"orders", 3, 2, 2)
    assert (plan.num_ends, plan.item, plan.slots) == (2, 16, 4)
    assert [end.value for end in plan.ends][:3] == [b"linux", b"quest", b""]
    assert info.channels[2].flags == 0
    assert (plan.uid, plan.gid, plan.mode) == (0, grp.getgrnam("daemon").gr_gid, 0o640)
    shown = three.json("cell", "show", "quest", "--json")["channels"]
    group = "qv" if any(g.gr_name == "qv" for g in grp.getgrall()) else "root"
    assert [c["name"] for c in shown] == ["sensor", "orders", "talk"]
    assert shown[0] == {"name": "sensor", "type": "four-slot", "item": 8, "slots": 1, "full": None, "writer": "quest",
                        "writers": ["quest"], "readers": ["linux", "other"], "reconnect": "auto", "schema": None, "bell": False,
                        "owner": f"root:{group}", "mode": "0660", "counts": None}
    assert [(c["owner"], c["mode"]) for c in shown[1:]] == [("root:daemon", "0640"), (None, None)]
    three("cell", "show", "quest")
    assert "channel:     orders, ring of 16 bytes, 4 slots, linux to quest\n" in three.out


def test_memory_with_several_writers(run: Run) -> None:
    run.yaml.write_text(YAML + "channels:\n  - {name: table, type: memory, item: 64, writers: [linux, quest], readers: [other]}\n"
                        "  - {name: both, type: memory, item: 64, writers: [quest, linux]}\n")
    run.create()
    plans = run.device.cells["quest"].channels[:2]
    assert [(plan.num_ends, plan.writers) for plan in plans] == [(3, 2), (2, 2)]
    shown = run.json("cell", "show", "quest", "--json")["channels"]
    assert [(c["writer"], c["writers"], c["readers"]) for c in shown] == [
        ("linux", ["linux", "quest"], ["quest", "other"]), ("quest", ["quest", "linux"], ["linux"])]
    run("cell", "show", "quest")
    assert "table, memory of 64 bytes, linux and quest to other\n" in run.out
    assert "both, memory of 64 bytes, between quest and linux\n" in run.out
    run("cell", "export", "quest")
    assert 'writers: ["linux", "quest"], readers: ["other"]' in run.out


def test_all_writers_are_shown(run: Run) -> None:
    run.yaml.write_text(YAML + "channels:\n  - {name: table, type: memory, item: 64, writers: [linux, quest], readers: [other]}\n"
                        "  - {name: both, type: memory, item: 64, writers: [quest, linux]}\n"
                        "  - {name: talk, type: mailbox, item: 8, writer: quest, readers: [other]}\n")
    run.create()
    for name, writers, readers in (("table", "writers:     linux, quest", "other"), ("both", "writers:     quest, linux", "none"),
                                   ("talk", "writer:      quest", "other")):
        assert run("channel", "show", name) == 0, run.err
        assert f"\n{writers}\nreaders:     {readers}\n" in run.out


def test_list_and_show(three: Run, tmp_path: Path) -> None:
    three("channel", "list")
    assert [line.split() for line in three.out.splitlines()] == [
        ["NAME", "TYPE", "ITEM", "SLOTS", "ENDS", "ERROR", "DEVICE"],
        ["sensor", "four-slot", "8", "quest:loadable", "linux:running", "other:absent", f"{tmp_path}/sensor"],
        ["orders", "ring", "16", "4", "linux:running", "quest:loadable", f"{tmp_path}/orders"],
        ["talk", "mailbox", "8", "quest:loadable", "other:absent"]]
    found = three.json("channel", "show", "talk", "--json")
    assert (found["device"], found["reconnect"]) == (None, "never")
    assert found in three.json("channel", "list", "--json")["channels"]
    assert three("channel", "show", "talk") == 0 and "none: Linux has no end" in three.out
    assert three("channel", "show", "none") == 1 and "no cell has a channel 'none'" in three.err


def test_list_without_root(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who may not open /dev/qv sees what sysfs shows of the channels with a device."""
    def refused() -> None:
        raise NotAllowed("you may not open /dev/qv", "run it with sudo, or as root")
    monkeypatch.setattr(run.system, "device", refused)
    monkeypatch.setattr(channelfs, "SYSFS", str(tmp_path / "none"))
    run("channel", "list")
    assert run.out.splitlines() == ["NAME  TYPE  ITEM  SLOTS  ENDS  ERROR  DEVICE"]
    monkeypatch.setattr(channelfs, "SYSFS", str(tmp_path / "sys"))
    monkeypatch.setattr(channelfs, "DEVICES", str(tmp_path))
    folder = tmp_path / "sys/orders"
    folder.mkdir(parents=True)
    for file, word in {"type": "ring", "item": "16", "slots": "4", "full": "block", "reconnect": "auto", "schema": "",
                       "bell": "one-shot", "writers": "linux", "ends": "linux quest", "state": "running stopped"}.items():
        (folder / file).write_text(word + "\n")
    (tmp_path / "sys/gone").mkdir()
    run("channel", "list")
    assert run.out.splitlines()[1].split() == ["orders", "ring", "16", "4", "linux:running", "quest:stopped", f"{tmp_path}/orders"]
    (tmp_path / "orders").touch(0o640)
    found = run.json("channel", "show", "orders", "--json")
    assert (found["mode"], found["writer"], found["readers"], found["schema"]) == ("0640", "linux", ["quest"], None)
    assert found["counts"] is None
    assert (found["bell"], found["writers"]) == ("one-shot", ["linux"])
    assert run("channel", "show", "sensor") == 1 and "no cell has a channel 'sensor'" in run.err


def test_send_and_watch(three: Run, tmp_path: Path) -> None:
    (tmp_path / "orders").touch()
    assert three("channel", "send", "orders", "--text", "go") == 0
    assert (tmp_path / "orders").read_bytes() == b"go".ljust(16, b"\0")
    assert three("channel", "send", "orders", "--text", "x" * 17) == 2
    (tmp_path / "sensor").write_bytes(b"1.5\0\0\0\0\0" + bytes(7) + b"\1")
    three("channel", "watch", "sensor")
    assert three.out == "1.5\n0000000000000001\n"
    assert three("channel", "watch", "sensor", "-n", "1", "--json") == 0
    assert json.loads(three.out) == {"channel": "sensor", "hex": "312e350000000000"}
    assert three("channel", "watch", "talk") == 1 and "Linux has no end of the channel" in three.err


@pytest.mark.parametrize(("state", "attached", "why"), [
    (abi.State.LOADABLE, None, "the cell quest has not started"),
    (abi.State.RUNNING, False, "no program of quest has opened sensor yet"),
    (abi.State.RUNNING, True, "sensor has no new item yet")])
def test_watch_says_why_nothing_comes(
        three: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: abi.State,
        attached: bool | None, why: str) -> None:
    """A person sees it, and a program that asks for JSON does not."""
    three.device.cells["other"] = abi.CellInfo(name=b"other", state=abi.State.RUNNING)
    three.device.cells["quest"].state = state
    monkeypatch.setattr(channels, "QUIET", 0.05)
    os.mkfifo(tmp_path / "sensor")
    writer = os.open(tmp_path / "sensor", os.O_RDWR)

    def late(_channel: object) -> bool | None:
        os.write(writer, b"late\0\0\0\0")
        return attached
    monkeypatch.setattr(channels, "_attached", late)
    assert three("channel", "watch", "sensor", "-n", "1") == 0
    assert (three.out, three.err) == ("late\n", f"qvctl: {why}; ^C ends the wait\n")
    os.write(writer, b"more\0\0\0\0")
    assert three("channel", "watch", "sensor", "-n", "1") == 0 and not three.err
    os.close(writer)


def test_format_has_the_values_of_an_item(three: Run, tmp_path: Path) -> None:
    (tmp_path / "orders").touch()
    send = ("channel", "send", "orders", "--format")
    assert three(*send, "<If4s?", "--text", "0x10 1.5 go yes") == 0, three.err
    assert (tmp_path / "orders").read_bytes() == struct.pack("<If4s?3x", 16, 1.5, b"go", True)
    for words, said in (
            (("<If", "--text", "7"), "the format <If has 2 values, the text 1"), (("<q", "--text", "1.5"), "value 1, `1.5`, does not fit `q`"),
            (("<bB", "--text", "1 256"), "value 2, `256`, does not fit `B`"), (("<3q", "--text", "1 2 3"), "the format <3q has 24 bytes"),
            (("Z", "--text", "1"), "--format: `Z` is not a format of Python's struct"), (("4x", "--text", ""), "--format: `4x` is not a"),
            (("9999999999x", "--text", "1"), "--format: `9999999999x` is not a"), (("999999999999B", "--text", "1"), "`999999999999B` is not a")):
        assert three(*send, *words) == 2 and said in three.err, three.err
    (tmp_path / "sensor").write_bytes(struct.pack("<hH4s", -1, 7, b"\x1bon"))
    assert three("channel", "watch", "sensor", "--format", "<hH4s") == 0
    assert three.out == "-1 7 ?on\n"
    assert three.json("channel", "watch", "sensor", "-n", "1", "--format", "<hH", "--json")["values"] == [-1, 7]
    assert three.json("channel", "record", "sensor", "-n", "1", "--format", "<h")["values"] == [-1]
    assert three("channel", "watch", "sensor", "--format", "<2q") == 2
    # numbers that JSON does not have
    (tmp_path / "sensor").write_bytes(struct.pack("<2f", math.nan, -math.inf))
    assert three.json("channel", "watch", "sensor", "-n", "1", "--format", "<2f", "--json")["values"] == ["nan", "-inf"]


def test_empty_item_is_refused(three: Run, tmp_path: Path) -> None:
    (tmp_path / "orders").touch()
    assert three("channel", "send", "orders", "--text", "") == 2
    assert "the item is empty: nothing is sent" in three.err and not (tmp_path / "orders").read_bytes()


def test_ring_needs_a_bell_and_a_running_cell(run: Run, tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "FOLDER", str(tmp_path))
    rung: list[tuple[str, int]] = []

    def ioctl(descriptor: int, number: int, *room: bytes) -> None:
        if room:
            raise OSError  # QV_CHANNEL_WINDOW: there are no counts
        rung.append((os.readlink(f"/proc/self/fd/{descriptor}"), number))
    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    run.yaml.write_text(YAML + LINES.replace("full: block", "full: block, bell: true"))
    run.create()
    for name in ("sensor", "orders"):
        (tmp_path / name).touch()
    assert run("channel", "ring", "orders") == 1 and "no cell of the channel 'orders' runs" in run.err
    assert run("cell", "start", "quest") == 0, run.err
    assert run("channel", "ring", "sensor") == 1 and "the channel 'sensor' has no bell" in run.err
    assert run("channel", "ring", "talk") == 1 and "Linux has no end of the channel" in run.err
    assert not rung
    assert run("channel", "ring", "orders") == 0 and run.out == ""
    assert run.json("channel", "ring", "orders", "--json") == {}
    assert rung == [(f"{tmp_path}/orders", 0x7162)] * 2
    assert (tmp_path / "orders").read_bytes() == b""


BOX = """channels:
  - {name: box, type: mailbox, item: 64, writer: linux, readers: [quest]}
  - {name: queue, type: ring, item: 8, slots: 4, full: error, writer: linux, readers: [quest]}
"""


@pytest.mark.parametrize(("name", "number", "started", "attached", "sentence", "remedy"), [
    ("box", errno.EAGAIN, False, False, "the cell quest has not started", "qvctl cell start quest"),
    ("box", errno.EAGAIN, True, False, "no program of quest has opened box yet",
     "start that program; `quesh quest` shows the console of the cell"),
    ("box", errno.EAGAIN, True, True, "box waits for the answer of quest",
     "let the program of quest write it first"),
    ("queue", errno.ENOBUFS, True, True, "queue is full: quest has not taken its items",
     "let its reader take items"),
    ("queue", errno.EAGAIN, True, True, "queue is full: quest has not taken its items",
     "let its reader take items"),
    ("queue", errno.EPIPE, False, True, "the cell quest has not started", "qvctl cell start quest"),
    ("queue", errno.EPIPE, True, True,
     "quest has restarted, and queue does not connect again (reconnect: never)",
     "destroy all cells of the channel, and create them again"),
    ("queue", errno.EBADMSG, True, True, "quest wrote to queue something that cannot be",
     "qvctl cell restart quest"),
    ("queue", errno.EOPNOTSUPP, True, True, "Linux only reads queue",
     "Linux is at the other end of this channel"),
])
def test_send_says_why_the_item_was_not_taken(
        run: Run, tmp_path: Path, mapped: None, monkeypatch: pytest.MonkeyPatch, name: str,
        number: int, started: bool, attached: bool, sentence: str, remedy: str) -> None:
    """It never says an errno."""
    monkeypatch.setattr(channels, "FOLDER", str(tmp_path))
    run.yaml.write_text(YAML + BOX)
    run.create(*["--start"] * started)
    Memory(tmp_path / name, [4096, 4096 + 8192]).word(1, window.GENERATION, 5 * attached)

    def write(_descriptor: int, _data: bytes) -> int:
        raise OSError(number, os.strerror(number))
    monkeypatch.setattr(channels.os, "write", write)
    assert run("channel", "send", name, "--text", "two") == 1
    assert run.err == f"qvctl: {sentence}\n  remedy: {remedy}\n"


@pytest.mark.parametrize(("number", "sentence"), [
    (errno.EBUSY, "another program has queue open for writing"),
    (errno.EACCES, "this user may not open {}/queue"),
    (errno.ENOENT, "there is no device {}/queue"),
])
def test_send_says_why_the_device_was_not_opened(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int,
        sentence: str) -> None:
    monkeypatch.setattr(channels, "FOLDER", str(tmp_path))
    run.yaml.write_text(YAML + BOX)
    run.create()
    usual = os.open

    def opened(path: str, *more: int) -> int:
        if str(path).startswith(str(tmp_path / "queue")):
            raise OSError(number, os.strerror(number))
        return usual(path, *more)
    monkeypatch.setattr(channels.os, "open", opened)
    assert run("channel", "send", "queue", "--text", "two") == 1
    assert run.err.splitlines()[0] == f"qvctl: {sentence.format(tmp_path)}"


def test_record_and_replay(three: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sensor").write_bytes(b"first\0\0\0" + b"second\0\0" + b"third\0\0\0")
    clock = iter([1.0, 1.25, 3.0])
    monkeypatch.setattr(channels.time, "monotonic", lambda: next(clock))
    assert three("channel", "record", "sensor", "--file", str(tmp_path / "record")) == 0
    lines = (tmp_path / "record").read_text()
    assert [json.loads(line)["seconds"] for line in lines.splitlines()] == [0, 0.25, 2.0]
    slept: list[float] = []
    monkeypatch.setattr(channels.time, "monotonic", lambda: sum(slept))
    monkeypatch.setattr(channels.time, "sleep", slept.append)
    (tmp_path / "sensor").write_bytes(b"")
    assert three("channel", "replay", "sensor", "--file", str(tmp_path / "record"), "--speed", "2") == 0
    assert (tmp_path / "sensor").read_bytes() == b"first\0\0\0second\0\0third\0\0\0"
    assert slept == [0.0, 0.125, 0.875]
    (tmp_path / "orders").touch()
    assert three("channel", "replay", "orders", "--file", str(tmp_path / "record")) == 2
    assert "line 1 has 8 bytes, an item of orders has 16" in three.err
    (tmp_path / "record").write_text("[]\n")
    assert three("channel", "replay", "sensor", "--file", str(tmp_path / "record")) == 2
    assert "line 1 is no line of" in three.err
    assert three("channel", "record", "sensor", "--file", str(tmp_path / "none" / "record")) == 1


def test_earlier_record_stays_until_an_item_comes(three: Run, tmp_path: Path) -> None:
    """The device may be busy, or give nothing."""
    record = tmp_path / "record"
    record.write_text("yesterday\n")
    assert three("channel", "record", "sensor", "--file", str(record)) == 1
    assert record.read_text() == "yesterday\n"
    (tmp_path / "sensor").write_bytes(b"first\0\0\0")
    assert three("channel", "record", "sensor", "--file", str(record)) == 0
    assert len(record.read_text().splitlines()) == 1 and "yesterday" not in record.read_text()


def test_each_line_of_a_record_is_written_at_once(tmp_path: Path) -> None:
    """`timeout 10 qvctl channel record` ends by a signal."""
    recording = Recording(str(tmp_path / "record"))
    recording.add({"seconds": 0})
    assert (tmp_path / "record").read_text() == '{"seconds": 0}\n'
    recording.close()


def test_record_on_a_full_disk_is_refused(three: Run, tmp_path: Path) -> None:
    (tmp_path / "sensor").write_bytes(b"first\0\0\0")
    assert three("channel", "record", "sensor", "--file", "/dev/full") == 1
    assert three.err == "qvctl: /dev/full: no space left on device\n  remedy: name a file that can be written\n"


@pytest.mark.parametrize("line, wrong", [
    ("{", "is no line of"), ("[" * 100000, "is no line of"), ('{"seconds": 1, "hex": "00"}', "has 1 bytes"),
    ('{"seconds": NaN, "hex": "0000000000000000"}', "has nan seconds"),
    ('{"seconds": 1e300, "hex": "0000000000000000"}', "has 1e+300 seconds"),
    ('{"seconds": -1, "hex": "0000000000000000"}', "has -1 seconds"),
])
def test_wrong_record_writes_no_item(three: Run, tmp_path: Path, line: str, wrong: str) -> None:
    """Status 2 says that nothing was changed."""
    (tmp_path / "sensor").write_bytes(b"")
    (tmp_path / "record").write_text('{"seconds": 0, "hex": "0000000000000000"}\n' + line + "\n")
    assert three("channel", "replay", "sensor", "--file", str(tmp_path / "record")) == 2
    assert f"line 2 {wrong}" in three.err
    assert (tmp_path / "sensor").read_bytes() == b""


def test_ends_must_agree(run: Run, tmp_path: Path) -> None:
    run.yaml.write_text(YAML + LINES)
    other = tmp_path / "other.yaml"
    same = YAML.replace("quest\n", "other\n", 1).replace("3", "2") + LINES
    same = "".join(line for line in same.splitlines(True) if "orders" not in line and ":daemon" not in line)
    other.write_text(same)
    assert run("config", "check", str(run.yaml), str(other)) == 0, run.err
    sensor = "{name: sensor, type: four-slot, item: 8, writer: quest, readers: [linux, other]}"
    for part, others in {
            "type: four-slot": "type: memory", "item: 8": "item: 24", "writer: quest": "writer: linux",
            "readers: [linux, other]": "readers: [other, linux]", "schema: none": "schema: twice@1", "bell: false": "bell: true",
            "bell: false ": "bell: one-shot", "owner: 0": "owner: 12", "mode: 0660": "mode: 0640", "reconnect: auto": "reconnect: never",
            }.items():
        line = sensor.replace(part, others) if part in sensor else sensor.replace("}", f", {others}}}")
        if others == "writer: linux":
            line = line.replace("[linux", "[quest")
        other.write_text(same.replace(sensor, line))
        assert run("config", "check", str(run.yaml), str(other)) == 2
        [error] = [text for text in run.err.splitlines() if "sensor is another channel in" in text]
        assert f"which says {part.strip()}" in error and f" where this file says {others}" in error, error
    other.write_text(same + "  - {name: orders, type: ring, item: 16, slots: 8, writer: linux, readers: [other]}\n")
    assert run("config", "check", str(run.yaml), str(other)) == 2
    assert "which says slots: 4 where this file says slots: 8 " in run.err


def test_numbers_are_those_of_the_format() -> None:
    """The driver and the tools have the limits and enumerations of qv/channel.h."""
    text = (Path(__file__).resolve().parents[2] / "include/qv/channel.h").read_text()
    for name, number in {"MAX_ENDS": abi.CHANNEL_ENDS, "SCHEMA_LEN": abi.CHANNEL_SCHEMA_LEN, "NAME_LEN": abi.NAME_LEN}.items():
        assert f"#define QV_CHAN_{name}" in text and f"{number}u" in text.split(f"QV_CHAN_{name}", 1)[1].split("\n")[0]
    for words, prefix in ((channels.key.TYPES, "QV_CHAN_"), (channels.key.FULL, "QV_CHAN_")):
        for word, number in words.items():
            name = word.upper().replace("-", "_")
            assert any(f"{prefix}{form}" in line and f"= {number}," in line for line in text.splitlines()
                       for form in (f"{name}\t", f"FULL_{name}\t"))


def test_channels_at_run_time(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "FOLDER", str(tmp_path))
    run.yaml.write_text(YAML + "dynamic-channels: {memory: 6M, with: [linux, other]}\n")
    run.create()
    info = run.device.cells["quest"]
    assert (info.num_dynamic, info.num_with) == (3, 2)
    assert [end.value for end in info.with_ends][:3] == [b"linux", b"other", b""]
    assert run("channel", "open", "quest", "--key", "0x2a") == 0
    assert run.out == f"{tmp_path}/key-000000000000002a\n"
    run("channel", "list")
    assert run.out.splitlines()[1].split() == ["key-000000000000002a", "ring", "8", "4", "quest:loadable",
                                               "linux:running", f"{tmp_path}/key-000000000000002a"]
    found = run.json("cell", "show", "quest", "--json")["dynamic_channels"]
    assert found == {"memory": 6 << 20, "with": ["linux", "other"], "keys": [42]}
    run("cell", "show", "quest")
    assert "run time:    6M for channels with linux, other; Linux has opened the keys 42\n" in run.out
    assert run("channel", "close", "quest", "--key", "42") == 0
    assert run.json("cell", "show", "quest", "--json")["dynamic_channels"]["keys"] == []
    assert run("channel", "open", "quest", "--key", "0") == 2 and "key" in run.err
    assert run("channel", "open", "quest") == 2 and "--key" in run.err
