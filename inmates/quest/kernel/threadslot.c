// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../arch/user.h"
#include "../mm/kstack.h"
#include "../mm/space.h"
#include "../user/include/quest/errors.h"
#include "threadslot.h"

#define STACK_PAGES	((int)(KSTACK_BYTES / PAGE_SIZE))

static struct thread threads[THREAD_MAX];
static unsigned int promised;		/* number of slots */

struct thread *threadslots_init(void)
{
	return kstacks_init(THREAD_MAX) ? &threads[0] : NULL;
}

static struct thread *find_free(unsigned int kept)
{
	unsigned int i;

	if (promised && !threadslots_free(kept))
		return NULL;
	for (i = 0; i < THREAD_MAX - kept; i++)
		if (threads[i].state == THREAD_FREE)
			return &threads[i];
	return NULL;
}

unsigned int threadslots_free(unsigned int kept)
{
	unsigned int i, n = 0;

	for (i = 0; i < THREAD_MAX - kept; i++)
		n += threads[i].state == THREAD_FREE;
	return n > promised ? n - promised : 0;
}

void threadslot_promise(void)
{
	promised++;
	pages_keep_more(STACK_PAGES);
}

void threadslot_redeem(void)
{
	promised--;
	pages_keep_more(-STACK_PAGES);
}

int threadslot_take(struct thread **taken, unsigned int kept)
{
	struct thread *t = find_free(kept);
	uint64_t stack = t ? kstack_make((unsigned int)(t - threads)) : 0;

	if (!stack)
		return t ? -ENOMEM : -EAGAIN;
	memset(t, 0, sizeof(*t));
	t->stack = stack;
	*taken = t;
	return 0;
}

void threadslot_free(struct thread *t)
{
	user_forget(t);
	kstack_drop((unsigned int)(t - threads));
	t->state = THREAD_FREE;
}

struct thread *threadslot_at(int i)
{
	return threads[i].state != THREAD_FREE ? &threads[i] : NULL;
}

void threadslots_collect(const struct process *p, struct thread *by_slot[])
{
	struct thread *t;

	memset(by_slot, 0, STACKS_MAX * sizeof(*by_slot));
	for (t = threads; t < threads + THREAD_MAX; t++)
		if (t->state != THREAD_FREE && t->process == p)
			by_slot[t->slot] = t;
}

/* From boot/start.S: the idle thread's stack. */
extern char boot_guard[], boot_stack[];

const struct thread *threadslot_guarded(uint64_t address)
{
	int n = kstack_guarded(address);

	if (address >= (uintptr_t)boot_guard && address < (uintptr_t)boot_stack)
		n = 0;
	return n < 0 ? NULL : &threads[n];
}
