# SPDX-License-Identifier: GPL-2.0-only
"""Quest in a fake cell (fakecell/), which has info page, keys, stream and requests as in QV, but no
monitor. Tests of real cells are in tests/lab."""
import re
import time

import pytest

from lab import bare as m
from lab.paths import TOP

pytestmark = pytest.mark.usefixtures("built")

READY = "> \x04"
BOOTING, RUNNING, HALTED, PANICKED = range(4)


def boot(options=""):
    return m.Machine("-smp", "2", "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                     "-initrd", str(m.quest("quest.elf")), "-append", "fakecell " + options)


@pytest.fixture(scope="module")
def x2apic_offered():
    """Returns whether QEMU emulates x2APIC mode. Only newer versions do."""
    with m.Machine("-kernel", str(m.quest("quest32.elf"))) as machine:
        return " x2apic" in m.Shell(machine, r"(?m)^> ").run("cpu")


@pytest.fixture
def cell(request):
    with boot(getattr(request, "param", "")) as machine:
        yield m.Shell(machine, READY)


def status(machine):
    """Returns the comm page and the screen, as Linux sees them."""
    machine.send("\x1dt")
    found = machine.expect(r"(?s)\[(state=.*?) screen=(.{2000})\]")
    values = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", found.group(1))}
    return values, found.group(2)


def test_boots_and_runs_commands(cell):
    assert re.search(r"shell +running", cell.run("ps"))
    assert re.search(r"heartbeat +sleeping", cell.run("ps"))
    abi = re.search(r"#define QV_INFO_ABI\s+(\d+)", (TOP / "include/qv/cell.h").read_text())
    assert abi
    assert f"cell     fake: 1 CPU(s), doorbell vector 81, ABI {abi[1]}" in cell.run("cpu")
    assert ", 0 stray interrupts" in cell.run("cpu")


def test_screen_and_cursor(cell):
    cell.run("clear")
    cell.run("echo on the screen")
    values, screen = status(cell.machine)
    assert screen[:24] == "> echo on the screen    "
    assert screen[80:98] == "on the screen     "
    assert values["cursor"] == 2 * 80 + 2
    assert "\x04" not in screen


def test_screen_seq_moves_with_output_only(cell):
    first, _ = status(cell.machine)
    assert m.until(lambda: status(cell.machine)[0]["beat"] >= first["beat"] + 2)
    second, _ = status(cell.machine)
    assert second["seq"] == first["seq"]
    cell.run("echo")
    assert status(cell.machine)[0]["seq"] != second["seq"]


def test_heartbeat_and_state(cell):
    first, _ = status(cell.machine)
    assert first["state"] == RUNNING
    begin = time.monotonic()
    assert m.until(lambda: status(cell.machine)[0]["beat"] >= first["beat"] + 4)
    beats = status(cell.machine)[0]["beat"] - first["beat"]
    # there are four heartbeats a second at most
    assert beats <= 5 * (time.monotonic() - begin) + 2


def stands_still(cell):
    """Returns whether there is no heartbeat for four times its period."""
    first, _ = status(cell.machine)
    time.sleep(1)
    return status(cell.machine)[0]["beat"] == first["beat"]


def test_hang_stops_the_beat(cell):
    """On a busy host the last beat may come after the line, and not a second one."""
    cell.start("hang")
    cell.machine.expect("hanging")
    assert stands_still(cell) or stands_still(cell)


def test_panic_stops_the_beat(cell):
    cell.start("crash fault")
    cell.machine.expect("Quest has stopped")
    first, screen = status(cell.machine)
    assert "exception #PF page fault" in screen
    assert m.until(lambda: status(cell.machine)[0]["state"] == PANICKED)
    time.sleep(1)
    assert status(cell.machine)[0]["beat"] == first["beat"]


@pytest.mark.parametrize("cell", ["", "nodoorbell"], indirect=True)
def test_shutdown_on_request(cell):
    cell.machine.send("\x1ds")
    cell.machine.expect("shutting down\n")
    assert m.until(lambda: status(cell.machine)[0]["state"] == HALTED)
    first, _ = status(cell.machine)
    time.sleep(0.7)
    assert status(cell.machine)[0]["beat"] == first["beat"]


def test_a_busy_cell_obeys_too(cell):
    cell.start("spin 60000")
    cell.machine.send("\x1ds")
    cell.machine.expect("shutting down\n", timeout=20)


def test_no_doorbell_no_problem():
    with boot("nodoorbell") as machine:
        shell = m.Shell(machine, READY)
        assert shell.run("echo polled") == "polled\n"


def test_the_doorbells_vector():
    """The doorbell's vector must be below the timer's class, so that a flood of doorbells can be
    blocked. Other vectors are rejected."""
    with boot("doorbell=0xEF") as machine:
        assert "doorbell vector 239" in m.Shell(machine, READY).run("cpu")
    with boot("doorbell=0xF0") as machine:
        machine.expect(r"panic: the doorbell's vector is 240: it must be below 240")


def test_vectors_of_bells():
    """The same for the bells in the cell's file, whose class the bells at run time share, too."""
    with boot("keys channel-bell=0xEF") as machine:
        assert m.Shell(machine, READY).run("cpu")
    with boot("keys channel-bell=0xF5") as machine:
        machine.expect(r"panic: the vector of the bell of vshm-1 is 245: it must be below 240")


def test_nonsense_index_is_refused(cell):
    cell.machine.send("\x1db")
    before, _ = status(cell.machine)
    assert m.until(lambda: status(cell.machine)[0]["beat"] >= before["beat"] + 2)
    cell.machine.send("\x1dg")
    assert re.search(r"index was wrong [1-9]\d* times", cell.run("cpu"))
    after, _ = status(cell.machine)
    assert after["tail"] - before["tail"] == len("cpu\r")


def test_many_keys_none_lost(cell):
    for i in range(8):
        text = chr(ord("a") + i) * 140
        assert cell.run("echo " + text) == text + "\n"


def test_keys_while_busy_are_kept(cell):
    cell.start("spin 1500")
    for i in range(10):
        cell.machine.send(f"echo kept-{i}\r")
    for i in range(10):
        cell.machine.expect(f"\nkept-{i}\n")


def test_doorbells_without_reason(cell):
    for _ in range(50):
        cell.machine.send("\x1dd")
    assert cell.run("echo still") == "still\n"


STATUSES = {
    "echo": 0, "help": 0, "help echo": 0, "help nonsense": 1, "nonsense": 127, "run": 2, "run nonsense": 127, "vcpu=none hello": 127,
    "hello": 0, "hello a | nonsense": 127, "echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33": 2,
    "ps": 0, "vcpus": 0, "vcpus counts": 0, "vcpus nonsense": 2, "ls": 0, "meminfo": 0, "mem": 0, "uptime": 0, "cpu": 0,
    "kill": 2, "kill x": 2, "kill 4711": 1, "kill -4711": 1, "attach": 2, "attach 4711": 1, "detach": 2, "detach 4711": 1,
    "spin": 2, "spin 1": 0, "sleep": 2, "sleep 1": 0, "sleep 700000": 2, "count": 0, "count x": 2, "count stop": 0,
    "load": 2, "load 1": 2, "load 90 100": 1, "load 1 0": 1, "load 1 100": 0, "load stop": 0,
    "trace 1": 0, "trace x": 2, "trace keep": 2, "trace keep 1024": 0, "bench": 2, "bench nonsense": 2, "bench cpuid": 0,
    "lock": 1, "unlock": 1, "agree": 1, "agree x": 2, "pci": 0, "pci x": 2, "crash": 0, "crash nonsense": 2, "clear": 0,
    "exit": 0, "echo a > b": 2, "echo a >b": 2, "echo a && echo b": 2, "ps | hello": 2, "hello < b": 2, "echo a;b a|b": 0,
}


def test_status_of_each_line(cell):
    """A line's status is 0 for success, 1 if the command failed, 2 for wrong usage. Other values
    are those of a POSIX shell."""
    said = {}
    for line in STATUSES:
        cell.run(line)
        told = status(cell.machine)[0]["line"]
        assert told & 1 << 31
        said[line] = told & 0xFF
    assert said == STATUSES


def test_status_of_a_command_ended_by_a_key(cell):
    cell.start("sleep 60000")
    cell.machine.send("\x03")
    cell.machine.expect(READY)
    assert status(cell.machine)[0]["line"] & 0xFF == 128 + 2


def test_small_cell():
    with boot("mem=8M") as machine:
        shell = m.Shell(machine, READY)
        total = int(re.search(r"of (\d+) KiB", shell.run("mem")).group(1))
        assert total <= 8 << 10


def test_x2apic_cell(x2apic_offered):
    if not x2apic_offered:
        pytest.skip("this QEMU has no x2APIC")
    with boot("x2apic") as machine:
        shell = m.Shell(machine, READY)
        assert "APIC     x2APIC, id 0, 0 stray interrupts" in shell.run("cpu")
        first, _ = status(machine)
        assert m.until(lambda: status(machine)[0]["beat"] > first["beat"])
        machine.send("\x1ds")
        machine.expect("shutting down\n")
