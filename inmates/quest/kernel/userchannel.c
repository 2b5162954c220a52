// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../drivers/bell.h"
#include "../drivers/channel.h"
#include "../drivers/key.h"
#include "../user/include/quest/errors.h"
#include "process/heap.h"
#include "process/process.h"
#include "userchannel.h"

#define TICK_US		1000
#define KEY_WAIT_US	60000000	/* for the manager, which a slow host may delay */
#define BELLS_MASK	0x7FFFFFFFu

static struct {
	uint64_t at;			/* address in the program; 0: it is not attached */
} attached[QV_INFO_MAX_CHANNELS];

static bool has(const struct process *p, int n)
{
	return n >= 0 && n < QV_INFO_MAX_CHANNELS && attached[n].at &&
	       channel_user((unsigned int)n) == p->pid;
}

/* Returns the section that end `self` may write; of size 0: none. */
static const struct qv_chan_end *own_section(const struct qv_chan_page *page, uint32_t self)
{
	const struct qv_chan_end *own = &page->end[self];

	return page->type == QV_CHAN_MEMORY && own->flags & QV_CHAN_END_WRITES ? &page->end[0] :
										 own;
}

static bool map_part(struct space *s, uint64_t at, uint64_t memory, uint64_t bytes, uint64_t rights)
{
	return !bytes || space_map_foreign(s, at, memory, bytes / PAGE_SIZE, rights);
}

/*
 * Maps the channel, with section `own` writable. Other threads run meanwhile, but none of them maps
 * pages. Returns the address; 0: there is no memory.
 */
static uint64_t map(struct space *s, const struct qv_chan_page *page, uint64_t memory,
		    const struct qv_chan_end *own)
{
	uint64_t at = space_find_foreign(s, page->length / PAGE_SIZE);
	uint64_t first = own->size ? own->offset : page->length, next = first + own->size;

	if (!at)
		return 0;
	if (map_part(s, at, memory, first, USER_READ) &&
	    map_part(s, at + first, memory + first, own->size, USER_DATA) &&
	    map_part(s, at + next, memory + next, page->length - next, USER_READ))
		return at;
	space_unmap(s, at, at + page->length);
	return 0;
}

/*
 * No program has the channel. `p` takes it before pages are mapped. Returns its number, or minus an
 * error.
 */
static int attach(struct process *p, int n, struct quest_channel *to)
{
	const struct qv_info_channel *c = channel_at((unsigned int)n);
	const struct qv_chan_page *page = channel_page((unsigned int)n);
	uint64_t at;

	if (!page || page->length % PAGE_SIZE)
		return -EPROTO;
	channel_set_user((unsigned int)n, p->pid);
	at = map(&p->space, page, c->address, own_section(page, c->end));
	if (!at) {
		channel_set_user((unsigned int)n, KERNEL_PID);
		return -ENOMEM;
	}
	attached[n].at = at;
	*to = (struct quest_channel){ .at = at, .length = page->length, .end = c->end };
	return n;
}

int userchannel_attach(struct process *p, const char *name, struct quest_channel *to)
{
	int n = channel_find(name), result;

	if (n < 0)
		return -ENODEV;
	if (!process_take_heap(p))
		return (int)process_interrupted(p);
	result = channel_user((unsigned int)n) ? -EBUSY : attach(p, n, to);
	process_give_heap(p);
	return result;
}

int userchannel_open_key(struct process *p, const struct quest_key *wish, struct quest_channel *to)
{
	int n = key_open(wish, p, rdtsc() + timer_from_us(KEY_WAIT_US)), error;

	if (n < 0)
		return n;
	if (process_take_heap(p)) {
		error = attach(p, n, to);
		process_give_heap(p);
	} else {
		error = (int)process_interrupted(p);
	}
	if (error < 0)
		key_close((unsigned int)n);
	return error;
}

/* A channel at run time is closed: no page table in use maps it. */
static void drop(unsigned int n)
{
	if (key_is(n))
		key_close(n);
	else
		channel_set_user(n, KERNEL_PID);
}

/*
 * Other threads run while pages are unmapped. For them the channel is not attached, and no other
 * program can attach it yet.
 */
int userchannel_detach(struct process *p, int n)
{
	uint64_t at;

	if (!has(p, n))
		return -EBADF;
	at = attached[n].at;
	attached[n].at = 0;
	space_unmap(&p->space, at, at + channel_page((unsigned int)n)->length);
	drop((unsigned int)n);
	wake_all(bell_waiters((unsigned int)n));
	return 0;
}

long userchannel_sleep(struct process *p, int n, uint32_t seen, uint64_t end)
{
	uint64_t tick = UINT64_MAX;

	if (!has(p, n))
		return -EBADF;
	if (!channel_has_bell((unsigned int)n))
		tick = rdtsc() + timer_from_us(TICK_US);
	if ((bell_count((unsigned int)n) & BELLS_MASK) == seen) {
		(void)wait_on_until(bell_waiters((unsigned int)n), end < tick ? end : tick);
		if (process_interrupted(p))
			return process_interrupted(p);
		if (!has(p, n))
			return -EBADF;
		if (rdtsc() >= end)
			return -ETIMEDOUT;
	}
	return (long)(bell_count((unsigned int)n) & BELLS_MASK);
}

long userchannel_ring(const struct process *p, int n)
{
	uint64_t turn;

	while (has(p, n)) {
		turn = channel_try_ring((unsigned int)n);
		if (!turn)
			return 0;
		thread_sleep_until(turn);
		if (process_interrupted(p))
			return process_interrupted(p);
	}
	return -EBADF;
}

bool userchannel_used(const struct process *p)
{
	int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (has(p, n))
			return true;
	return false;
}

void userchannel_leave(const struct process *p)
{
	int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++) {
		if (!has(p, n))
			continue;
		attached[n].at = 0;
		drop((unsigned int)n);
	}
}
