// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <inmate/cpu.h>
#include "../../quest/kernel/wait.h"
#include "../../quest/recovery/checkpoint.h"
#include "../../quest/recovery/takeover.h"
#include "../../quest/user/include/quest/errors.h"
#include "../../quest/user/include/quest/types.h"
#include "../moving/baton.h"
#include "world.h"
#include "unit.h"

#define RIGHT		256		/* states that the test knows */
#define RULE(own, one, two) { \
	.name = "triple", .checkpoint_bytes = BYTES, .checkpoint_us = 600000000, \
	.limit = { [DETECT_BEHIND] = TIME_US }, .replica = { own, one, two }, \
}

static const struct component_rule rules[VOTE_CELLS] = {
	RULE("a", "b", "c"), RULE("b", "c", "a"), RULE("c", "a", "b"),
};

struct cell cells[VOTE_CELLS];
uint64_t wrong, found[DETECTORS];
void (*hostile)(int cell);
int hostile_cell;
static __thread int self = -1;		/* the cell whose program this thread is */

size_t takeover_fetch(unsigned int n, void *to, size_t room, uint64_t *age)
{
	(void)n, (void)to, (void)room, (void)age;
	return 0;
}

bool takeover_save(unsigned int n, const struct process *p, const void *from, size_t bytes)
{
	(void)n, (void)p, (void)from, (void)bytes;
	return true;
}

struct wait_queue *process_kernel_children(void)
{
	return NULL;
}

/* The thread `recovery` looks in the next tick. */
void wake_all(struct wait_queue *q)
{
	CHECK(!q && self >= 0);
	cells[self].next_look = now;
}

static bool can_run(int i)
{
	return cells[i].alive && cells[i].runs && !cells[i].ended && now >= cells[i].hangs_until;
}

static void program(void *arg);

static void give(int i)
{
	static int numbers[VOTE_CELLS] = { 0, 1, 2 };

	baton_give((unsigned int)i, program, &numbers[i]);
}

/* Another cell's program may run here, also while `recovery` copies a state. */
void let_interrupts_in(void)
{
	int i = (int)rnd_below(VOTE_CELLS * 4);

	if (self >= 0 && !rnd_below(8))
		baton_return((unsigned int)self);
	else if (self < 0 && i < VOTE_CELLS && i != current && can_run(i))
		give(i);
}

bool wait_on_until(struct wait_queue *q, uint64_t at)
{
	(void)q;
	cells[self].wakes = at;
	baton_return((unsigned int)self);
	return false;
}

static void next_state(struct image *image)
{
	size_t k;

	image->count++;
	for (k = 0; k < BYTES / 8 - 1; k++)
		image->words[k] = image->words[k] * 0x9E3779B97F4A7C15ull + image->count + k;
}

/* Whether a program without faults has that state at its count. */
static bool is_right(const struct image *image)
{
	static struct image right[RIGHT];	/* of the last counts */
	static uint64_t newest;
	struct image *r;

	for (; newest < image->count && image->count - newest < 1000; newest++) {
		right[(newest + 1) % RIGHT] = right[newest % RIGHT];
		next_state(&right[(newest + 1) % RIGHT]);
	}
	r = &right[image->count % RIGHT];
	return r->count == image->count && !memcmp(r, image, sizeof(*r));
}

static void act(int i)
{
	struct cell *c = &cells[i];

	wrong += !is_right(&c->output);
	if (now - c->acted_at > c->gap)
		c->gap = now - c->acted_at;
	c->acted = c->output.count;
	c->acted_at = now;
}

static void work(int i)
{
	struct cell *c = &cells[i];
	long got = checkpoint_resume(&c->process, (uintptr_t)&c->image, sizeof(c->image));

	bool again = got && c->votes_again;

	CHECK(got >= 0);
	if (!got)
		memset(&c->image, 0, sizeof(c->image));
	for (; !c->process.ending && !c->crashes; again = false) {
		if (!again)
			next_state(&c->image);
		c->output = c->image;
		do
			got = checkpoint_vote(&c->process, c->image.count, (uintptr_t)&c->image,
					      sizeof(c->image));
		while (got == -ETIMEDOUT);
		if (got > 0)
			act(i);
		else if (got == -EINVAL || got == -EINTR)
			break;
		if (got & RECOVERY_BEHIND)
			continue;
		c->wakes = now + TICK;
		baton_return((unsigned int)i);
	}
}

static void program(void *arg)
{
	self = *(int *)arg;
	work(self);
	cells[self].ended = true;
	baton_end();
}

static void start(int i)
{
	struct cell *c = &cells[i];
	bool resumes;

	/* as component.c does */
	current = i;
	memset(&c->process, 0, sizeof(c->process));
	c->process.component = i + 1;
	checkpoint_fetch((unsigned int)i);
	resumes = checkpoint_usable((unsigned int)i, now);
	checkpoint_arm((unsigned int)i, resumes);
	replica_begin((unsigned int)i, resumes);
	c->ended = c->crashes = false;
	c->runs = true;
	c->wakes = now;
}

void stop(int i)
{
	struct cell *c = &cells[i];

	if (!c->runs)
		return;
	c->process.ending = true;
	c->wakes = c->hangs_until = 0;
	while (!c->ended)
		give(i);
	baton_join((unsigned int)i);
	c->runs = false;
}

void kill_cell(int i)
{
	stop(i);
	cells[i].alive = false;
	cellmemory_set_life(i, QV_CHAN_IS_FAILED);
	cells[i].boots_at = now + rnd_below(100) * TICK;
}

struct vote_memory *memory_of(int i)
{
	return (struct vote_memory *)cellmemory_of(i);
}

static void look(int i)
{
	struct cell *c = &cells[i];
	unsigned int n = (unsigned int)i;
	int detector = -1;

	current = i;
	replica_look(n, now);
	if (c->ended)
		detector = DETECT_EXIT;
	else if (replica_outvoted(n))
		detector = DETECT_REPLICA;
	else if (replica_split(n))
		detector = DETECT_SPLIT;
	else if (replica_behind(n, now) > TIME_US * US)
		detector = DETECT_BEHIND;
	c->next_look = now + PERIOD / 2 + rnd_below(PERIOD / 2);
	if (detector < 0)
		return;
	found[detector]++;
	c->stops++;
	stop(i);
	start(i);
}

static void boot(int i)
{
	static unsigned int boots;
	struct cell *c = &cells[i];

	if (boots++ / 4 % 2)	/* a case boots four times */
		cellmemory_begin(i);
	else
		cellmemory_again(i);	/* on standby */
	c->alive = true;
	c->boots_at = UINT64_MAX;
	c->next_look = now + rnd_below(PERIOD);
	current = i;
	CHECK(checkpoint_init((unsigned int)i, BYTES, rules[i].checkpoint_us * US));
	CHECK(!replica_init((unsigned int)i, &rules[i], PERIOD));
	start(i);
}

void run_until(uint64_t end)
{
	int i;

	for (; now < end; now += TICK) {
		if (hostile)
			hostile(hostile_cell);
		for (i = 0; i < VOTE_CELLS; i++) {
			if (now >= cells[i].boots_at)
				boot(i);
			if (!cells[i].alive)
				continue;
			if (now >= cells[i].next_look)
				look(i);
			while (can_run(i) && now >= cells[i].wakes)
				give(i);
		}
	}
}

void lay_out_world(void)
{
	baton_init();
	cellmemory_lay_out(VOTE_CELLS, ROOM, VOTE_STATES);
}

void make_world(void)
{
	int i;

	lay_out_world();
	for (i = 0; i < VOTE_CELLS; i++)
		cells[i].boots_at = now + rnd_below(20) * TICK;
	run_until(now + 60 * TICK);
	CHECK(cells[0].acted > 10);
}
