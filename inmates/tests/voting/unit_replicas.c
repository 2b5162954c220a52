// SPDX-License-Identifier: GPL-2.0-only
/*
 * A campaign of faults against a program of three cells: recovery/checkpoint.c, replica.c and
 * vote.c, unchanged. The program changes all of its state from count to count, votes on it, and
 * acts when another cell agrees. Each fault hits one cell, at a random instant, and other cells run
 * while it votes or copies a state. No cell acts on a wrong state, the two others are neither
 * restarted nor held up, and the cell is back at the right state. The table is printed.
 */
#include <string.h>
#include <qv/end.h>
#include <inmate/cpu.h>
#include "../../quest/kernel/process/process.h"
#include "../../quest/kernel/wait.h"
#include "../../quest/mm/pages.h"
#include "../../quest/recovery/checkpoint.h"
#include "../../quest/recovery/replica.h"
#include "../../quest/recovery/takeover.h"
#include "../../quest/user/include/quest/errors.h"
#include "../../quest/user/include/quest/types.h"
#include "../moving/baton.h"
#include "unit.h"

#define US		1000ull		/* cycles */
#define TICK		(1000 * US)
#define PERIOD		(10000 * US)	/* of looks */
#define TIME_US		40000
#define BYTES		5000
#define ROOM		8192
#define MEMORY		(4096 + VOTE_STATES * ROOM)
#define CASES		60		/* of each kind */
#define BACK		(TIME_US * US + 4 * PERIOD + 110000 * US)	/* at most, with FIRST_US */
#define RIGHT		256		/* states that the test knows */
#define HELD_UP		(4 * TICK)	/* a good cell has no longer time between two votes */

static const struct component_rule rule = {
	.name = "triple", .checkpoint_bytes = BYTES, .checkpoint_us = 600000000,
	.limit = { [DETECT_BEHIND] = TIME_US }, .replica = { "own", "one", "two" },
};

struct image { uint64_t count, words[BYTES / 8 - 1]; };

static struct cell {
	struct qv_end ends[VOTE_CELLS];
	struct process process;
	struct image image, output;	/* output: on which it acts if others agree */
	uint64_t next_look, wakes, hangs_until, boots_at, acted, acted_at, gap;
	unsigned char kept[2][ROOM] __attribute__((aligned(4096)));
	bool alive, runs, ended;	/* ended: its thread */
	bool crashes;
	unsigned int stops;		/* by detectors */
	uint64_t generation;
} cells[VOTE_CELLS];
static unsigned char windows[VOTE_CELLS][QV_CHAN_PAGE + MEMORY] __attribute__((aligned(4096)));
static uint64_t now, wrong, found[DETECTORS];
static int current;
static void (*hostile)(int cell);	/* writes its memory in each tick */
static int hostile_cell;
static __thread int self = -1;		/* the cell whose program this thread is */

uint64_t rdtsc(void)
{
	return now;
}

uint64_t timer_from_us(uint64_t us)
{
	return us * US;
}

/* The channels in the line are the cell's own one, and those of the next cells in turn. */
int channel_find(const char *name)
{
	int k = name[1] == 'w' && name[0] == 'o' ? 0 : name[0] == 'o' ? 1 : 2;

	return (current + k) % VOTE_CELLS;
}

int channel_open(unsigned int n, struct qv_end **end)
{
	*end = &cells[current].ends[n];
	return qv_end_attach(*end, windows[n], sizeof(windows[n]),
			     ((uint32_t)current + VOTE_CELLS - n) % VOTE_CELLS);
}

void channel_close(unsigned int n)
{
	(void)n;
}

uint64_t pages_alloc(size_t n)
{
	CHECK_EQ(n * 4096, sizeof(cells[current].kept));
	return (uint64_t)(uintptr_t)cells[current].kept;
}

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

	CHECK(got >= 0);
	if (!got)
		memset(&c->image, 0, sizeof(c->image));
	while (!c->process.ending && !c->crashes) {
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

static void stop(int i)
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

static void set_life(int i, enum qv_chan_state state)
{
	int n;

	for (n = 0; n < VOTE_CELLS; n++)
		((struct qv_chan_page *)windows[n])->end[(i + VOTE_CELLS - n) % VOTE_CELLS].life =
			QV_CHAN_LIFE(cells[i].generation, state);
}

static void boot(int i)
{
	struct cell *c = &cells[i];

	memset(windows[i] + QV_CHAN_PAGE, 0, MEMORY);
	c->generation++;
	set_life(i, QV_CHAN_IS_RUNNING);
	c->alive = true;
	c->boots_at = UINT64_MAX;
	c->next_look = now + rnd_below(PERIOD);
	current = i;
	CHECK(checkpoint_init((unsigned int)i, BYTES, rule.checkpoint_us * US));
	CHECK(!replica_init((unsigned int)i, &rule, PERIOD));
	start(i);
}

static void run_until(uint64_t end)
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

static void make_world(void)
{
	int i, end;

	baton_init();
	now = 1000000 * US;
	for (i = 0; i < VOTE_CELLS; i++) {
		struct qv_chan_page *page = (struct qv_chan_page *)windows[i];

		page->session = 1;
		page->type = QV_CHAN_MEMORY;
		page->item = MEMORY;
		page->slots = 1;
		page->ends = VOTE_CELLS;
		page->name[0] = (char)('a' + i);
		for (end = 0; end < VOTE_CELLS; end++)
			page->end[end].name[0] = (char)('A' + (i + end) % VOTE_CELLS);
		CHECK(!qv_chan_lay_out(page));
		cells[i].boots_at = now + rnd_below(20) * TICK;
	}
	run_until(now + 60 * TICK);
	CHECK(cells[0].acted > 10);
}

/* ---- the faults, each of one cell ---- */

static struct vote_memory *memory_of(int i)
{
	return (struct vote_memory *)(windows[i] + QV_CHAN_PAGE);
}

static void flip(void *from, size_t bytes)
{
	((unsigned char *)from)[rnd_below(bytes)] ^= 1u << rnd_below(8);
}

static void flip_state(int i)
{
	flip(&cells[i].image, sizeof(cells[i].image));
}

static void flip_count(int i)
{
	flip(&cells[i].image.count, 8);
}

static void flip_kept(int i)
{
	flip(cells[i].kept, sizeof(cells[i].kept));
	cells[i].crashes = true;
}

static void flip_vote(int i)
{
	flip(memory_of(i), sizeof(struct vote_memory));
}

static void crash(int i)
{
	cells[i].crashes = true;
}

static void hang(int i)
{
	cells[i].hangs_until = now + rnd_below(200) * TICK;
}

static void hang_for_good(int i)
{
	cells[i].hangs_until = UINT64_MAX;
}

static void kill_cell(int i)
{
	stop(i);
	cells[i].alive = false;
	set_life(i, QV_CHAN_IS_FAILED);
	cells[i].boots_at = now + rnd_below(100) * TICK;
}

/* The cell whose states it would copy first has spoilt ones. */
static void kill_cell_beside_spoilt_states(int i)
{
	unsigned char *states = windows[(i + 1) % VOTE_CELLS] + QV_CHAN_PAGE + 4096;
	size_t k;

	for (k = 0; k < MEMORY - 4096; k += 1024)
		flip(states + k, 1024);
	kill_cell(i);
	cells[i].boots_at = now + 1;
}

static void write_anything(int i)
{
	uint64_t *word = (uint64_t *)memory_of(i), *end = word + MEMORY / 8;

	for (; word < end; word += 1 + rnd_below(40))
		*word = rnd();
}

/* Its votes are always other ones, also those that come. */
static void vote_wrongly(int i)
{
	struct hash root = { .word = { rnd(), 1, 2, 3 } };
	uint64_t number = cells[(i + 2) % VOTE_CELLS].image.count;
	unsigned int k;

	for (k = 0; k < VOTE_RING / 2; k++)
		vote_publish(memory_of(i), number + k, &root);
}

/* Its votes are those of cell `of`, and its states are others. */
static void repeat(int i, int of)
{
	size_t k;

	memcpy(memory_of(i), memory_of(of % VOTE_CELLS), sizeof(struct vote_memory));
	for (k = 4096; k < MEMORY; k += 1024)
		flip(windows[i] + QV_CHAN_PAGE + k, 1024);
}

static void echo(int i)
{
	repeat(i, i + 1 + (int)rnd_below(2));
}

/* The same, while another cell fails, and would copy its states first when it is back */
static void fail_beside_echo(int i)
{
	if (!hostile) {
		kill_cell(i);
		cells[i].boots_at = now + rnd_below(40) * TICK;
	}
	repeat((i + 1) % VOTE_CELLS, i + 2);
}

/* Numbers that go back, or are far ahead */
static void count_wrongly(int i)
{
	struct vote_memory *m = memory_of(i);
	unsigned int k;

	for (k = 0; k < VOTE_RING; k++)
		vote_store(&m->ring[k].number, rnd_below(2) ? rnd() : m->ring[k].number -
			   VOTE_RING * rnd_below(3));
	for (k = 0; k < VOTE_STATES; k++)
		vote_store(&m->states[k].bytes, rnd());
}

static const struct kind {
	const char *name;
	void (*fault)(int cell);
	bool lasts;			/* for 50 ms, in each tick */
	bool must_be_found;
	unsigned int victims;		/* cells that it stops, from the first one */
} kinds[] = {
	{ "bit of the state", flip_state, false, true, 1 },
	{ "bit of the number of the vote", flip_count, false, true, 1 },
	{ "bit of a kept state, and a crash", flip_kept, false, true, 1 },
	{ "bit of a vote in the channel", flip_vote, false, false, 1 },
	{ "program crashes", crash, false, true, 1 },
	{ "program hangs for 0 to 200 ms", hang, false, false, 1 },
	{ "program hangs for good", hang_for_good, false, true, 1 },
	{ "cell fails, back in 0 to 100 ms", kill_cell, false, false, 1 },
	{ "the same, with spoilt states beside", kill_cell_beside_spoilt_states, false, false, 1 },
	{ "channel overwritten once", write_anything, false, false, 1 },
	{ "channel overwritten for 50 ms", write_anything, true, false, 1 },
	{ "wrong votes for 50 ms", vote_wrongly, true, false, 1 },
	{ "echo with spoilt states, 50 ms", echo, true, false, 1 },
	{ "the same, while another cell fails", fail_beside_echo, true, false, 3 },
	{ "wrong numbers and sizes, 50 ms", count_wrongly, true, false, 1 },
};

struct table { unsigned int found, seen, recovered, lost, disturbed; uint64_t worst; };

/* How often the two others have found cell `i` outvoted or late. */
static uint64_t counted(int i)
{
	uint64_t sum = 0;
	int k;

	for (k = 1; k < VOTE_CELLS; k++) {
		const struct replica_counts *c =
			replica_counts((unsigned int)(i + k) % VOTE_CELLS);

		sum += c->outvoted[VOTE_CELLS - k] + c->late[VOTE_CELLS - k];
	}
	return sum;
}

static bool all_are_back(void)
{
	uint64_t most = 0;
	int i;

	for (i = 0; i < VOTE_CELLS; i++)
		if (cells[i].acted > most)
			most = cells[i].acted;
	for (i = 0; i < VOTE_CELLS; i++)
		if (!cells[i].alive || !cells[i].runs || cells[i].acted + 2 < most ||
		    now - cells[i].acted_at > HELD_UP)
			return false;
	return true;
}

static void one_case(const struct kind *k, struct table *t)
{
	uint64_t at, until, before;
	int i, bad = (int)rnd_below(VOTE_CELLS);

	run_until(now + rnd_below(12) * TICK);
	now += rnd_below(TICK);
	for (i = 0; i < VOTE_CELLS; i++) {
		cells[i].stops = 0;
		cells[i].gap = 0;
	}
	at = now;
	before = counted(bad);
	hostile_cell = bad;
	k->fault(bad);
	if (k->lasts) {
		hostile = k->fault;
		run_until(now + 50 * TICK);
		hostile = NULL;
	}
	/* the fault may be found later, so it runs on for a while */
	run_until(now + 2 * PERIOD);
	for (until = at + BACK + 100 * TICK; now < until && !all_are_back();)
		run_until(now + TICK);
	t->found += cells[bad].stops > 0;
	t->seen += counted(bad) > before;
	if (all_are_back())
		t->recovered++;
	else
		t->lost++;
	if (now - at > t->worst)
		t->worst = now - at;
	CHECK(!k->must_be_found || cells[bad].stops);
	for (i = (int)k->victims; i < VOTE_CELLS; i++) {
		const struct cell *good = &cells[(bad + i) % VOTE_CELLS];

		t->disturbed += good->stops || good->gap > HELD_UP;
	}
	CHECK_EQ(wrong, 0);
}

TEST(campaign_of_faults_against_three_cells)
{
	unsigned int k, n;

	make_world();
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct table t = { 0 };

		memset(found, 0, sizeof(found));
		for (n = 0; n < CASES; n++) {
			unit_case("%s, case %u", kinds[k].name, n);
			one_case(&kinds[k], &t);
		}
		printf("# %-35s %u faults, %2u found there, %2u by the others, %2u recovered, "
		       "%u lost, %u good cells disturbed, <= %3lu ms\n", kinds[k].name, CASES,
		       t.found, t.seen, t.recovered, t.lost, t.disturbed,
		       (unsigned long)(t.worst / TICK));
		CHECK_EQ(t.lost, 0);
		CHECK_EQ(t.disturbed, 0);
	}
}

/* One cell has failed, and the state of another one is spoilt: both that are left go back. */
TEST(two_that_differ_go_back_to_the_agreed_state)
{
	unsigned int n, split = 0;
	int i;

	make_world();
	for (n = 0; n < 20; n++) {
		unit_case("case %u", n);
		memset(found, 0, sizeof(found));
		kill_cell(2);
		cells[2].boots_at = UINT64_MAX;
		run_until(now + rnd_below(30) * TICK);
		flip_state((int)rnd_below(2));
		run_until(now + 60 * TICK);
		split += found[DETECT_SPLIT] > 0;
		for (i = 0; i < 2; i++)
			CHECK(now - cells[i].acted_at <= HELD_UP);
		cells[2].boots_at = now;
		run_until(now + 60 * TICK);
		CHECK(all_are_back());
	}
	CHECK_EQ(wrong, 0);
	CHECK(split > 10);
}

/* Three different states: all go back. */
TEST(three_that_differ_go_back_to_the_agreed_state)
{
	unsigned int n;
	int i;

	make_world();
	for (n = 0; n < 20; n++) {
		unit_case("case %u", n);
		memset(found, 0, sizeof(found));
		for (i = 0; i < VOTE_CELLS; i++)
			cells[i].image.words[0] += 1 + (uint64_t)i;
		run_until(now + 100 * TICK);
		CHECK(all_are_back() && found[DETECT_SPLIT]);
	}
	CHECK_EQ(wrong, 0);
}

/* One cell votes wrongly: another cell waits for the third one, which has not been there. */
TEST(first_two_cells_wait_for_the_third_one)
{
	make_world();
	kill_cell(0);
	kill_cell(1);
	kill_cell(2);
	memset(windows[2] + QV_CHAN_PAGE, 0, MEMORY);
	cells[2].boots_at = cells[1].boots_at = UINT64_MAX;
	cells[0].boots_at = now;
	hostile_cell = 1;
	hostile = vote_wrongly;
	memset(found, 0, sizeof(found));
	run_until(now + 300 * TICK);
	CHECK(!cells[0].stops && !found[DETECT_SPLIT] && cells[0].runs);
	cells[2].boots_at = now;
	run_until(now + 60 * TICK);
	CHECK(now - cells[0].acted_at <= HELD_UP && cells[0].acted == cells[2].acted);
	CHECK(!cells[0].stops && !cells[2].stops && !wrong);
}
