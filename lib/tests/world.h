/* SPDX-License-Identifier: GPL-2.0-only */
/* A channel in this process's memory, for tests in C. */
#ifndef WORLD_H
#define WORLD_H

#include <stdlib.h>
#include <string.h>
#include <qv/end.h>
#include "../linux/manage.h"

struct world {
	struct qv_chan_page plan;
	void *window;
};

/* Returns a channel whose ends are running but have not attached. Aborts if it is impossible. */
static inline struct world world_make(uint32_t type, uint64_t item, uint64_t slots, uint32_t ends,
				      uint32_t full, uint32_t flags)
{
	struct world w = { .plan = { .type = type, .item = item, .slots = slots, .ends = ends,
				     .full = full, .flags = flags, .name = "sensor" } };
	uint32_t i;

	if (qv_chan_lay_out(&w.plan))
		abort();
	w.window = aligned_alloc(QV_CHAN_PAGE, w.plan.length);
	if (!w.window)
		abort();
	memset(w.window, 0, w.plan.length);
	manage_make(w.window, &w.plan, 0x12345600);
	for (i = 0; i < ends; i++)
		manage_start(w.window, i);
	return w;
}

static inline struct qv_chan_section *world_section(struct world *w, uint32_t end)
{
	return (struct qv_chan_section *)((char *)w->window + w->plan.end[end].offset);
}

static inline struct qv_chan_slot *world_slot(struct world *w, uint32_t end, uint64_t place)
{
	return (struct qv_chan_slot *)((char *)world_section(w, end) + QV_CHAN_DATA +
				       place * QV_CHAN_STRIDE(w->plan.item));
}

static inline int world_attach(struct world *w, struct qv_end *end, uint32_t self)
{
	return qv_end_attach(end, w->window, w->plan.length, self);
}

#endif
