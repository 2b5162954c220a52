// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/ring.h>
#include <inmate/string.h>
#include "trace.h"

static struct trace_entry ring[TRACE_LENGTH];
static uint32_t written;
static const struct thread *last;
static bool last_background, paused;

void trace_switch(const struct thread *t, bool background, uint64_t at)
{
	struct trace_entry *e;

	if (paused || (t == last && background == last_background))
		return;
	last = t;
	last_background = background;
	e = &ring[ring_slot(written++, TRACE_LENGTH)];
	e->at = at;
	e->vcpu = t->sched.vcpu;
	e->background = background;
	copy_string(e->name, t->name, sizeof(e->name));
}

void trace_pause(bool pause)
{
	paused = pause;
	if (pause)
		last = NULL;		/* what follows is a new beginning */
}

uint32_t trace_count(void)
{
	return written < TRACE_LENGTH ? written : TRACE_LENGTH;
}

const struct trace_entry *trace_get(uint32_t i)
{
	return &ring[ring_slot(written - trace_count() + i, TRACE_LENGTH)];
}
