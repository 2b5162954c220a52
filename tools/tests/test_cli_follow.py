# SPDX-License-Identifier: GPL-2.0-only
"""qvctl log and events on a driver that exists only here."""

from __future__ import annotations

import json

import pytest
from running import Run

from qv import abi
from qv.cli import follow
from qv.errors import Refused


def test_log(run: Run) -> None:
    assert run("log") == 0
    assert run.out.splitlines()[0] == "1.500000 monitor: enters on 4 CPUs"
    assert "\x1b" not in run.out
    lines = run.json("log", "--json")["lines"]
    assert lines[0] == {"time_s": 1.5, "source": "monitor", "text": "enters on 4 CPUs"}


def test_log_of_one_cell_and_of_the_last_minutes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.device.lines = [b"1.000000 qv: cell quest: it runs\n", b"2.000000 quest: cpu 3: a word\n", b"3.000000 qv: cell quest2: it runs\n",
                        b"100.000000 qv: cell quest: it failed\n"]
    run("log", "--cell", "quest")
    assert [line.split()[0] for line in run.out.splitlines()] == ["1.000000", "2.000000", "100.000000"]
    monkeypatch.setattr(follow.time, "clock_gettime", lambda _clock: 121.5)
    assert run("log", "--cell", "qeust") == 1 and "no line of a cell qeust" in run.err
    run("log", "--since", "2m")
    assert [line.split()[0] for line in run.out.splitlines()] == ["2.000000", "3.000000", "100.000000"]
    assert [line["time_s"] for line in run.json("log", "--since", "30s", "--cell", "quest", "--json")["lines"]] == [100]
    assert run("log", "--since", "soon") == 2 and "is not a time such as 90s, 10m, 2h or 1d" in run.err
    assert run("log", "--previous", "--since", "1h") == 2 and "of another boot" in run.err


def test_log_ends_under_a_flood(run: Run) -> None:
    """A cell logs without end. `log` ends with the line that was the last one when it began."""
    run.device.flood = [b"3.000000 quest: cpu 3: instruction not allowed here\n"]
    assert run("log") == 0
    assert [line.split()[0] for line in run.out.splitlines()] == ["1.500000", "2.000000"]


def test_previous_log(run: Run) -> None:
    assert run("log", "--previous") == 0
    assert run.out.splitlines()[-1] == "9.000000 linux: at the end: Linux panicked"
    assert run("log", "--previous", "-f") == 2 and "log is complete" in run.err
    run.device.previous = Refused("there is no log of an earlier session in this machine's RAM", "-", abi.Reason.E_NO_PREVIOUS)
    assert run("log", "--previous") == 1 and "no log of an earlier session" in run.err


def stop() -> None:
    raise KeyboardInterrupt


def follow_events(run: Run, *options: str) -> None:
    """`events -f` with one wait for events, in which those of .coming come."""
    run.device.script = [lambda: None, stop]
    run("events", "-f", *options)


def test_events(run: Run) -> None:
    run.device.coming = [
        abi.Event(seq=1, time_ns=10**18, type=abi.EventType.ENABLED, text=b"the monitor runs"),
        abi.Event(seq=5, time_ns=10**18, type=abi.EventType.CELL, state=abi.State.FAILED, name=b"quest"),
        abi.Event(seq=6, time_ns=10**18, type=abi.EventType.CELL, state=0, name=b"quest")]
    run.device.coming.append(abi.Event(seq=7, time_ns=10**18, type=abi.EventType.LOCK,
                                       state=1, name=b"quest"))
    follow_events(run)
    lines = run.out.splitlines()
    assert lines[4].endswith("quest locked")
    assert "qv enabled: the monitor runs" in lines[0]
    assert "3 events were lost" in lines[1]
    assert lines[2].endswith("quest failed") and lines[3].endswith("quest destroyed")
    follow_events(run, "--json")
    assert json.loads(run.out.splitlines()[1])["state"] == "failed"


def test_events_at_present(run: Run) -> None:
    run.create()
    run("events", "--json")
    assert [(e["type"], e["state"]) for e in map(json.loads, run.out.splitlines())] == [
        ("enabled", None), ("cell", "loadable")]
