// SPDX-License-Identifier: GPL-2.0-only
/* The life of a cell, as the other ends of its channels see it, and its bells. */
#include "cell.h"
#include "core/apic.h"
#include "core/gmem.h"

/* Pairs with bells_settle() of manage/channel_bells.c, which waits while the word is odd */
void targets_toggle(const struct pcpu *cpu)
{
	__atomic_fetch_add(&me()->bells.uses[cpu->index], 1, __ATOMIC_SEQ_CST);
}

/*
 * At the cell's turn, which it awaits with @wait: the cell does not run then. Else, if it is too
 * soon, rings none and returns the TSC of the turn
 */
static u64 cell_ring(struct pcpu *cpu, u32 i, bool wait)
{
	struct bells *b = &me()->bells;
	u64 later = bell_turn(&b->next, me()->req.bell_rate, wait);
	u32 end;

	if (later)
		return later;
	targets_toggle(cpu);
	for (end = 0; end < QV_CHAN_MAX_ENDS; end++)
		bell_send(__atomic_load_n(&b->target[i][end], __ATOMIC_SEQ_CST));
	targets_toggle(cpu);
	return 0;
}

bool cell_bell(struct pcpu *cpu, u32 i)
{
	u64 later = 0;

	if (i >= me()->req.num_channels)
		return false;
	/* In a window without a channel, targets are old. A close waits until this CPU is back */
	if (load(&me()->req.channels[i].page.ends))
		later = cell_ring(cpu, i, false);
	cpu->status->bells++;
	cpu->status->bell_overruns += !!later;
	cpu->regs[GPR_RDI] = later;
	return true;
}

/*
 * The next life word of an end that begins again by itself, with the state absent. The manager
 * counts lives in the low 32 bits of a generation, and leaves the others 0: they count here.
 */
#define LIFE_AGAIN(life)	(((life) & ~0xffull) + (1ull << 40))

/* A life word ends with the state, as a byte. With a state alone, the generation stays */
static u64 *life_of(u32 i)
{
	struct qv_chan_page *page = (struct qv_chan_page *)(QV_VA_LIFE + i * QV_PAGE);

	return &page->end[me()->req.channels[i].end].life;
}


/*
 * Clears the cell's own section of each channel, except memories if the cell begins again by
 * itself: either cell may need the saves there. This may take a while, and Linux is not in need of
 * this CPU. If the cell is to stop, the rest is not cleared, and the state remains "absent". The
 * first word of a section is its generation, so the other end ignores the section from then on.
 */
void cell_channels_begin(struct pcpu *cpu)
{
	const struct qv_mon_create *q = &me()->req;
	u32 i;

	/* No channel at run time is open yet (a cell with those never begins again) */
	for (i = 0; i < first_dynamic(q); i++) {
		const struct qv_mon_channel *c = &q->channels[i];
		const struct qv_chan_end *own = &c->page.end[c->end];
		u64 at = my_status()->failures && c->page.type == QV_CHAN_MEMORY ? own->size : 0;

		if (my_status()->failures)	/* no manager gave this life its generation */
			__atomic_store_n(life_of(i), LIFE_AGAIN(*life_of(i)), __ATOMIC_SEQ_CST);
		for (; at < own->size; at += QV_PAGE) {
			if (__atomic_load_n(&cpu->cmd, __ATOMIC_ACQUIRE) & CMD_STOP)
				goto out;
			memset(gmem_map(cpu, qv_mon_channel_at(c, own->offset + at), PT_W), 0,
			       QV_PAGE);
		}
		__atomic_store_n((u8 *)life_of(i), QV_CHAN_IS_RUNNING, __ATOMIC_RELEASE);
		cell_ring(cpu, i, true);
	}
out:
	gmem_map(cpu, me()->boot.block_pa, 0);	/* no longer shows a section */
}

__attribute__((noinline)) void cell_channels_failed(struct pcpu *cpu)
{
	const struct qv_mon_create *q = &me()->req;
	u32 i;

	/* Pairs with key_attach(), which looks for a failure after it wrote .page.ends */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < q->num_channels; i++) {
		if (!load(&q->channels[i].page.ends))	/* no channel is there now */
			continue;
		invlpg(QV_VA_LIFE + i * QV_PAGE);	/* another one may have been there */
		__atomic_store_n((u8 *)life_of(i), QV_CHAN_IS_FAILED, __ATOMIC_RELEASE);
	}
	/* Bells wait for their turns, so all states come first */
	for (i = 0; i < q->num_channels; i++)
		if (load(&q->channels[i].page.ends))
			cell_ring(cpu, i, true);
}
