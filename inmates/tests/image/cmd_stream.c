// SPDX-License-Identifier: GPL-2.0-only
/* A command that is one end of a stream through a channel, with a checker: lib/tests/stream.h. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../../../lib/tests/stream.h"
#include "../../quest/drivers/bell.h"
#include "../../quest/drivers/channel.h"
#include "../../quest/kernel/machine.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"

/* Longest sleep. The item of a bell that comes later was found before the bell */
#define PATIENCE_MS	20000

static int number;
static bool sleeps, armed, late;
static uint64_t seen;
static struct qv_end *end;
static struct stream s;

static bool bell(void)
{
	return bell_wait((unsigned int)number, seen, rdtsc() + PATIENCE_MS * machine.tsc_khz);
}

/* As in tests/lab/programs/chanstream.c */
static void idle(void)
{
	if (!sleeps || !s.done) {
		cpu_relax();
	} else if (armed) {
		armed = false;
		late = !bell();
	} else {
		late = false;
		seen = bell_count((unsigned int)number);
		qv_end_arm(end, true);
		armed = true;
	}
}

static void ring(void)
{
	channel_ring_after(end, (unsigned int)number);
	if (late && !bell())
		s.wrong = "a bell was lost";
	late = false;
}

int command_stream(int argc, char **argv);

int command_stream(int argc, char **argv)
{
	int result;

	s = (struct stream){ .idle = idle, .ring = ring };
	armed = late = false;
	if (argc < 3 || !words_number(argv[2], UINT64_MAX, &s.items))
		return SHELL_SHOW_USAGE;
	sleeps = argc > 3 && !strcmp(argv[3], "sleep");
	s.any_end = argc > 3 && !sleeps;
	number = channel_find(argv[1]);
	result = number < 0 ? QV_CHAN_ABSENT : channel_open((unsigned int)number, &end);
	if (result) {
		s.wrong = qv_chan_sentence(result);
	} else {
		/* unlike the end of Linux, so one end arms and the other gets each bell */
		qv_end_will_arm(end, sleeps);
		stream(end, &s);
		qv_end_will_arm(end, false);
		channel_close((unsigned int)number);
	}
	print("%s: %lu items, %lu lost: %s\n", argv[1], (unsigned long)s.done,
	      (unsigned long)s.lost,
	      s.wrong ? s.wrong : s.result ? "the peer ended" : "all is well");
	return s.wrong ? 1 : 0;
}
