# SPDX-License-Identifier: GPL-2.0-only
"""qvctl analyze: mailboxes between the cells of files, costs, and mailboxes that are left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Run

TALK = "{name: talk, type: mailbox, item: 4096, writer: one, readers: [two]}"
ONE = [("talker", "20ms", "100ms")]
TWO = [("fast", "40ms", "100ms"), ("slow", "40ms", "120ms")]


def cell(run: Run, name: str, cpu: int, vcpus: list[tuple[str, str, str]],
         channels: str = TALK) -> str:
    """Writes the file of a cell whose Quest has no VCPU of its own with a budget."""
    own = [f"{{name: {one}, C: none}}" for one in ("best-effort", "system", "shell", "input")]
    listed = ", ".join([*own, *(f"{{name: {one}, C: {c}, T: {t}}}" for one, c, t in vcpus)])
    file = run.yaml.with_name(f"{name}.yaml")
    file.write_text(f"name: {name}\ncpus: [{cpu}]\nmemory: 64M\nimage: quest.elf\nadmission: exact\n"
                    f"vcpus: [{listed}]\nchannels: [{channels}]\n")
    return str(file)


@pytest.fixture
def files(run: Run) -> list[str]:
    return [cell(run, "one", 2, ONE), cell(run, "two", 3, TWO)]


def test_pairs_of_vcpus(run: Run, files: list[str]) -> None:
    """4096 bytes take 81.92 us. C is a nanosecond shorter, T longer, so each wait is 2 ns longer:
    80 + 0.08192 ms at the sender, 60 + 0.16384 ms at the receiver's VCPU `fast`. Below it, `slow`
    waits for 80 ms, and 40 ms for the other VCPU."""
    assert run("analyze", *files) == 0, run.err
    lines = run.out.splitlines()
    assert lines[0] == "channel talk, one to two: request of 4096 bytes, reply of 4096, in slots of 4096"
    assert lines[1].split("  ")[0] == "SENDER"
    assert lines[2].split() == ["talker", "fast", "220.328ms", "140.164ms", "440.328ms", "280.164ms", "220.328ms"]
    assert lines[3].split()[:4] == ["talker", "slow", "280.328ms", "200.164ms"]
    assert lines[3].split()[-1] == "240.328ms"
    assert lines[4] == "costs of a byte: sender 20 ns, receiver 20 ns; service of a slot: 0s; wake-up: 0s"


def test_json(run: Run, files: list[str]) -> None:
    found = run.json("analyze", *files, "--json", "--bytes", "8192", "--reply", "0", "--service", "50ms",
                     "--cost-send=0.5", "--cost-reply", "1")
    assert found["cost_send_ns"] == "0.5" and found["service_us"] == 50000 and found["left_out"] == []
    talk, = found["channels"]
    assert (talk["name"], talk["sender"], talk["receiver"]) == ("talk", "one", "two")
    assert (talk["slot"], talk["bytes"], talk["reply"]) == (4096, 8192, 0)
    fast = talk["pairs"][0]
    # the receiver computes for a whole C and 10 ms more; the empty reply of a slot counts as 1 ns
    assert fast["slot_ns"] == (80_000_002 + 2048) + (100_000_001 + 60_000_002 + 10_004_097)
    assert fast["round_trip_ns"] == 2 * (fast["slot_ns"] + 80_000_002 + 1)
    assert fast["any_slot_ns"] > fast["slot_ns"] == fast["paper_slot_ns"]


def test_wake_is_added_to_each_wait(run: Run, files: list[str]) -> None:
    """A thread that sleeps may have merged chunks: each wait takes C longer, too."""
    before = run.json("analyze", *files, "--json")["channels"][0]["pairs"][0]
    after = run.json("analyze", *files, "--json", "--wake", "500us")["channels"][0]["pairs"][0]
    assert after["slot_ns"] - before["slot_ns"] == 2 * 500_000 + 20_000_000 - 1 + 40_000_000 - 1
    assert after["paper_slot_ns"] == before["paper_slot_ns"]


def test_mailboxes_that_are_left_out(run: Run, files: list[str]) -> None:
    more = "{name: news, type: mailbox, item: 64, writer: linux, readers: [one]}"
    away = "{name: away, type: mailbox, item: 64, writer: one, readers: [three]}"
    cell(run, "one", 2, ONE, f"{TALK}, {more}, {away}")
    assert run("analyze", *files) == 0, run.err
    assert run.out.splitlines()[-2:] == [
        "channel news is left out: its end in Linux has no VCPU",
        "channel away is left out: the file of three, one of its ends, is missing"]
    found = run.json("analyze", *files, "--json")
    assert [one["channel"] for one in found["left_out"]] == ["news", "away"]


def test_a_bell_is_named(run: Run, files: list[str]) -> None:
    rings = TALK.replace("[two]", "[two], bell: true")
    files = [cell(run, "one", 2, ONE, rings), cell(run, "two", 3, TWO, rings)]
    assert run("analyze", *files) == 0, run.err
    assert run.out.splitlines()[-1].startswith("both ends are taken to poll; ")
    assert run("analyze", *files, "--wake", "1ms") == 0 and "taken to poll" not in run.out


@pytest.mark.parametrize("channels, sentence", [
    ("{name: talk, type: ring, item: 64, slots: 8, full: error, writer: one, readers: [two]}", "qvctl: these files have no mailbox"),
    ("{name: talk, type: mailbox, item: 64, writer: one, readers: [linux]}", "qvctl: channel talk: its end in Linux has no VCPU"),
])
def test_no_mailbox_between_cells(run: Run, channels: str, sentence: str) -> None:
    assert run("analyze", cell(run, "one", 2, ONE, channels)) == 1
    first, remedy = run.err.splitlines()
    assert first == sentence and remedy.startswith("  remedy: ")
    assert run("analyze", cell(run, "one", 2, ONE, channels), "--json") == 1
    assert json.loads(run.out)["error"]["remedy"]


def test_ends_without_a_vcpu_or_a_file(run: Run, files: list[str]) -> None:
    assert run("analyze", files[0]) == 1
    assert "channel talk: the file of two, one of its ends, is missing\n  remedy: the file of two as well" in run.err
    cell(run, "two", 3, [])
    assert run("analyze", *files) == 1
    assert f"{files[1]} names no Main VCPU for its end" in run.err
    Path(files[1]).write_text("name: two\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n")
    assert run("analyze", *files) == 1
    assert f"{files[1]} does not list it" in run.err


@pytest.mark.parametrize("words, sentence", [
    (["--cost-send", "1e3"], "--cost-send: `1e3` is not a number of nanoseconds such as 20 or 0.25"),
    (["--cost-reply", "-1"], "--cost-reply: `-1` is not a number of nanoseconds"),
    (["--bytes", "-3"], "--bytes: `-3` is not a number of bytes"),
    (["--service", "5"], "--service: `5` is not a time such as 500us, 20ms or 1s"),
    (["--wake", "ms"], "--wake: `ms` is not a time"),
])
def test_wrong_options(run: Run, files: list[str], words: list[str], sentence: str) -> None:
    assert run("analyze", *files, *words) == 2
    assert f"qvctl: {sentence}" in run.err and "usage: qvctl analyze FILE..." in run.err


def test_wrong_file(run: Run, files: list[str]) -> None:
    Path(files[1]).write_text("name: two\n")
    assert run("analyze", *files) == 2
    assert f"{files[1]}:1:1: cpus: is missing" in run.err


def test_cells_of_another_machine(run: Run) -> None:
    """The fake machine has the CPUs 0 to 3."""
    assert run("analyze", cell(run, "one", 76, ONE), cell(run, "two", 77, TWO)) == 0, run.err
