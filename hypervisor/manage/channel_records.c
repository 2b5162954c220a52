// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of channels, and their lock. A call that is AT_ONCE (channel_bells.c) looks at
 * records while another CPU is in the manager, so all that it reads is written with the lock.
 */
#include "manage.h"

#define LINUX_NAME	0x78756e696cull		/* "linux", as the first 8 bytes of a name */

/* Waits as long as another CPU holds the lock: core/lock.h */
void channels_lock(const struct pcpu *cpu)
{
	while (!lock_take(cpu, LOCK_CHANNELS, LOCK_PATIENCE))
		;
}

struct channel *channel_at(u64 pa)
{
	struct channel *r;

	FOR_EACH_CHANNEL(r)
		if (r->is.pa[0] == pa)
			return r;
	return NULL;
}

u32 channel_linux(const struct channel *r)
{
	const struct qv_chan_page *p = &r->is.page;
	u32 i;

	for (i = 0; i < p->ends; i++)
		if (*(const u64 *)p->end[i].name == LINUX_NAME)
			return i;
	return QV_CHAN_MAX_ENDS;
}

void channel_fill(const struct pcpu *cpu, struct channel *r, const struct qv_mon_channel *c,
		  const struct qv_chan_page *page)
{
	channels_lock(cpu);
	r->is = *c;
	r->is.page = *page;
	lock_drop(LOCK_CHANNELS);
}

void channel_empty(const struct pcpu *cpu, struct channel *r, u64 pa)
{
	channels_lock(cpu);
	memset(r->bell, 0, sizeof(r->bell));
	memset(&r->is.page, 0, sizeof(r->is.page));
	r->is.page.length = QV_HUGE;
	r->is.pa[0] = pa;
	lock_drop(LOCK_CHANNELS);
}
