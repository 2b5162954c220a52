// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../kernel/thread.h"
#include "../mm/mm.h"
#include "../mm/table.h"
#include "channel.h"

static struct channel {
	struct qv_end end;		/* .window is NULL before the life page was checked */
	bool attached;			/* .end is as the kernel left it */
	int user;			/* as channel_user() returns */
	struct qv_info_channel window;	/* a channel at run time; .length 0: it is not open */
	bool window_bell;
} channels[QV_INFO_MAX_CHANNELS];

const struct qv_info_channel *channel_nth(unsigned int n)
{
	const struct qv_info *info = cell_info();

	if (!cell_present() || n >= info->num_channels || n >= QV_INFO_MAX_CHANNELS)
		return NULL;
	return &info->channels[n];
}

const struct qv_info_channel *channel_at(unsigned int n)
{
	if (n < QV_INFO_MAX_CHANNELS && channels[n].window.length)
		return &channels[n].window;
	return channel_nth(n);
}

void channel_set_window(unsigned int n, const struct qv_info_channel *at, bool bell)
{
	static const struct qv_info_channel none;
	struct channel *own = &channels[n];

	own->window = at ? *at : none;
	own->window_bell = bell;
	own->attached = false;
	own->end.window = NULL;
}

int channel_find(const char *name)
{
	const struct qv_info_channel *c;
	unsigned int n;

	for (n = 0; (c = channel_nth(n)); n++)
		if (!strcmp(c->name, name))
			return (int)n;
	return -1;
}

/* Interrupts are off: a program must not attach meanwhile. */
static int attach(unsigned int n)
{
	const struct qv_info_channel *c = channel_at(n);
	struct channel *own = &channels[n];
	uint64_t first = c->address & ~(LARGE_PAGE - 1), end = c->address + c->length;
	int result;

	if (own->attached)
		return QV_CHAN_DONE;
	/* Large pages need few entries. The kernel uses no other address in them */
	if (!map_identity(first, (end + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1),
			  PTE_WRITE | PTE_NO_EXECUTE))
		return QV_CHAN_USAGE;
	result = qv_end_attach(&own->end, (void *)(uintptr_t)c->address, c->length, c->end);
	own->attached = !result;
	return result;
}

const struct qv_chan_page *channel_page(unsigned int n)
{
	bool irqs = irq_save();

	if (!channels[n].end.window && !channels[n].user)
		(void)attach(n);
	irq_restore(irqs);
	return channels[n].end.window ? &channels[n].end.page : NULL;
}

int channel_open(unsigned int n, struct qv_end **end)
{
	bool irqs = irq_save();
	int result = channels[n].user ? QV_CHAN_USAGE : attach(n);

	if (!result)
		channels[n].user = CHANNEL_KERNEL;
	irq_restore(irqs);
	*end = &channels[n].end;
	return result;
}

void channel_close(unsigned int n)
{
	channels[n].user = 0;
}

struct qv_end *channel_end(unsigned int n)
{
	return &channels[n].end;
}

int channel_user(unsigned int n)
{
	return channels[n].user;
}

void channel_set_user(unsigned int n, int pid)
{
	channels[n].user = pid;
	channels[n].attached = false;
}

bool channel_has_bell(unsigned int n)
{
	if (channel_nth(n))
		return cell_info()->bells[n].vector;
	return channel_at(n) && channels[n].window_bell;
}

uint64_t channel_try_ring(unsigned int n)
{
	return channel_has_bell(n) ? cell_try_ring(n) : 0;
}

void channel_ring(unsigned int n)
{
	uint64_t turn;

	while ((turn = channel_try_ring(n)))
		thread_sleep_until(turn);
}

void channel_ring_after(struct qv_end *end, unsigned int n)
{
	if (qv_end_rings(end))
		channel_ring(n);
}
