// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../drivers/channel.h"
#include "../user/include/quest/errors.h"
#include "channels.h"
#include "check.h"

/* Returns the number of the end of cell `name`; page->ends: it has no end. */
static unsigned int end_of(const struct qv_chan_page *page, const char *name)
{
	unsigned int i;

	for (i = 0; i < page->ends; i++)
		if (!strcmp(page->end[i].name, name))
			break;
	return i;
}

static bool can_go(const struct channel_image *c, int n, const char *cell)
{
	const struct qv_chan_page *page = channel_page((unsigned int)n);

	return mig_channel_fits(c, page, end_of(page, cell));
}

int mig_channels_pack(struct mig_link *l, const struct process *p)
{
	bool irqs = irq_save();
	int n, error = 0;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (userchannel_get(p, n, &l->header.channels[n]) &&
		    !can_go(&l->header.channels[n], n, mig_link_cell(l)))
			error = -EXDEV;
	irq_restore(irqs);
	return error;
}

/* Interrupts are off. */
static int attach(struct process *p, const struct channel_image *c)
{
	int n = channel_find(c->name), error;
	const struct qv_chan_page *page = n < 0 ? NULL : channel_page((unsigned int)n);

	if (!page || !mig_channel_fits(c, page, channel_at((unsigned int)n)->end))
		return -EXDEV;
	error = userchannel_put(p, n, c);
	return error == -ENOMEM ? error : error ? -EXDEV : 0;
}

int mig_channels_attach(struct process *p, const struct mig_header *h)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < QV_INFO_MAX_CHANNELS && !error; i++)
		if (h->channels[i].length)
			error = attach(p, &h->channels[i]);
	return error;
}
