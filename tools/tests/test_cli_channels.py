# SPDX-License-Identifier: GPL-2.0-only
"""qvctl channel, on files instead of devices, and channels in the files of cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import YAML, Run

from qv import abi
from qv.cli import channels

LINES = """channels:
  - {name: sensor, type: four-slot, item: 8, writer: quest, readers: [linux, other]}
  - {name: orders, type: ring, item: 16, slots: 4, full: block, writer: linux, readers: [quest]}
  - {name: talk, type: mailbox, item: 8, writer: quest, readers: [other], reconnect: never}
"""


@pytest.fixture
def three(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Cell `quest` with three channels. Files take the place of the devices."""
    monkeypatch.setattr(channels, "FOLDER", str(tmp_path))
    run.yaml.write_text(YAML + LINES)
    run.create()
    return run


def test_channels_are_packed_for_the_driver_and_shown(three: Run) -> None:
    info = three.device.cells["quest"]
    assert info.num_channels == 3
    plan = info.channels[1]
    assert (plan.name, plan.type, plan.full, plan.flags) == (b"orders", 3, 2, 2)
    assert (plan.num_ends, plan.item, plan.slots) == (2, 16, 4)
    assert [end.value for end in plan.ends][:3] == [b"linux", b"quest", b""]
    assert info.channels[2].flags == 0
    shown = three.json("cell", "show", "quest", "--json")["channels"]
    assert [c["name"] for c in shown] == ["sensor", "orders", "talk"]
    assert shown[0] == {"name": "sensor", "type": "four-slot", "item": 8, "slots": 1, "full": None, "writer": "quest",
                        "readers": ["linux", "other"], "reconnect": "auto", "schema": None}
    three("cell", "show", "quest")
    assert "channel:     orders, ring of 16 bytes, 4 slots, linux to quest\n" in three.out


def test_list_and_show(three: Run, tmp_path: Path) -> None:
    three("channel", "list")
    assert [line.split() for line in three.out.splitlines()] == [
        ["NAME", "TYPE", "ITEM", "SLOTS", "ENDS", "DEVICE"],
        ["sensor", "four-slot", "8", "quest:loadable", "linux:running", "other:absent", f"{tmp_path}/sensor"],
        ["orders", "ring", "16", "4", "linux:running", "quest:loadable", f"{tmp_path}/orders"],
        ["talk", "mailbox", "8", "quest:loadable", "other:absent"]]
    found = three.json("channel", "show", "talk", "--json")
    assert (found["device"], found["memory"], found["reconnect"]) == (None, 2 << 20, "never")
    assert found in three.json("channel", "list", "--json")["channels"]
    assert three("channel", "show", "talk") == 0 and "none: Linux has no end" in three.out
    assert three("channel", "show", "none") == 1 and "no cell has a channel 'none'" in three.err


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


def test_ends_must_agree(run: Run, tmp_path: Path) -> None:
    run.yaml.write_text(YAML + LINES)
    other = tmp_path / "other.yaml"
    same = YAML.replace("quest\n", "other\n", 1).replace("3", "2") + LINES
    same = "".join(line for line in same.splitlines(True) if "orders" not in line)
    other.write_text(same)
    assert run("config", "check", str(run.yaml), str(other)) == 0, run.err
    other.write_text(same.replace("item: 8", "item: 24", 1))
    assert run("config", "check", str(run.yaml), str(other)) == 2
    assert "sensor is another channel in" in run.err


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
