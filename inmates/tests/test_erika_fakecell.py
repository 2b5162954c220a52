# SPDX-License-Identifier: GPL-2.0-only
"""The OSEK kernel in the fake cell (fakecell/) counts how late alarms are, and refuses an ISR with
the vector of a bell."""

import re

import pytest

from lab import bare as m
from lab.outside import Outside

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.xdist_group("erika-fakecell")]
LATE_OIL = """
CPU late {
	OS kernel { STATUS = EXTENDED; LATENCY = TRUE; SHUTDOWNHOOK = TRUE; };
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; EVENT = Go; };
	TASK Other { PRIORITY = 2; ACTIVATION = 9; };
	EVENT Go;
	COUNTER Millisecond { MAXALLOWEDVALUE = 65535; SECONDSPERTICK = 0.001; };
	COUNTER Soft { MAXALLOWEDVALUE = 9; TYPE = SOFTWARE; };
	ALARM Uncounted { COUNTER = Soft; ACTION = ACTIVATETASK { TASK = Other; }; };
	ALARM Held { COUNTER = Millisecond; ACTION = ACTIVATETASK { TASK = Other; }; };
	ALARM AnAlarmWithAVeryLongNameIndeedYes {
		COUNTER = Millisecond; ACTION = SETEVENT { TASK = Main; EVENT = Go; };
	};
};
"""
LATE_C = """
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "os.h"

#define HELD_MS	9

static unsigned int others;

TASK(Other)
{
	others++;
	TerminateTask();
}

static void hold(void)
{
	uint64_t end;

	SetRelAlarm(Held, 5, 3);
	end = rdtsc() + HELD_MS * (uint64_t)cell_info()->tsc_khz;
	DisableAllInterrupts();
	while (rdtsc() < end)
		;
	EnableAllInterrupts();
	CancelAlarm(Held);
}

TASK(Main)
{
	int i;

	hold();
	SetRelAlarm(Uncounted, 1, 0);
	IncrementCounter(Soft);
	SetRelAlarm(AnAlarmWithAVeryLongNameIndeedYes, 2, 2);
	for (i = 0; i < 10; i++) {
		WaitEvent(Go);
		ClearEvent(Go);
	}
	CancelAlarm(AnAlarmWithAVeryLongNameIndeedYes);
	ShutdownOS(E_OK);
}

void ShutdownHook(StatusType error)
{
	const struct qv_latency *page = (const struct qv_latency *)QV_LATENCY_GPA;
	unsigned int i, k;

	(void)error;
	for (i = 0; i < page->used; i++) {
		uint64_t n = 0;

		for (k = 0; k < QV_LATENCY_BUCKETS; k++)
			n += page->of[i].bucket[k];
		print("%s: %lu, %lu to %lu us, %lu missed, others %u\\n", page->of[i].name, n,
		      page->of[i].min * 1000 / cell_info()->tsc_khz,
		      page->of[i].max * 1000 / cell_info()->tsc_khz, page->of[i].missed, others);
	}
}
"""
BELL_OIL = """
CPU bell {
	OS kernel { STATUS = EXTENDED; };
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; };
	ISR Mine { CATEGORY = 2; SOURCE = "0x20"; };
};
"""
BELL_C = """
#include <inmate/console.h>
#include "os.h"

ISR(Mine) { print("mine\\n"); }

TASK(Main)
{
	TriggerISR(Mine);
	ShutdownOS(E_OK);
}
"""
MAKEFILE = """OIL := app.oil
SRC := app.c
include $(shell pkg-config --variable=makefragment qv-erika)
"""
KEY_OIL = """
CPU key {
	OS kernel { STATUS = EXTENDED; };
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; EVENT = Later; EVENT = Rang; };
	EVENT Later;
	EVENT Rang;
	ISR Bell { CATEGORY = 2; SOURCE = "0x2E"; };
	COUNTER Millisecond { MAXALLOWEDVALUE = 65535; SECONDSPERTICK = 0.001; };
	ALARM Again { COUNTER = Millisecond; ACTION = SETEVENT { TASK = Main; EVENT = Later; }; };
};
"""
# The application and, instead of the monitor, the manager and the other end. That answers a message
# with the same and rings. The manager has no answer the first three times.
KEY_C = """
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include "os.h"
#include <erika/channel.h>

#define WINDOW	0x3A00000ull	/* beyond the channels of the fake cell */
#define NUMBER	10		/* the fake cell has ten channels in its file */

static const ChannelKeyType key = {
	.key = 7, .writes = 1, .type = QV_CHAN_MAILBOX, .flags = QV_CHAN_BELL, .vector = 0x2E,
	.item = 32, .peer = "linux",
};
static ChannelType far;
static uint32_t posted, asked, rung;
static uint64_t at, end;

static uint32_t opened(void)
{
	struct qv_chan_page *page = (void *)WINDOW;

	if (end != QV_KEY_END(0, 0x2E, 0))
		return QV_KEY_MALFORMED;
	memset(page, 0, 0x10000);
	*page = *(const struct qv_chan_page *)at;
	if (page->key != 7 || strcmp(page->end[0].name, "fake") || strcmp(page->end[1].name, "linux"))
		return QV_KEY_DENIED;
	page->session = 1;
	page->end[0].life = page->end[1].life = QV_CHAN_LIFE(5, QV_CHAN_IS_RUNNING);
	return qv_end_attach(&far, page, QV_KEY_LEN, 1) ? QV_KEY_STUCK : NUMBER;
}

static uint32_t bell(uint64_t *window)
{
	char text[32];
	struct qv_item item;

	rung += *window == NUMBER;
	*window = 0;
	if (!qv_end_read(&far, text, sizeof(text), &item) && !qv_end_write(&far, text, item.bytes))
		TriggerISR(Bell);
	return 0;
}

uint32_t __wrap_cell_call_both(uint32_t number, uint64_t *a, uint64_t b)
{
	if (number == QV_CALL_BELL)
		return bell(a);
	if (number != QV_CALL_ANSWER && posted)
		return QV_KEY_BUSY;
	if (number != QV_CALL_ANSWER) {
		posted = number;
		at = *a;
		end = b;
		return 0;
	}
	if (asked++ % 4 != 3)
		return QV_KEY_PENDING;
	number = posted;
	posted = 0;
	*a = WINDOW;
	return number == QV_CALL_OPEN ? opened() : at == NUMBER ? NUMBER : QV_KEY_NONE;
}

uint32_t __wrap_cell_call_with(uint32_t number, uint64_t a, uint64_t b)
{
	return __wrap_cell_call_both(number, &a, b);
}

ISR(Bell) { SetEvent(Main, Rang); }

static void later(void)
{
	SetRelAlarm(Again, 2, 0);
	WaitEvent(Later);
	ClearEvent(Later);
}

TASK(Main)
{
	static ChannelType channel, other;
	char text[32] = "";
	int result, n;

	result = channel_open_key(&channel, &key);
	print("other: %d\\n", channel_open_key(&other, &key));
	for (n = 0; result == QV_KEY_PENDING; n++) {
		later();
		result = channel_open_key(&channel, &key);
	}
	print("open: %d after %d\\n", result, n);
	print("write: %d\\n", channel_write(&channel, "hello", 6));
	result = channel_wait(&channel, Rang, text, sizeof(text));
	print("read: %d %s, rung %u\\n", result, text, rung);
	while ((result = channel_close_key(&channel)) == QV_KEY_PENDING)
		later();
	print("close: %d, then %d\\n", result, channel_read(&channel, text, sizeof(text)));
	print("again: %s\\n", channel_key_sentence(channel_close_key(&channel)));
	ShutdownOS(E_OK);
}
"""
# The same, but the application is not patient. The manager has an answer every second time. It
# refuses the first close of window 10, and key 9 gets a page that is none. The first request of Main
# is preempted by one of Second.
KEYS_OIL = """
CPU keys {
	OS kernel { STATUS = EXTENDED; };
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; };
	TASK Second { PRIORITY = 2; };
};
"""
KEYS_C = """
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include "os.h"
#include <erika/channel.h>

#define WINDOW	0x3A00000ull
#define FIRST	10

static const ChannelKeyType key = {
	.key = 7, .writes = 1, .type = QV_CHAN_MAILBOX, .item = 32, .peer = "linux",
}, key_8 = {
	.key = 8, .writes = 1, .type = QV_CHAN_MAILBOX, .item = 32, .peer = "linux",
}, key_9 = {
	.key = 9, .writes = 1, .type = QV_CHAN_MAILBOX, .item = 32, .peer = "linux",
};
static ChannelType channel, other;
static struct qv_chan_page page;		/* of the request */
static uint32_t posted, asked, closes, open;	/* open: a bit for each window */
static uint64_t at;
static int preempts = 1, first_of_second;

static int opened(uint64_t *address)
{
	int n = open & 1;
	struct qv_chan_page *to = (void *)(WINDOW + n * QV_KEY_LEN);

	open |= 1u << n;
	memset(to, 0, 0x10000);
	*to = page;
	to->session = 1;
	to->end[0].life = to->end[1].life = QV_CHAN_LIFE(5, QV_CHAN_IS_RUNNING);
	if (page.key == 9)
		to->magic = 0;
	*address = (uintptr_t)to;
	return FIRST + n;
}

static int closed(void)
{
	if (!(open >> (at - FIRST) & 1))
		return QV_KEY_NONE;
	if (!closes++)
		return QV_KEY_STUCK;
	open &= ~(1u << (at - FIRST));
	return (int)at;
}

uint32_t __wrap_cell_call_both(uint32_t number, uint64_t *a, uint64_t b)
{
	(void)b;
	if (number == QV_CALL_BELL) {
		*a = 0;
		return 0;
	}
	if (number == QV_CALL_OPEN && preempts-- == 1)
		ActivateTask(Second);
	if (number != QV_CALL_ANSWER) {
		if (posted)
			return QV_KEY_BUSY;
		posted = number;
		at = *a;
		if (number == QV_CALL_OPEN)
			page = *(const struct qv_chan_page *)*a;
		return 0;
	}
	if (!posted)
		return QV_KEY_NONE;
	if (asked++ % 2 == 0)
		return QV_KEY_PENDING;
	number = posted;
	posted = 0;
	return number == QV_CALL_OPEN ? opened(a) : closed();
}

uint32_t __wrap_cell_call_with(uint32_t number, uint64_t a, uint64_t b)
{
	(void)number;
	(void)a;
	(void)b;
	return 0;
}

static int open_by(ChannelType *of, const ChannelKeyType *key)
{
	int result = QV_KEY_PENDING, n;

	for (n = 0; result == QV_KEY_PENDING && n < 9; n++)
		result = channel_open_key(of, key);
	return result;
}

static int close(ChannelType *of)
{
	int result = QV_KEY_PENDING, n;

	for (n = 0; result == QV_KEY_PENDING && n < 9; n++)
		result = channel_close_key(of);
	return result;
}

TASK(Second)
{
	first_of_second = channel_open_key(&other, &key_8);
	TerminateTask();
}

TASK(Main)
{
	int result = open_by(&channel, &key), n;

	print("race: %d, key %u, second %d\\n", result, channel.page.key, first_of_second);
	result = open_by(&other, &key_8);
	print("second: %d, key %u, windows %u\\n", result, other.page.key, open);
	result = close(&channel);
	print("stuck: %d, windows %u\\n", result, open);
	result = close(&channel);
	print("close: %d, windows %u\\n", result, open);
	channel_close_key(&other);
	result = open_by(&other, &key);
	print("reopen: %d, key %u, windows %u, write %d\\n", result, other.page.key, open,
	      channel_write(&other, "hello", 6));
	memset(&channel, 0x55, sizeof(channel));
	channel_open_key(&channel, &key_8);
	result = close(&channel);
	n = close(&channel);
	print("early: %d, windows %u, then %d\\n", result, open, n);
	result = open_by(&channel, &key_8);
	print("again: %d, windows %u\\n", result, open);
	result = close(&channel);
	result += close(&other);
	print("both: %d, windows %u\\n", result, open);
	result = open_by(&channel, &key_9);
	print("page: %d, windows %u\\n", result, open);
	result = close(&channel);
	print("closed: %d, windows %u\\n", result, open);
	ShutdownOS(E_OK);
}
"""
WRAP = "ERIKA_LDFLAGS += -Wl,--wrap=cell_call_both,--wrap=cell_call_with\n"


@pytest.fixture(scope="module")
def outside(built: None, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    return Outside(tmp_path_factory.mktemp("erika-fakecell"))


def fake_cell(outside: Outside, name: str, oil: str, code: str, words: str = "", more: str = "") -> m.Machine:
    """Builds an application and boots it. QEMU wants an image without a space in its path."""
    folder = outside.path / name
    if not folder.exists():
        folder.mkdir()
        for file, text in (("app.oil", oil), ("app.c", code), ("Makefile", MAKEFILE + more)):
            (folder / file).write_text(text)
        outside.run("make", folder=name)
    image = outside.stage / f"{name}.elf"
    image.write_bytes((folder / "app.elf").read_bytes())
    return m.Machine("-smp", "2", *m.COUNTED, "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                     "-initrd", str(image), "-append", f"fakecell {words}")


def test_lateness_of_alarms_is_counted(outside: Outside) -> None:
    """Interrupts are off for 9 ms. An alarm that was due after 5 and 8 ms is 4 and 1 ms late. The
    first is beyond its cycle of 3 ms, and the task begins later still. An alarm on a software
    counter is not counted."""
    with fake_cell(outside, "late", LATE_OIL, LATE_C) as machine:
        machine.expect("erika: shut down, status 0\n")
        found = re.findall(r"(?m)^(\w+): (\d+), (\d+) to (\d+) us, (\d+) missed, others (\d+)$", machine.text)
    (held, twice, least, most, missed, others), (long, often, _, prompt, *_), task = found
    assert (held, twice, missed, others) == ("Held", "2", "1", "3")
    assert 1000 <= int(least) < 4000 <= int(most) < 100_000
    assert (task[0], task[1], task[4]) == ("Other", "1", "1") and int(most) <= int(task[3]) < 100_000
    assert (long, often) == ("AnAlarmWithAVeryLongNameIndeedY", "10") and int(prompt) < 100_000


def test_isr_with_the_vector_of_a_bell_is_refused(outside: Outside) -> None:
    """The OIL file does not name the channel, so only the start can notice it."""
    with fake_cell(outside, "bell", BELL_OIL, BELL_C) as machine:
        machine.expect("mine\n")
        machine.expect("erika: shut down, status 0\n")
    with fake_cell(outside, "bell", BELL_OIL, BELL_C, "channel-bell=0x20") as machine:
        machine.expect("ISR Mine: channel vshm-1: \nerika: its bell has the vector of this ISR: give it another one "
                       "in the cell's file\n")
        assert "mine\n" not in machine.text


def test_task_opens_a_channel_by_a_key(outside: Outside) -> None:
    """The bell of the channel triggers an ISR. A second task gets its turn later."""
    with fake_cell(outside, "key", KEY_OIL, KEY_C, "keys", WRAP) as machine:
        machine.expect("erika: shut down, status 0\n")
        said = re.findall(r"(?m)^(\w+): (.*)$", machine.text)
    assert said[:6] == [("other", "-1"), ("open", "0 after 3"), ("write", "0"), ("read", "6 hello, rung 1"),
                        ("close", "0, then -10"), ("again", "no such channel is open")]


def test_channels_by_keys_survive_impatient_tasks(outside: Outside) -> None:
    """A request that is preempted, a refused close, an open during a close, a close during an open, and a page
    that cannot be attached. The windows that are open are a bit each."""
    with fake_cell(outside, "keys", KEYS_OIL, KEYS_C, "keys", WRAP) as machine:
        machine.expect("erika: shut down, ")
        said = re.findall(r"(?m)^(\w+): (.*)$", machine.text)
    assert said[:10] == [("race", "0, key 7, second -1"), ("second", "0, key 8, windows 3"),
                         ("stuck", "-9, windows 3"), ("close", "0, windows 2"),
                         ("reopen", "0, key 7, windows 1, write -7"), ("early", "0, windows 1, then -8"),
                         ("again", "0, windows 3"), ("both", "0, windows 0"), ("page", "-4, windows 1"),
                         ("closed", "0, windows 0")]
