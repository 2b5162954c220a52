// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
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

static struct {
	uint64_t at;			/* address in the program; 0: it is not attached */
	int number;			/* by which the program knows it */
	bool writes;			/* the program may write what the end may write */
	uint32_t more_bells;		/* the program counts so many bells more than the cell */
} attached[QV_INFO_MAX_CHANNELS];

static bool has(const struct process *p, int n)
{
	return n >= 0 && n < QV_INFO_MAX_CHANNELS && attached[n].at &&
	       channel_user((unsigned int)n) == p->pid;
}

/* Returns the channel that `p` knows by `number`; -1: none. */
static int find(const struct process *p, int number)
{
	int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (has(p, n) && attached[n].number == number)
			return n;
	return -1;
}

/*
 * Returns the number by which `p` will know channel `n`: usually `n`. A program that has moved may
 * know another channel by that number.
 */
static int new_number(const struct process *p, int n)
{
	int number = n;

	if (find(p, n) < 0)
		return n;
	for (number = 0; find(p, number) >= 0; number++)
		;
	return number;
}

/* Returns how often the bell of channel `n` has rung, as its program counts. */
static uint32_t bells(int n)
{
	return ((uint32_t)bell_count((unsigned int)n) + attached[n].more_bells) & BELLS_MASK;
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
 * Maps the channel at `at`: with `writes`, the section that end `self` may write is writable. Other
 * threads run meanwhile, but none of them maps pages. Returns false if there is no memory, or pages
 * are mapped there.
 */
static bool map(struct space *s, uint64_t at, int n, uint32_t self, bool writes)
{
	const struct qv_chan_page *page = channel_page((unsigned int)n);
	const struct qv_chan_end *own = own_section(page, self);
	uint64_t memory = channel_at((unsigned int)n)->address, size = writes ? own->size : 0;
	uint64_t first = size ? own->offset : page->length, next = first + size;

	if (map_part(s, at, memory, first, USER_READ) &&
	    map_part(s, at + first, memory + first, size, USER_DATA) &&
	    map_part(s, at + next, memory + next, page->length - next, USER_READ))
		return true;
	space_unmap(s, at, at + page->length);
	return false;
}

/*
 * No program has the channel. `p` takes it before pages are mapped: at `at`; 0: anywhere. Returns
 * 0 or minus an error.
 */
static int take(struct process *p, int n, uint64_t at, bool writes)
{
	const struct qv_info_channel *c = channel_at((unsigned int)n);
	const struct qv_chan_page *page = channel_page((unsigned int)n);

	if (!page || page->length % PAGE_SIZE)
		return -EPROTO;
	channel_set_user((unsigned int)n, p->pid);
	if (!at)
		at = space_find_foreign(&p->space, page->length / PAGE_SIZE);
	if (!at || !map(&p->space, at, n, c->end, writes)) {
		channel_set_user((unsigned int)n, KERNEL_PID);
		return -ENOMEM;
	}
	attached[n].at = at;
	attached[n].writes = writes;
	return 0;
}

/* Attaches a channel that no program has. Returns its number in `p`, or minus an error. */
static int attach(struct process *p, int n, struct quest_channel *to)
{
	const struct qv_info_channel *c = channel_at((unsigned int)n);
	int error = take(p, n, 0, true);

	if (error)
		return error;
	attached[n].number = -1;	/* so that new_number() does not find it */
	attached[n].number = new_number(p, n);
	attached[n].more_bells = 0;
	*to = (struct quest_channel){
		.at = attached[n].at, .length = channel_page((unsigned int)n)->length,
		.end = c->end
	};
	return attached[n].number;
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
	int n = key_open(wish, p, rdtsc() + timer_from_us(KEY_WAIT_US)), number;

	if (n < 0)
		return n;
	if (process_take_heap(p)) {
		number = attach(p, n, to);
		process_give_heap(p);
	} else {
		number = (int)process_interrupted(p);
	}
	if (number < 0)
		key_close((unsigned int)n);
	return number;
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
int userchannel_detach(struct process *p, int number)
{
	int n = find(p, number);
	uint64_t at;

	if (n < 0)
		return -EBADF;
	at = attached[n].at;
	attached[n].at = 0;
	space_unmap(&p->space, at, at + channel_page((unsigned int)n)->length);
	drop((unsigned int)n);
	wake_all(bell_waiters((unsigned int)n));
	return 0;
}

long userchannel_sleep(struct process *p, int number, uint32_t seen, uint64_t end)
{
	uint64_t tick = UINT64_MAX;
	int n = find(p, number);

	if (n < 0)
		return -EBADF;
	if (!channel_has_bell((unsigned int)n))
		tick = rdtsc() + timer_from_us(TICK_US);
	if (bells(n) == seen) {
		(void)wait_on_until(bell_waiters((unsigned int)n), end < tick ? end : tick);
		if (process_interrupted(p))
			return process_interrupted(p);
		if (find(p, number) != n)
			return -EBADF;
		if (rdtsc() >= end)
			return -ETIMEDOUT;
	}
	return (long)bells(n);
}

long userchannel_ring(const struct process *p, int number)
{
	uint64_t turn;
	int n;

	while ((n = find(p, number)) >= 0) {
		turn = channel_try_ring((unsigned int)n);
		if (!turn)
			return 0;
		thread_sleep_until(turn);
		if (process_interrupted(p))
			return process_interrupted(p);
	}
	return -EBADF;
}

bool userchannel_get(const struct process *p, int n, struct channel_image *image)
{
	const struct qv_info_channel *listed;

	*image = (struct channel_image){ 0 };
	if (!has(p, n))
		return false;
	listed = channel_nth((unsigned int)n);
	if (listed)
		copy_string(image->name, listed->name, sizeof(image->name));
	image->session = channel_page((unsigned int)n)->session;
	image->at = attached[n].at;
	image->length = channel_page((unsigned int)n)->length;
	image->number = (uint32_t)attached[n].number;
	image->bells = bells(n);
	image->writes = attached[n].writes;
	return true;
}

int userchannel_put(struct process *p, int n, const struct channel_image *image)
{
	int error = channel_user((unsigned int)n) ? -EBUSY :
		    take(p, n, image->at, image->writes);

	if (error)
		return error;
	attached[n].number = (int)image->number;
	attached[n].more_bells = image->bells + 1 - (uint32_t)bell_count((unsigned int)n);
	return 0;
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
