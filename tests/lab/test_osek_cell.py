# SPDX-License-Identifier: GPL-2.0-only
"""Applications of the OSEK kernel in cells that use what only a cell has: bells of channels, and
interrupts of PCI functions."""

from pathlib import Path

import pytest

from devices import EDU, QEMU, XAPIC, denied, unsafe
from lab.build import OUT
from lab.outside import Outside
from product import CONFIGS, TEST_IMAGE, Product
from test_channel_keys import create
from test_channels import DEVICE, bells
from test_osek import screen
from test_watching import until

pytestmark = [XAPIC, pytest.mark.slow]
# a network function with a table of messages
E1000E = "00:17.0"
WITH_TABLE = pytest.mark.machine(qemu_args=(*QEMU, "-device", "e1000e,romfile=,addr=17.0"))
MAKEFILE = "OIL := app.oil\nSRC := app.c\ninclude $(shell pkg-config --variable=makefragment qv-erika)\n"
CHANNELS = """channels:
  - {name: orders, type: ring, item: 64, slots: 4, writer: linux, readers: [erika], bell: true}
  - {name: replies, type: ring, item: 64, slots: 4, writer: erika, readers: [linux],
     bell: {vector: 44, cpu: 0}}
"""
BELL_OIL = """CPU bells {
	OS kernel { STATUS = EXTENDED; };
	EVENT Ordered;
	TASK Clerk { PRIORITY = 2; AUTOSTART = TRUE; EVENT = Ordered; };
	TASK Room { PRIORITY = 1; };
	CHANNEL orders { NOTIFICATION = SETEVENT { TASK = Clerk; EVENT = Ordered; }; };
	CHANNEL Replies { NAME = "replies"; NOTIFICATION = ACTIVATETASK { TASK = Room; }; };
};
"""
BELL_C = """#include <erika/channel.h>
#include <inmate/console.h>
#include "os.h"

static ChannelType in, out;

TASK(Clerk)
{
	char text[64];
	int result;

	if (channel_open(&in, "orders") || channel_open(&out, "replies"))
		ShutdownOS(E_OS_STATE);
	for (;;) {
		result = channel_wait(&in, Ordered, text, sizeof(text));
		if (result < 0)
			break;
		print("order %s\\n", text);
		if (channel_write(&out, text, sizeof(text)))
			break;
	}
	print("no more: %s\\n", qv_chan_sentence(result));
	TerminateTask();
}

TASK(Room)
{
	print("a bell of replies\\n");
	TerminateTask();
}
"""
KEYS_OIL = """CPU keys {
	OS kernel { STATUS = EXTENDED; };
	EVENT Later;
	EVENT Answered;
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; EVENT = Later; EVENT = Answered; };
	ISR Bell { CATEGORY = 2; SOURCE = "0x2E"; };
	COUNTER Millisecond { MAXALLOWEDVALUE = 65535; SECONDSPERTICK = 0.001; };
	ALARM Again { COUNTER = Millisecond; ACTION = SETEVENT { TASK = Main; EVENT = Later; }; };
};
"""
KEYS_C = """#include <erika/channel.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include "os.h"

#define RING	.type = QV_CHAN_RING, .full = QV_CHAN_FULL_ERROR, .flags = QV_CHAN_BELL, \\
		.item = 64, .slots = 4, .peer = "quest"

static const ChannelKeyType by_7 = { .key = 7, .writes = 1, RING };
static const ChannelKeyType by_8 = { .key = 8, .vector = 0x2E, RING };
static ChannelType orders, answers;

ISR(Bell) { SetEvent(Main, Answered); }

static void later(void)
{
	SetRelAlarm(Again, 2, 0);
	WaitEvent(Later);
	ClearEvent(Later);
}

static void open_by(ChannelType *channel, const ChannelKeyType *key)
{
	int result;

	while ((result = channel_open_key(channel, key)) == QV_KEY_PENDING)
		later();
	print("key %u: %s\\n", key->key, channel_key_sentence(result));
}

static void close_by(ChannelType *channel)
{
	int result;

	while ((result = channel_close_key(channel)) == QV_KEY_PENDING)
		later();
	print("close: %s\\n", channel_key_sentence(result));
}

/* The answer is the order. */
static int ask(uint64_t n)
{
	uint64_t order[8] = { n, ~n }, answer[8] = { 0 };
	int result;

	while ((result = channel_write(&orders, order, sizeof(order))) != 0) {
		if (result != QV_CHAN_ABSENT && result != QV_CHAN_RESTARTED &&
		    result != QV_CHAN_FULL)
			return result;
		later();
	}
	result = channel_wait(&answers, Answered, answer, sizeof(answer));
	return result < 0 ? result : !memcmp(order, answer, sizeof(order));
}

TASK(Main)
{
	uint64_t n;
	int result = 1;

	open_by(&orders, &by_7);
	open_by(&answers, &by_8);
	for (n = 1; n <= 1000 && result == 1; n++)
		result = ask(n);
	print("%lu orders, the last one: %d\\n", (unsigned long)n - 1, result);
	close_by(&orders);
	close_by(&answers);
	TerminateTask();
}
"""
DEVICE_OIL = """CPU device {
	OS kernel { STATUS = EXTENDED; CONSOLE = TRUE; };
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; };
	TASK Served { PRIORITY = 2; };
	ISR Device { CATEGORY = 2; PRIORITY = 1; SOURCE = "%s"; };
};
"""
DEVICE_C = """#include <inmate/console.h>
#include <inmate/cpu.h>
#include "os.h"

static volatile uint32_t *device;
static volatile unsigned int served;

%s

ISR(Device)
{
	acknowledge();
	ActivateTask(Served);
}

TASK(Served)
{
	print("served %%u\\n", ++served);
	TerminateTask();
}

TASK(Main)
{
	unsigned int i;

	device = os_isr_device(Device, 0);
	print("device %%s\\n", device ? "found" : "absent");
	if (device)
		prepare();
	for (i = 1; device && i <= 3; i++) {
		request();
		while (served < i)
			cpu_relax();
	}
	ShutdownOS(E_OK);
}
"""
EDU_C = """
static void prepare(void) { print("id %x\\n", device[0]); }
static void request(void) { device[0x60 / 4] = 1; }
static void acknowledge(void) { device[0x64 / 4] = device[0x24 / 4]; }
"""
# Message 1 of the table is that of the sending queue 0 (register IVAR), which sends nothing. A
# write to ICS requests its cause.
E1000E_C = """
static void prepare(void)
{
	device[0xE4 / 4] = (1u | 8u) << 8;
	device[0xD0 / 4] = 1u << 22;
}

static void request(void) { device[0xC8 / 4] = 1u << 22; }
static void acknowledge(void) { device[0xC0 / 4] = ~0u; }
"""


def run(qv: Product, folder: Path, oil: str, code: str, more: str) -> None:
    """Builds an application with the installed files, and starts it as the cell erika."""
    outside = Outside(folder)
    for name, text in (("app.oil", oil), ("app.c", code), ("Makefile", MAKEFILE)):
        (outside.path / name).write_text(text)
    outside.run("make")
    qv.machine.put(outside.path / "app.elf", "/run/app.elf")
    qv.sh(f"sed 's,^image:.*,image: /run/app.elf,' {CONFIGS}/erika.yaml >/run/app.yaml")
    qv.sh("cat >>/run/app.yaml <<'END'\n" + more + "END\n")
    qv.do("cell create /run/app.yaml --start")


@pytest.fixture(autouse=True)
def own_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("O", str(OUT))


def test_bells_of_channels_set_events_and_activate_tasks(qv: Product, tmp_path: Path) -> None:
    """The application has no alarm: only a bell of Linux can wake the task that waits."""
    run(qv, tmp_path, BELL_OIL, BELL_C, CHANNELS)
    until(lambda: qv.show("erika")["state"] == "running", "the start")
    for text in ("first", "second"):
        before = bells(qv, "replies")
        qv.sh(f"qvctl channel send orders --text {text}")
        assert qv.sh(f"head -c 64 {DEVICE}/replies | tr -d '\\0'") == text
        # the item is there before its bell and the line
        until(lambda number=before + 1: bells(qv, "replies") == number, "its only bell", 60)  # type: ignore[misc]
        until(lambda text=text: f"order {text}\n" in screen(qv), "the order")  # type: ignore[misc]
    # Linux has read a ring, so its bell has activated the other task
    until(lambda: "a bell of replies\n" in screen(qv), "the other bell")
    qv.do("cell shutdown erika")
    qv.do("cell destroy erika")


def test_one_shot_bell_wakes_the_task_that_waits(qv: Product, tmp_path: Path) -> None:
    """Linux rings only because channel_wait() has armed the bell."""
    once = CHANNELS.replace("bell: true", "bell: one-shot").replace("cpu: 0", "cpu: 0, one-shot: true")
    run(qv, tmp_path, BELL_OIL, BELL_C, once)
    until(lambda: qv.show("erika")["state"] == "running", "the start")
    for text in ("first", "second", "third"):
        qv.sh(f"qvctl channel send orders --text {text}")
        assert qv.sh(f"head -c 64 {DEVICE}/replies | tr -d '\\0'") == text
        until(lambda text=text: f"order {text}\n" in screen(qv), "the order")  # type: ignore[misc]
    qv.do("cell shutdown erika")
    qv.do("cell destroy erika")


def test_task_and_program_of_another_kernel_meet_by_keys(qv: Product, tmp_path: Path) -> None:
    """A task asks and a program in ring 3 of the cell quest answers, 1,000 times. Both wait for a
    bell of the other cell, and Linux is not in the path: it cannot open these keys."""
    qv.do("enable")
    create(qv, "quest", 3, "erika", image=TEST_IMAGE)
    run(qv, tmp_path, KEYS_OIL, KEYS_C, "dynamic-channels: {memory: 4M, with: [quest]}\n")
    until(lambda: "key 7: done\nkey 8: done\n" in screen(qv), "the task has opened both")
    assert "has not opened" in qv.refused("channel open erika --key 7"), "Linux is no end of it"
    qv.quesh("run keys answer erika &", "quest")
    until(lambda: "1000 orders, the last one: 1\n" in screen(qv), "the last answer")
    until(lambda: screen(qv).count("close: done\n") == 2, "both are closed")
    assert "8 ring quest:running erika:absent" in qv.quesh("key", "quest")
    qv.do("cell destroy erika quest")
    qv.do("disable")


def serves(qv: Product, folder: Path, source: str, code: str, place: str) -> str:
    """Runs an application that lets the function at this place interrupt it three times. Returns
    what it printed. After its end its console answers."""
    run(qv, folder, DEVICE_OIL % source, DEVICE_C % code, f"devices:\n  - {unsafe(place)}\n")
    until(lambda: "erika: shut down, status 0\n" in screen(qv), "the end of the application")
    shown = screen(qv)
    assert "served 1\nserved 2\nserved 3\n" in shown and shown.count("served") == 3
    assert qv.show("erika")["state"] == "running" and denied(qv, "erika") == 0
    assert "Main" in qv.sh("quesh erika -c tasks")
    qv.do("cell shutdown erika")
    qv.do("cell destroy erika")
    return shown


@pytest.mark.parametrize("source", ["MSI 1234:11E8", "PIN 1234:11E8"])
def test_device_of_cell_interrupts_its_isr(qv: Product, tmp_path: Path, source: str) -> None:
    assert "device found\nid 10000ed\n" in serves(qv, tmp_path, source, EDU_C, EDU)


@WITH_TABLE
def test_message_of_a_table_interrupts_its_isr_in_a_cell(qv: Product, tmp_path: Path) -> None:
    """The cell writes the entry of the table (MSI-X), and the monitor checks it."""
    assert "device found\n" in serves(qv, tmp_path, "MSIX 8086:10D3 1", E1000E_C, E1000E)
