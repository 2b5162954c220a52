// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/ring.h>
#include <inmate/string.h>
#include "../mm/pages.h"
#include "trace.h"

static struct trace_entry first[TRACE_LENGTH];
static struct trace_entry *ring = first;
static uint32_t length = TRACE_LENGTH, written;
static const struct thread *last;
static bool last_background, paused;

void trace_switch(const struct thread *t, bool background, uint64_t at)
{
	struct trace_entry *e;

	if (paused || (t == last && background == last_background))
		return;
	last = t;
	last_background = background;
	e = &ring[ring_slot(written++, length)];
	e->at = at;
	e->vcpu = t->sched.vcpu;
	e->background = background;
	copy_string(e->name, t->name, sizeof(e->name));
}

static size_t pages_for(uint32_t n)
{
	return (n * sizeof(struct trace_entry) + PAGE_SIZE - 1) / PAGE_SIZE;
}

bool trace_resize(uint32_t n)
{
	bool irqs = irq_save();
	struct trace_entry *new = n == TRACE_LENGTH ? first :
				  (struct trace_entry *)pages_alloc(pages_for(n));

	if (new) {
		if (ring != first)
			pages_free((uintptr_t)ring, pages_for(length));
		ring = new;
		length = n;
		written = 0;
		last = NULL;
	}
	irq_restore(irqs);
	return new;
}

void trace_pause(bool pause)
{
	paused = pause;
	if (pause)
		last = NULL;		/* record the next thread in any case */
}

uint32_t trace_count(void)
{
	return written < length ? written : length;
}

const struct trace_entry *trace_get(uint32_t i)
{
	return &ring[ring_slot(written - trace_count() + i, length)];
}
