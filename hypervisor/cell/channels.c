// SPDX-License-Identifier: GPL-2.0-only
/* The life of a cell, as the other ends of its channels see it. No exit knows about channels. */
#include "cell.h"
#include "core/gmem.h"
#include "core/kick.h"

/* A life word ends with the state, as a byte. The generation stays */
static u8 *state_of(u32 i)
{
	struct qv_chan_page *page = (struct qv_chan_page *)(QV_VA_LIFE + i * QV_PAGE);

	return (u8 *)&page->end[me()->req.channels[i].end].life;
}

/*
 * Clears the cell's own section of each channel. This may take a while, and Linux is not in need of
 * this CPU. If the cell is to stop, the rest is not cleared, and the state remains "absent". The
 * first word of a section is its generation, so the other end ignores the section from then on.
 */
void cell_channels_begin(struct pcpu *cpu)
{
	const struct qv_mon_create *q = &me()->req;
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		const struct qv_mon_channel *c = &q->channels[i];
		const struct qv_chan_end *own = &c->page.end[c->end];
		u64 at;

		for (at = 0; at < own->size; at += QV_PAGE) {
			if (__atomic_load_n(&cpu->cmd, __ATOMIC_ACQUIRE) & CMD_STOP)
				return;
			memset(window_map(cpu, qv_mon_channel_at(c, own->offset + at), PT_W), 0,
			       QV_PAGE);
		}
		__atomic_store_n(state_of(i), QV_CHAN_IS_RUNNING, __ATOMIC_RELEASE);
	}
}

__attribute__((noinline)) void cell_channels_failed(void)
{
	u32 i;

	for (i = 0; i < me()->req.num_channels; i++)
		__atomic_store_n(state_of(i), QV_CHAN_IS_FAILED, __ATOMIC_RELEASE);
}
