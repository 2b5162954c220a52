// SPDX-License-Identifier: GPL-2.0-only
/* Channels of a cell that fails. No other exit knows about channels. */
#include "cell.h"

__attribute__((noinline)) void cell_channels_failed(void)
{
	const struct qv_mon_create *q = &me()->req;
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		struct qv_chan_page *page = (struct qv_chan_page *)(QV_VA_LIFE + i * QV_PAGE);
		u8 *state = (u8 *)&page->end[q->channels[i].end].life;

		/* A life word ends with the state, as a byte. The generation stays */
		__atomic_store_n(state, QV_CHAN_IS_FAILED, __ATOMIC_RELEASE);
	}
}
