# SPDX-License-Identifier: GPL-2.0-only
"""Counts of channels that qvctl shows: items, rates, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from channelfiles import Memory
from running import Run

from qv import channelfs, output, window
from qv.cli import channels


def test_show_counts_of_a_ring(three: Run, tmp_path: Path, mapped: None) -> None:
    memory = Memory(tmp_path / "orders", [4096, 4096 + 8192])
    for which, word, value in ((0, window.COUNT, 9), (1, window.BOUND, 5),
                               (1, window.COUNT, 7), (1, window.HIGH, 3),
                               (0, window.LOST, 4), (1, window.LOST, 1), (0, window.REFUSED, 6)):
        memory.word(which, word, value)
    assert three.json("channel", "show", "orders", "--json")["counts"] == {
        "items": 9, "occupancy": 2, "high_water": 3, "lost": 5, "overruns": 6, "error": None}
    three("channel", "show", "orders")
    assert "occupancy:   2\nhigh water:  3\nlost:        5\noverruns:    6\n" in three.out
    shown = three.json("cell", "show", "quest", "--json")["channels"]
    assert [c["counts"] and c["counts"]["occupancy"] for c in shown] == [None, 2, None]
    three("cell", "show", "quest")
    assert ("orders, ring of 16 bytes, 4 slots, linux to quest; "
            "items 9, occupancy 2, high water 3, lost 5, overruns 6\n" in three.out)
    memory.word(1, window.COUNT, 10)
    assert three.json("channel", "show", "orders", "--json")["counts"]["error"] == "corrupt"
    memory.word(1, window.COUNT, 9)
    for generation, state, error in ((5, 2, "stopped"), (5, 3, "failed"), (0, 0, "absent")):
        memory.end(0, generation, state)
        assert three.json("channel", "show", "orders", "--json")["counts"]["error"] == error
    assert three.json("channel", "show", "talk", "--json")["counts"] is None


def test_count_of_another_life_is_not_corrupt(three: Run, tmp_path: Path, mapped: None) -> None:
    """The reader's count is of the writer's life before, until the reader binds again."""
    memory = Memory(tmp_path / "orders", [4096, 4096 + 8192])
    memory.word(1, window.BOUND, 5)
    memory.word(1, window.COUNT, 7)
    memory.end(0, 6, 1)
    for items, freed, occupancy in ((0, 0, 0), (2, 0, 2), (5, 4, 1)):
        memory.word(0, window.COUNT, items)
        memory.word(0, window.FREED, freed)
        counts = three.json("channel", "show", "orders", "--json")["counts"]
        assert (counts["items"], counts["occupancy"], counts["error"]) == (items, occupancy, None)
    # it starts again: its life word comes first, then the words of its section are zeroed
    memory.end(0, 7, 2)
    memory.word(0, window.GENERATION, 6)
    memory.word(0, window.COUNT, 0)
    assert three.json("channel", "show", "orders", "--json")["counts"]["error"] == "absent"


def test_rate_of_a_four_slot(three: Run, tmp_path: Path, mapped: None,
                             monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(tmp_path / "sensor", [4096, 4096 + 8192])
    pair, slot, stride = 2, 1, 32
    memory.word(0, window.COUNT, pair)
    memory.word(0, window.SLOT + pair, slot)
    number = (window.DATA + (2 * pair + slot) * stride) // 8 + 1
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        memory.word(0, number, round(clock[0] * 1000))
    monkeypatch.setattr(channels.time, "sleep", sleep)
    monkeypatch.setattr(channels.time, "monotonic", lambda: clock[0])
    assert three("channel", "hz", "sensor", "--interval", "0.5", "-n", "2") == 0
    assert three.out == "1000.0 items/s, items 500\n1000.0 items/s, items 1000\n"
    three("channel", "hz", "sensor", "-n", "1", "--json")
    found = json.loads(three.out)
    assert (found["channel"], found["rate"], found["items"], found["error"]) == ("sensor", 1000.0, 2000, None)
    memory.word(0, window.COUNT, 3)     # there are three pairs
    assert three.json("channel", "show", "sensor", "--json")["counts"]["error"] == "corrupt"
    assert three("channel", "hz", "talk", "-n", "1") == 1 and "no items that Linux can count" in three.err


def test_list_with_rate_looks_twice(three: Run, tmp_path: Path, mapped: None,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer of the ring that writes 40 items a second, and starts again in the second look.
    Without --rate nothing sleeps."""
    memory = Memory(tmp_path / "orders", [4096, 4096 + 8192])
    clock = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds
        memory.word(0, window.COUNT, round(clock[0] * 40) % 110)
    monkeypatch.setattr(channels.time, "sleep", sleep)
    monkeypatch.setattr(channels.time, "monotonic", lambda: clock[0])
    three("channel", "list", "--rate", "2")
    assert three.out.splitlines()[0].split() == ["NAME", "TYPE", "ITEM", "SLOTS", "ENDS", "RATE", "ERROR", "DEVICE"]
    assert three.out.splitlines()[2].split()[-2:] == ["40.0/s", f"{tmp_path}/orders"]
    assert [c["rate"] for c in three.json("channel", "list", "--rate", "2", "--json")["channels"]] == [None, 25.0, None]
    assert three.json("channel", "show", "orders", "--rate", "0.5", "--json")["rate"] == 40.0
    three("channel", "show", "orders", "--rate", "0.5")
    assert "rate:        40.0/s\n" in three.out
    del slept[:]
    assert [c["rate"] for c in three.json("channel", "list", "--json")["channels"]] == [None] * 3 and not slept
    assert three("channel", "list", "--rate", "0") == 2


def test_last_error_of_the_device_is_shown(three: Run, tmp_path: Path, mapped: None,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channelfs, "SYSFS", str(tmp_path / "sys"))
    monkeypatch.setattr(output.time, "clock_gettime_ns", lambda _clock: 75_000_000_000)
    memory = Memory(tmp_path / "orders", [4096, 4096 + 8192])
    file = tmp_path / "sys/orders/last_error"
    file.parent.mkdir(parents=True)

    def listed() -> list[str]:
        three("channel", "list")
        return three.out.splitlines()[2].split()
    file.write_text("none\n")
    plain = listed()
    assert three.json("channel", "show", "orders", "--json")["last_error"] is None
    file.write_text("corrupt 72500000000\n")
    assert listed() == [*plain[:-1], "corrupt", "2.500", "s", "ago", plain[-1]]
    assert three.json("channel", "show", "orders", "--json")["last_error"] == {"error": "corrupt", "at_ns": 72500000000}
    three("channel", "show", "orders")
    assert "last error:  corrupt 2.500 s ago\n" in three.out
    memory.end(0, 5, 3)  # the writer has failed: that is the case now
    assert listed() == [*plain[:-1], "failed", plain[-1]]


def test_top_shows_channels(three: Run, tmp_path: Path, mapped: None) -> None:
    """Three channels: a ring that Linux writes, a four-slot without a window yet, and a mailbox
    without an end of Linux."""
    three.device.enabled = True
    orders = Memory(tmp_path / "orders", [4096, 4096 + 8192])
    orders.word(1, window.BOUND, 5)
    count = [100]
    orders.word(0, window.COUNT, 100)
    slept = three.system.sleep

    def second(seconds: float) -> None:
        slept(seconds)
        orders.word(0, window.COUNT, count[0] + int(25 * seconds))
        orders.word(1, window.COUNT, count[0] + int(25 * seconds) - 3)
        count[0] += int(25 * seconds)
    three.system.sleep = second  # type: ignore[method-assign]
    found = three.json("top", "-n", "1", "--interval", "2", "--json")["channels"]
    assert [(one["name"], one["items_per_second"], one["waiting"]) for one in found] == [
        ("sensor", None, None), ("orders", 25.0, 3), ("talk", None, None)]
    assert found[1]["ends"] == [{"name": "linux", "state": "running"}, {"name": "quest", "state": "loadable"}]
    assert three("top", "-n", "1", "--interval", "2") == 0
    assert re.search(r"^CHANNEL +TYPE +ENDS +ITEMS/S +WAITING +ERROR$", three.out, re.MULTILINE), three.out
    assert re.search(r"^orders +ring +linux:running quest:loadable +25.0 +3$", three.out, re.MULTILINE), three.out
    count[0] = 0
    found = three.json("top", "-n", "1", "--interval", "2", "--json")["channels"]
    assert found[1]["items_per_second"] == 25.0, "a new life of the writer counts from 0"
