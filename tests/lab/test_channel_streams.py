# SPDX-License-Identifier: GPL-2.0-only
"""Streams of items between a cell and Linux on CPUs that run freely: lib/tests/stream.h checks that
no item is torn, out of order, or lost where the type promises it.

QV_ITEMS=N in the environment changes the number of items, to N of each type. Without it, types that
are slow move fewer, and so does Bochs. QV_LIVES=N changes how often the cell starts again."""

import os
import re
import time

import pytest
from lab.channel import Running
from product import Product, TEST_IMAGE, program
from test_channels import bells

ASKED = int(os.environ.get("QV_ITEMS", 0))
ITEMS = ASKED or 10**5
TURNS = ASKED or ITEMS // 50  # of a mailbox, where the other CPU must run for each message
RINGS = ASKED or ITEMS // 5  # with bells, which cost exits and interrupts
BOCHS = 1 if ASKED else 50  # one item of so many is enough there
LIVES = int(os.environ.get("QV_LIVES", 50))
TYPES = {
    "four-slot": "type: four-slot", "ring": "type: ring, slots: 1024",
    "ring-oldest": "type: ring, slots: 16, full: drop-oldest",
    "ring-newest": "type: ring, slots: 16, full: drop-newest", "mailbox": "type: mailbox",
    "ring-bell": "type: ring, slots: 1024, bell: true",
}
END = re.compile(r"(\w+): (\d+) items, (\d+) lost: (.*)\n")
LONG = max(3000.0, ASKED / 400)  # seconds: only a stream that hangs lasts so long


def cell(qv: Product, kind: str) -> None:
    """Runs Quest with the channels `up`, which Quest writes, and `down`, which Linux writes.
    `kind` is one of TYPES, or words of the file."""
    qv.machine.put(program("chanstream", with_channels=True), "/run/chanstream")
    channels = ", ".join(f"{{name: {name}, {TYPES.get(kind, kind)}, item: 64, writer: {writer}, readers: [{reader}]}}"
                         for name, writer, reader in (("up", "quest", "linux"), ("down", "linux", "quest")))
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3, TEST_IMAGE, f'channels: [{channels}]')} --start")


def linux(qv: Product, name: str, items: int, more: str = "") -> Running:
    return qv.machine.start(f"taskset -c 1 /run/chanstream {name} {items} {more}", merge=False)


def ended(qv: Product, command: Running) -> tuple[int, int, str]:
    """Items, items that were lost, and how the end of Linux ended."""
    qv.machine.finish(command, LONG)
    found = END.fullmatch(command.output.decode())
    assert found and command.rc in (0, 1), (command.rc, command.output, command.errors)
    return int(found[2]), int(found[3]), found[4]


def in_quest(qv: Product, name: str, items: int, more: str = "") -> tuple[int, int, str]:
    found = END.fullmatch(qv.quesh(f"stream {name} {items} {more}", timeout=LONG))
    assert found
    return int(found[2]), int(found[3]), found[4]


@pytest.mark.slow
@pytest.mark.both_vendors
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ("up", "down"))
def test_stream_is_whole(qv: Product, kind: str, name: str) -> None:
    items = {"mailbox": TURNS, "ring-bell": RINGS}.get(kind, ITEMS)
    if qv.machine.config.machine == "intel":
        items //= BOCHS
    cell(qv, kind)
    begin = time.monotonic()
    there = linux(qv, name, items)
    here = in_quest(qv, name, items)
    ends = {"quest": here, "linux": ended(qv, there)}
    seconds = time.monotonic() - begin
    assert {end[2] for end in ends.values()} == {"all is well"}, ends
    sent, taken = (ends["quest"], ends["linux"]) if name == "up" else (ends["linux"], ends["quest"])
    moved = 2 * items if kind == "mailbox" else items  # each message comes back
    assert sent[0] == moved
    if kind in ("ring", "ring-bell", "mailbox"):
        assert taken[:2] == (moved, 0), ends
    else:
        assert 0 < taken[0] <= items and taken[1] <= items - taken[0], ends
    print(f"{kind} {name}: {ends}, {moved / seconds:.0f} items/s of the host's time")
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.parametrize("bell", ("true", "one-shot"))
@pytest.mark.parametrize("name", ("up", "down"))
def test_no_bell_is_lost_while_both_ends_sleep(qv: Product, name: str, bell: str) -> None:
    """A writer without room and a reader without items sleep until a bell rings. The ring is short,
    so both of them sleep often. An end that finds news without its bell reports that."""
    items = RINGS
    cell(qv, f"type: ring, slots: 4, full: block, bell: {bell}")
    there = linux(qv, name, items, "sleep")
    here = in_quest(qv, name, items, "sleep")
    assert {here, ended(qv, there)} == {(items, 0, "all is well")}
    assert bells(qv, name) > 0
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("four-slot", "ring"))
def test_cell_restarts_while_linux_reads_and_writes(qv: Product, kind: str) -> None:
    """The cell is stopped in the middle of a stream, LIVES times. Each of its lives is whole."""
    cell(qv, kind)
    taken = 0
    for life in range(LIVES):
        name = ("up", "down")[life % 2]
        there = linux(qv, name, 1 << 40, "any")
        # the command of Quest has no end before the cell is stopped
        here = qv.machine.start(["quesh", "quest", "-c", f"stream {name} {1 << 40}"], merge=False)
        time.sleep(0.1 * (life % 5))
        qv.do("cell shutdown quest --timeout 0")
        qv.machine.finish(here, 60)
        if kind == "four-slot" and name == "down":
            there.kill(15)  # the writer of a four-slot never waits for its readers
            qv.machine.finish(there, 60)
        else:
            items, _, how = ended(qv, there)
            assert how in ("the peer ended", "all is well"), (life, how)
            taken += items
        qv.do("cell start quest")
        assert qv.quesh("echo alive") == "alive\n"
    assert taken > 0
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
def test_bells_ring_while_cpus_come_and_go(qv: Product) -> None:
    """Quest and Linux ring each other in a loop. Meanwhile the CPU of Linux's bell goes offline, the
    bell moves, and another cell takes that CPU. After each step the bell still arrives."""
    cell(qv, "type: four-slot, bell: true")
    there = linux(qv, "up", 1 << 40, "any")
    here = qv.machine.start(["quesh", "quest", "-c", f"stream up {1 << 40}"], merge=False)
    irq = qv.sh("awk -F: '/QV-bell.* up$/ { print $1 + 0 }' /proc/interrupts").strip()
    qv.sh("sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/; s/^memory:.*/memory: 16M/' "
          "/usr/share/qv/configs/quest.yaml >/run/other.yaml")

    def arrives() -> int:
        before, deadline = bells(qv, "up"), time.monotonic() + 120
        while bells(qv, "up") <= before:
            assert time.monotonic() < deadline, "the bell is lost"
        return int(qv.sh(f"cat /proc/irq/{irq}/effective_affinity_list"))

    def move(cpu: int) -> None:
        # EBUSY: the vector of the move before is still in use
        qv.sh(f"for n in $(seq 100); do echo {cpu} >/proc/irq/{irq}/smp_affinity_list && break; sleep 0.05; done "
              "2>/dev/null")

    arrives()
    for _ in range(10):
        for cpu in (1, 2):
            move(cpu)
            assert arrives() == cpu
            qv.sh(f"echo 0 >/sys/devices/system/cpu/cpu{cpu}/online")
            assert arrives() != cpu
            qv.sh(f"echo 1 >/sys/devices/system/cpu/cpu{cpu}/online")
        move(2)
        qv.do("cell create /run/other.yaml --start")
        assert arrives() != 2
        qv.do("cell destroy other")
        arrives()
    assert qv.show()["state"] == "running"
    qv.do("cell destroy quest")
    qv.machine.finish(here, 120)
    there.kill(15)
    qv.machine.finish(there, 120)
    assert "No irq handler" not in qv.sh("dmesg")
    qv.do("disable")
