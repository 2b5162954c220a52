// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of running cells for channels at run time. A cell posts one in its own instance and
 * sends an NMI to a CPU of the front end (cell/keys.c). That CPU answers in its NMI exit, without
 * Linux, or the CPU that is in the manager at that time answers after its call. Linux does not run
 * there meanwhile, so each cell gets at most 1/SHARE of the time of that CPU.
 */
#include "calls.h"
#include "manage.h"
#include "parts/channels.h"

#define SHARE	16u
#define ROUNDS	16u	/* each needs another NMI of a cell, and a cell sends one per millisecond */

static void post_answer(struct pcpu *cpu, u32 id)
{
	struct chan_post *post = &managed()->cell.post;
	struct cell_slot *slot = &me()->manager.cells[id];
	u64 start = rdtsc();

	mapping_set(QV_VA_MANAGE, slot->block_pa);
	if (load(&post->state) != POST_SENT)
		return;
	me()->manager.posts_until = start + POSTS_LATE;
	if ((s64)(start - slot->post_next) < 0)
		return;		/* the cell announces it again */
	post->answer = post->nr == QV_CALL_OPEN ? key_open(cpu, id, &post->ask) :
						  key_close(cpu, id, post->ask.end);
	__atomic_store_n(&post->state, POST_ANSWERED, __ATOMIC_RELEASE);
	me()->manager.posts_until = rdtsc() + POSTS_LATE;
	slot->post_next = rdtsc() + (SHARE - 1) * (rdtsc() - start);
}

bool posts_serve(struct pcpu *cpu)
{
	struct manager_state *m = &me()->manager;
	u32 rounds = 0, id;

	/* A CPU that came meanwhile has set .posted and left it to this one */
	for (; load(&m->posted) && rounds < ROUNDS && lock_take(cpu, LOCK_MANAGER, 1); rounds++) {
		__atomic_store_n(&m->posted, 0, __ATOMIC_SEQ_CST);
		for (id = 1; id < QV_INSTANCES; id++)
			if (m->dynamic >> id & 1)
				post_answer(cpu, id);
		mapping_set(QV_VA_MANAGE, 0);
		lock_drop(LOCK_MANAGER);
	}
	return rounds;
}

bool posts_nmi(struct pcpu *cpu)
{
	struct manager_state *m = &me()->manager;
	u64 now = rdtsc();

	if (load(&m->dynamic))
		__atomic_store_n(&m->posted, 1, __ATOMIC_SEQ_CST);
	/* In doubt if another CPU is in the manager: it looks at .posted after it has left */
	return (load(&m->posted) && !posts_serve(cpu)) || now < m->posts_until;
}
