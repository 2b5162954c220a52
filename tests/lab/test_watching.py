# SPDX-License-Identifier: GPL-2.0-only
"""Events, the log and terminals while cells run."""

import functools
import json
import re
import time
from collections.abc import Callable, Iterator

import pytest

from lab.channel import Running
from product import Product, on_machines

INTERRUPT = 2


def until(holds: Callable[[], object], what: str, seconds: float = 300.0) -> None:
    """Waits until a condition holds. The limit is on the host's clock and generous, because the host
    may be busy; only a condition that never holds reaches it."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)


def shows(command: Running, text: bytes) -> bool:
    return text in command.output


@pytest.fixture
def life(qv: Product) -> Iterator[Callable[[str, bytes], Running]]:
    """life(COMMAND, LAST) starts a command that follows events or the log. Then a cell goes through
    all its states. The command ends once it has printed LAST."""
    qv.sh("modprobe qv")

    def follow(command: str, last: bytes) -> Running:
        following = qv.machine.start(f"exec {command}", merge=False)
        opened = "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q ' /dev/qv$'"
        until(lambda: qv.machine.run(opened).rc == 0, command)
        qv.run_cell()
        assert qv.machine.run("quesh quest -c 'crash memory'").rc == 1
        qv.do("cell start quest")
        qv.do("cell shutdown quest --timeout 0")
        qv.do("cell destroy quest")
        qv.do("disable")
        until(lambda: shows(following, last), f"{last!r} of {command}")
        following.kill(INTERRUPT)
        qv.machine.finish(following, 120)
        assert following.rc == 130 and following.errors == b""
        return following
    yield follow


def test_events_follow_life_of_cell(life: Callable[[str, bytes], Running]) -> None:
    events = [json.loads(line) for line in life("qvctl --json events -f", b'"disabled"').output.splitlines()]
    assert [(e["type"], e["name"], e["state"]) for e in events] == [
        ("enabled", None, None), ("cell", "quest", "loadable"), ("cell", "quest", "running"),
        ("cell", "quest", "failed"), ("cell", "quest", "running"), ("cell", "quest", "shut-down"),
        ("cell", "quest", "destroyed"), ("disabled", None, None)]
    assert [e["seq"] - events[0]["seq"] for e in events] == list(range(len(events))), "an event is lost"
    assert [e["time_ns"] for e in events] == sorted(e["time_ns"] for e in events)
    assert events[3]["text"].startswith("failed: it touched memory outside the cell (address 0x400000000")
    assert "RIP 0x1" in events[3]["text"]


# The source and text of log lines that must appear in this order. Other lines may be in between
SENTENCES = [
    ("linux", "CPU is under the monitor (apic id 3)"), ("linux", "cell quest created, 32 pages of 2 MiB"),
    ("linux", "cell quest starts"), ("quest", "cell failed: it touched memory outside the cell (address 0x400000000)"),
    ("linux", "cell quest destroyed, its memory is cleared and back"), ("linux", "cell quest starts"),
    ("linux", "cell quest stopped"), ("linux", "cell quest destroyed, its memory is cleared and back"),
]


def test_log_follows_life_of_cell(life: Callable[[str, bytes], Running]) -> None:
    lines = [json.loads(line) for line in life("qvctl --json log -f", b"itself again").output.splitlines()]
    for source in ("linux", "quest", "driver"):
        times = [line["time_s"] for line in lines if line["source"] == source]
        assert times and times == sorted(times)
    times = [line["time_s"] for line in lines]
    assert times == sorted(times), "lines of different sources are not in order"
    # The driver's line on a call comes after the lines that the monitor wrote during that call
    order = [f"{line['source']}: {line['text']}" for line in lines]
    starts = next(i for i, line in enumerate(order) if "linux:" in line and "cell quest starts" in line)
    assert starts < order.index("driver: quest: runs")
    broken = next(i for i, line in enumerate(order) if line.startswith("quest:") and "cell failed: it touched memory" in line)
    assert broken < next(i for i, line in enumerate(order) if line.startswith("driver: quest: failed"))
    assert "it was at RIP 0x1" in order[broken + 1]
    rest = iter(lines)
    for source, sentence in SENTENCES:
        assert any(line["source"] == source and sentence in line["text"] for line in rest), (sentence, lines)


@pytest.fixture
def terminal(qv: Product) -> Iterator[Callable[[], Running]]:
    """terminal() opens another quesh, in a terminal larger than the cell's screen."""
    opened: list[Running] = []

    def one_more() -> Running:
        opened.append(qv.machine.start(["quesh", "quest"], tty=(30, 100)))
        until(lambda: b"> " in opened[-1].output, "a prompt on the screen")
        return opened[-1]
    yield one_more
    for t in opened:
        if not t.ended.is_set():
            t.kill()
            qv.machine.finish(t, 120)


def test_first_terminal_holds_keyboard_and_others_view(
        qv: Product, terminal: Callable[[], Running]) -> None:
    qv.run_cell()
    qv.quesh("echo ready")
    first = terminal()
    assert b"^] detaches" in first.output
    second = terminal()
    until(lambda: b"view only: another quesh holds the keyboard" in second.output, "the notice that it is view only")
    first.write(b"echo by-the-first\r")
    for t in (first, second):
        until(functools.partial(shows, t, b"by-the-first"), "the typed text on both screens")
    second.write(b"echo by-the-second\r")
    late = qv.machine.run("quesh quest -t 2 -c 'echo by-the-third'", merge=False)
    assert late.rc == 124 and "another quesh holds the keyboard" in late.err and late.out == ""
    screen = qv.sh("quesh quest --dump")
    assert "by-the-first" in screen and "by-the-second" not in screen

    third = qv.machine.start(["quesh", "quest", "--force"], tty=(24, 80))
    until(lambda: b"view only: another quesh holds the keyboard" in first.output, "the loss of the keyboard")
    third.write(b"exit\r")
    qv.machine.finish(third, 120)
    assert third.rc == 0 and b"quest continues" in third.output

    first.write(b"\x1d")
    qv.machine.finish(first, 120)
    assert first.rc == 0 and b"quest continues" in first.output
    assert qv.quesh("echo by-the-third") == "by-the-third\n"
    until(lambda: b"by-the-third" in second.output, "the third command on the second screen")
    qv.do("cell destroy quest")
    qv.machine.finish(second, 120)
    assert second.rc == 1 and b"the cell quest is gone: it was destroyed" in second.output


@pytest.mark.slow
def test_terminal_reports_failed_cell(qv: Product, terminal: Callable[[], Running]) -> None:
    qv.run_cell()
    qv.quesh("echo ready")
    watching = terminal()
    watching.write(b"crash msr\r")
    qv.machine.finish(watching, 120)
    assert watching.rc == 1
    assert b"the cell quest has ended: it failed" in watching.output
    assert b"qvctl cell show quest" in watching.output


@pytest.mark.slow
def test_terminal_has_no_privileges(qv: Product, terminal: Callable[[], Running]) -> None:
    qv.run_cell()
    qv.quesh("echo ready")
    terminal()
    status = dict(line.split(":\t") for line in qv.sh("cat /proc/$(pidof quesh)/status").splitlines())
    assert set(status["Uid"].split()) == {"65534"} and set(status["Gid"].split()) == {"65534"}
    assert [int(status[f"Cap{s}"], 16) for s in ("Inh", "Prm", "Eff", "Bnd", "Amb")] == [0] * 5
    assert status["NoNewPrivs"] == "1"


@pytest.mark.slow
def test_concurrent_commands_get_their_own_output(qv: Product) -> None:
    """Several `quesh -c` run at once. Each prints the output of its own line."""
    qv.run_cell()
    commands = [qv.machine.start(["quesh", "quest", "-t", "60", "-c", f"echo number {i}"]) for i in range(8)]
    for i, command in enumerate(commands):
        qv.machine.finish(command, 70)
        assert (command.rc, command.output) == (0, b"number %d\n" % i)


# All lines that monitors log while no rule is violated
ORDINARY = re.compile(r"cpu \d+: (CPU is under the monitor \(apic id \d+\)|CPU goes back to bare Linux"
                      r"|cell [a-z0-9]+ (created, \d+ pages of 2 MiB|starts|stopped|destroyed, its memory is cleared and back))")


@on_machines("xapic", slow=["x2apic-8", "intel"])
def test_log_of_normal_life_has_no_violation(qv: Product, name: str) -> None:
    """Enable, two lives of a cell, a CPU goes offline and online, disable. A log with false alarms
    would be useless as evidence."""
    cell, other = qv.cpus - 1, "/sys/devices/system/cpu/cpu1/online"
    qv.run_cell("quest", cell)
    assert qv.quesh("echo alive") == "alive\n"
    qv.sh(f"echo 0 >{other} && echo 1 >{other}")
    qv.do("cell shutdown quest")
    qv.do("cell start quest")
    assert qv.quesh("echo again") == "again\n"
    qv.do("cell destroy quest")
    assert qv.runs_on(cell)
    assert [cpu["denied"] for cpu in qv.ask("cell stats linux")["cpus"]] == [0] * qv.cpus
    qv.do("disable")
    said = [line for line in qv.ask("log")["lines"] if line["source"] != "driver"]
    assert {line["source"] for line in said} == {"linux"}, "the instance of a cell logged a line"
    assert [line["text"] for line in said if not ORDINARY.fullmatch(line["text"])] == []
    assert sum("goes back to bare Linux" in line["text"] for line in said) == qv.cpus


@pytest.mark.slow
def test_top_says_how_busy_a_cell_is(qv: Product) -> None:
    def busy() -> float:
        rows = json.loads(qv.sh("qvctl top -n 1 --interval 1 --json"))["rows"]
        assert [row["name"] for row in rows] == ["linux", "quest"] and rows[1]["beats_per_second"] > 0
        assert abs(sum(rows[0]["exits"].values()) - rows[0]["exits_per_second"]) < 1e-6 and rows[0]["exits"]
        return float(rows[1]["busy"])
    qv.run_cell()
    idle = busy()
    qv.sh("quesh quest -c 'spinner &'")
    assert busy() > 0.5 > idle
    assert re.search(r"(?m)^quest +running +3 +64M +[0-9.]+ %", qv.sh("qvctl top -n 1"))


@pytest.mark.slow
def test_terminal_stays_for_the_next_life(qv: Product) -> None:
    qv.run_cell()
    terminal = qv.machine.start("exec quesh quest --stay --log /run/quesh.log", tty=(30, 100))
    until(lambda: b"scrolls back" in terminal.output, "the terminal")
    terminal.write(b"crash memory\r")
    until(lambda: b"stopped; waits until it runs" in terminal.output, "the cell has failed")
    qv.do("cell recover quest")
    until(lambda: terminal.output.count(b"scrolls back") >= 2, "the cell runs again")
    until(lambda: qv.sh("quesh quest --dump").rstrip().endswith("\n>"), "its shell")
    terminal.write(b"count\r")
    until(lambda: "> count" in qv.sh("cat /run/quesh.log"), "the line of the next life")
    terminal.write(b"\x1d")
    qv.machine.finish(terminal, 60)
    assert terminal.rc == 0 and "> crash memory" in qv.sh("cat /run/quesh.log; rm /run/quesh.log")
    qv.assert_counting()


@pytest.mark.slow
def test_latency_of_threads_is_shown(qv: Product) -> None:
    """Quest counts for each VCPU how late its threads ran. Each life begins with empty histograms."""
    qv.run_cell()

    def count() -> int:
        found = qv.ask("latency quest")["histograms"]
        for one in found:
            assert one["name"] and one["min_ns"] <= one["p50_ns"] <= one["p99_ns"] <= one["max_ns"] <= one["sum_ns"]
            assert one["missed"] <= one["count"]
        return sum(one["count"] for one in found)
    until(lambda: count() >= 40, "threads that slept")
    assert qv.do("latency quest").startswith("HISTOGRAM")
    said = qv.do("trace quest --svg /run/trace.svg --perfetto /run/trace.json")
    assert "us, of which Quest was idle" in said and "shell" in said
    events = json.loads(qv.sh("cat /run/trace.json"))["traceEvents"]
    assert len([event for event in events if event["ph"] == "X"]) == qv.sh("cat /run/trace.svg").count("<rect") - 1 > 0
    before = count()
    qv.do("cell restart quest")
    assert count() < before
