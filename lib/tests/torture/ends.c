// SPDX-License-Identifier: GPL-2.0-only
/* Items, errors and time of all cases. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "torture.h"

static bool enough;	/* the time of this case is over, or an end found an error */
static const char *wrong;	/* the error */

bool is_enough(void)
{
	return __atomic_load_n(&enough, __ATOMIC_SEQ_CST);
}

static void time_is_over(int signal)
{
	(void)signal;
	__atomic_store_n(&enough, true, __ATOMIC_SEQ_CST);
}

bool failed(void)
{
	return __atomic_load_n(&wrong, __ATOMIC_SEQ_CST);
}

/* All ends stop: none waits for an end that has stopped. */
void fail(const char *why)
{
	__atomic_store_n(&wrong, why, __ATOMIC_SEQ_CST);
	__atomic_store_n(&enough, true, __ATOMIC_SEQ_CST);
}

/*
 * Waits a moment for the other end. Each yield can give the CPU to another program for its whole
 * slice, so most calls only pause. Without any yield, the other end could not use the only CPU.
 */
void give_way(void)
{
	static __thread uint32_t tries;

	if (++tries % 256)
		__builtin_ia32_pause();
	else
		sched_yield();
}

void fill_item(uint64_t *item, uint64_t value, uint64_t generation)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		item[i] = (value << 16 | generation % 0x10000) ^ (uint64_t)i << 56;
}

/* Leaves an item half written. A reader of a ring that drops the oldest may look at it. */
void fill_half(uint64_t *item)
{
	uint32_t i;

	for (i = 0; i < WORDS / 2; i++)
		__atomic_store_n(&item[i], ~0ull, __ATOMIC_RELEASE);
}

/* Returns the value of an item, or 0 if the item is torn. */
uint64_t whole(const uint64_t *item)
{
	uint32_t i;

	for (i = 1; i < WORDS; i++)
		if ((item[i] ^ item[0]) != (uint64_t)i << 56)
			return 0;
	return item[0] >> 16;
}

int send_item(struct end_args *a, struct qv_end *end, uint64_t value)
{
	uint64_t item[WORDS];
	void *room = item;
	int result = 0;

	if (a->zero_copy)
		result = qv_end_claim(end, &room);
	if (result)
		return result;
	fill_item(room, value, end->generation);
	if (a->zero_copy)
		return qv_end_commit(end, sizeof(item));
	return qv_end_write(end, item, sizeof(item));
}

/* Sets *value to 0 if the item was torn. */
int take_item(struct end_args *a, struct qv_end *end, uint64_t *value, struct qv_item *about)
{
	uint64_t item[WORDS];
	const void *there;
	int result;

	if (!a->zero_copy) {
		result = qv_end_read(end, item, sizeof(item), about);
		*value = result ? 0 : whole(item);
		return result;
	}
	result = qv_end_peek(end, &there, about);
	if (result)
		return result;
	*value = whole(there);
	return qv_end_release(end);
}

void begin_case(uint32_t seconds)
{
	wrong = NULL;
	enough = false;
	signal(SIGALRM, time_is_over);
	alarm(seconds);
}

/* A case in which nothing arrived shows nothing. */
bool end_case(const char *name, uint64_t items, uint64_t received)
{
	alarm(0);
	if (!received && !failed())
		fail("no item arrived");
	printf("%s: %lu items sent, %lu received%s%s\n", name, (unsigned long)items,
	       (unsigned long)received, wrong ? ", FAILED: " : "", wrong ? wrong : "");
	fflush(stdout);
	return !wrong;
}
