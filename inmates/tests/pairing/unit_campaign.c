// SPDX-License-Identifier: GPL-2.0-only
/*
 * A campaign of faults against a component of two cells: recovery/checkpoint.c, takeover.c and
 * pair.c, unchanged, with a program that counts, saves its count, and acknowledges it when the save
 * has succeeded. Each kind of fault hits the cells at random instants, also in a save. Then no
 * acknowledged count is lost, no spoilt checkpoint is used, and the service is back within the time
 * of the pair, the longest time until a look, and a tick. The table is printed.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include "../../quest/kernel/process/process.h"
#include "../../quest/recovery/checkpoint.h"
#include "../../quest/recovery/takeover.h"
#include "../cellmemory.h"
#include "unit.h"

#define CELLS		2
#define TIME_US		40000
#define BYTES		10000
#define AGE		(10000000 * US)	/* of a checkpoint that is used */
#define ROOM		12288
#define MEMORY		(4096 + 3 * ROOM)
#define CASES		100		/* of each kind */
#define BOUND		(TIME_US * US + 2 * PERIOD + 2 * TICK)
#define LOOKS		2		/* until a cell runs what the other one has left */

static const struct component_rule rules[CELLS] = {
	{ .name = "a", .send = "a", .receive = "b", .takeover_us = TIME_US,
	  .checkpoint_bytes = BYTES },
	{ .name = "b", .send = "b", .receive = "a", .takeover_us = TIME_US,
	  .checkpoint_bytes = BYTES, .standby = true },
};

struct image { uint64_t count, words[BYTES / 8 - 1]; };

static struct cell {
	struct process process;
	struct image image;		/* of the program */
	uint64_t next_look, hangs_until, boots_at;
	bool alive, runs, again;	/* again: by the cell's key standby */
} cells[CELLS];
static uint64_t acked, acked_at, afresh, spoilt, twice, resumed, longest, soonest;
static uint64_t page_takes;		/* to copy */
static int holder, pauses_left;
static jmp_buf dead;
static void (*fault_in_save)(int cell);

/* Other threads run between two pages of a copy: there a fault may come. */
void let_interrupts_in(void)
{
	now += page_takes;
	if (fault_in_save && !pauses_left--) {
		fault_in_save(current);
		fault_in_save = NULL;
		if (!cells[current].alive)
			longjmp(dead, 1);
	}
}

static void boot(int i)
{
	struct cell *c = &cells[i];

	if (c->again)
		cellmemory_again(i);
	else
		cellmemory_begin(i);
	c->alive = true;
	c->runs = c->again = false;
	c->hangs_until = 0;
	c->boots_at = UINT64_MAX;
	c->next_look = now + rnd_below(PERIOD);
	memset(&c->process, 0, sizeof(c->process));
	current = i;
	CHECK(checkpoint_init((unsigned int)i, BYTES, AGE));
	CHECK(!takeover_init((unsigned int)i, &rules[i], PERIOD));
}

static void kill_cell(int i)
{
	cells[i].alive = cells[i].runs = false;
	cellmemory_set_life(i, QV_CHAN_IS_FAILED);
}

static void fill(struct image *image, uint64_t count)
{
	size_t k;

	image->count = count;
	for (k = 0; k < BYTES / 8 - 1; k++)
		image->words[k] = count * 0x9E3779B97F4A7C15ull + k;
}

/* The component starts in cell `i`, as in take_over(): at the last checkpoint if there is one. */
static void start(int i)
{
	static struct image found, right;
	struct cell *c = &cells[i];
	uint64_t at = now, fault = takeover_fault((unsigned int)i, now);
	long bytes;

	memset(&c->process, 0, sizeof(c->process));
	c->process.component = i + 1;
	if (fault)
		checkpoint_fetch((unsigned int)i);
	checkpoint_arm((unsigned int)i, fault && checkpoint_usable((unsigned int)i, at));
	bytes = checkpoint_resume(&c->process, (uintptr_t)&found, sizeof(found));
	CHECK(bytes >= 0);
	fill(&right, bytes ? found.count : 0);
	if (bytes && (bytes != sizeof(found) || memcmp(&found, &right, sizeof(found))))
		spoilt++;
	if (!bytes && acked)
		afresh++;
	c->image = right;
	c->runs = true;
	resumed = right.count;
	if (holder != i && acked && now - acked_at < soonest)
		soonest = now - acked_at;
}

static void end_program(int i)
{
	cells[i].runs = false;
	cells[i].process.ending = true;
}

static void look(int i)
{
	struct cell *c = &cells[i];

	current = i;
	switch (takeover_look((unsigned int)i)) {
	case PAIR_START:
		start(i);
		break;
	case PAIR_STOP:
		end_program(i);
		takeover_publish((unsigned int)i);
		break;
	default:
		break;
	}
	c->next_look = now + PERIOD / 2 + rnd_below(PERIOD / 2);
}

/* One turn of the program. As in sys_recovery.c, it ends if the other cell has taken over. */
static void work(int i)
{
	struct cell *c = &cells[i];
	long failed;

	current = i;
	fill(&c->image, c->image.count + 1);
	if (setjmp(dead))
		return;
	failed = checkpoint_save(&c->process, (uintptr_t)&c->image, sizeof(c->image));
	if (takeover_is_over((unsigned int)i))
		end_program(i);
	if (failed || !c->runs)
		return;
	if (c->image.count <= acked)
		twice++;
	acked = c->image.count;
	if (now - acked_at > longest)
		longest = now - acked_at;
	acked_at = now;
	holder = i;
}

static void run_until(uint64_t end)
{
	int i;

	for (; now < end; now += TICK) {
		for (i = 0; i < CELLS; i++) {
			if (now >= cells[i].boots_at)
				boot(i);
			if (!cells[i].alive || now < cells[i].hangs_until)
				continue;
			if (now >= cells[i].next_look)
				look(i);
			if (cells[i].runs)
				work(i);
		}
	}
}

static void make_world(void)
{
	int i;

	memset(cells, 0, sizeof(cells));
	now = 1000000 * US;
	cellmemory_lay_out(CELLS, ROOM, 3);
	acked = afresh = spoilt = twice = 0;
	soonest = UINT64_MAX;
	for (i = 0; i < CELLS; i++)
		boot(i);
	acked_at = now;
	run_until(now + 100000 * US);
	CHECK(acked > 50 && holder == 0 && cells[0].runs && !cells[1].runs);
}

static void hang(int i)
{
	cells[i].hangs_until = now + rnd_below(200000) * US;
}

static void kill_and_boot(int i)
{
	kill_cell(i);
	cells[i].boots_at = now + rnd_below(100000) * US;
}

static void kill_on_standby(int i)
{
	kill_cell(i);
	cells[i].again = true;
	cells[i].boots_at = now + (2000 + rnd_below(10000)) * US;
}

static void spoil_and_kill(int i)
{
	flip(cellmemory_of(i) + 4096, 3 * ROOM);
	kill_cell(i);
}

static void spoil_head_and_kill(int i)
{
	flip(cellmemory_of(i) + 32, 96);
	kill_cell(i);
}

static void spoil_word(int i)
{
	flip(cellmemory_of(i) + 8, 16);
}

static void spoil_other_word(int i)
{
	flip(cellmemory_of(!i) + 8, 16);
}

static void kill_other(int i)
{
	kill_and_boot(!i);
}

static void crash(int i)
{
	end_program(i);
	takeover_leave((unsigned int)i, true, now);
}

static void give_up(int i)
{
	end_program(i);
	takeover_leave((unsigned int)i, false, now);
}

static void run_wild(int i)
{
	size_t k;

	for (k = 0; k < MEMORY; k++)
		cellmemory_of(i)[k] = (unsigned char)rnd();
	kill_cell(i);
}

static const struct kind {
	const char *name;
	void (*fault)(int holder);
	unsigned int older;		/* so many acknowledged counts may be lost */
	bool state;			/* all of the state may be lost */
} kinds[] = {
	{ "cell killed", kill_cell, 0, false },
	{ "cell killed, back in 0 to 100 ms", kill_and_boot, 0, true },
	{ "cell on standby killed, back", kill_on_standby, 0, false },
	{ "cell hung for 0 to 200 ms", hang, 0, false },
	{ "component ended, offered", crash, 0, false },
	{ "component given up", give_up, 0, false },
	{ "bit of a checkpoint, cell killed", spoil_and_kill, 1, false },
	{ "bit of its head, cell killed", spoil_head_and_kill, 1, false },
	{ "bit of the role or the beat", spoil_word, 0, false },
	{ "bit of those of the waiting cell", spoil_other_word, 0, false },
	{ "waiting cell killed, and back", kill_other, 0, false },
	{ "whole memory overwritten, killed", run_wild, 0, true },
};

static void one_case(const struct kind *k, bool in_save, unsigned int *lost, unsigned int *states)
{
	uint64_t before, at;

	make_world();
	run_until(now + rnd_below(30) * TICK);
	now += rnd_below(TICK);
	longest = 0;
	before = acked;
	resumed = before;
	at = now;
	if (in_save) {
		pauses_left = (int)rnd_below(6);
		fault_in_save = k->fault;
	} else {
		k->fault(holder);
	}
	run_until(at + 400000 * US);
	CHECK(!fault_in_save);
	CHECK(cells[0].runs + cells[1].runs <= 1);
	CHECK_EQ(spoilt, 0);
	*states += afresh > 0;
	if (!k->state)
		CHECK_EQ(afresh, 0);
	if (!afresh)
		CHECK(twice <= k->older && resumed + k->older >= before);
	if (longest > BOUND || now - acked_at > 2 * TICK)
		(*lost)++;
}

TEST(campaign_of_faults_against_two_cells)
{
	unsigned int k, n, lost, states;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		uint64_t worst = 0;

		lost = states = 0;
		for (n = 0; n < CASES; n++) {
			unit_case("%s, case %u", kinds[k].name, n);
			one_case(&kinds[k], n % 2, &lost, &states);
			if (longest > worst)
				worst = longest;
		}
		printf("# %-34s %3u faults, %3u recovered, %2u lost, %2u afresh, <= %2lu ms\n",
		       kinds[k].name, CASES, CASES - lost, lost, states,
		       (unsigned long)(worst / TICK));
		CHECK_EQ(lost, 0);
	}
}

static void stop_work(int i)
{
	cells[i].runs = false;
}

static void look_until_runs(int i)
{
	unsigned int n;

	for (n = 0; n < LOOKS && !cells[i].runs; n++)
		look(i);
	CHECK(cells[i].runs);
}

/* Lets time pass until a save of the other cell has succeeded. */
static void run_until_other_holds(int i)
{
	const uint64_t end = now + BOUND;

	while (holder == i && now < end)
		run_until(now + TICK);
	CHECK(holder != i);
}

/* The first cell gives the component to the second one, which fails before its first save. */
TEST(second_take_over_loses_no_acknowledged_save)
{
	uint64_t before;

	make_world();
	crash(0);
	run_until_other_holds(0);
	run_until(now + 20 * TICK);
	crash(1);			/* the memory of the second cell keeps what it saved */
	run_until_other_holds(1);
	run_until(now + 100 * TICK);
	before = acked;
	/* the second cell does not take it, and has older saves in its memory */
	crash(0);
	look(0);
	now += 2 * TIME_US * US;
	look(0);
	CHECK(cells[0].runs);
	CHECK_EQ(resumed, before);
	crash(0);
	look_until_runs(1);
	CHECK_EQ(resumed, before);
	end_program(1);			/* it has not saved */
	takeover_leave(1, true, now);
	look_until_runs(0);
	CHECK_EQ(resumed, before);
	crash(0);
	look_until_runs(1);
	/* the second cell has the checkpoint in its memory, and the first one has lost its own */
	kill_cell(0);
	boot(0);
	cells[0].next_look = UINT64_MAX;
	look(1);
	kill_cell(1);
	look_until_runs(0);
	CHECK_EQ(resumed, before);
	CHECK(!afresh && !spoilt && !twice);
}

/* The look that finds that the first cell has failed is also the first one after its last save. */
TEST(slow_copy_makes_no_checkpoint_too_old)
{
	uint64_t takes, before;

	for (takes = 0; takes < TICK; takes += TICK / 8) {
		unit_case("%u us for a page", (unsigned int)(takes / US));
		make_world();
		before = acked;
		kill_cell(0);
		page_takes = takes;
		look_until_runs(1);
		page_takes = 0;
		CHECK(!afresh && resumed == before);
	}
}

/* A cell hangs; the other one takes over, saves, and fails; then the first one continues. */
TEST(cell_that_hung_continues_at_the_other_cells_saves)
{
	uint64_t before;

	make_world();
	cells[0].hangs_until = now + 150000 * US;
	run_until(now + 140000 * US);
	CHECK(cells[1].runs && holder == 1);
	before = acked;
	kill_cell(1);
	run_until(now + 100000 * US);
	CHECK(cells[0].runs && acked > before);
	CHECK(!afresh && !spoilt && !twice);
}

/* The other cell does not start the component within the time of the pair after a save. */
TEST(save_that_succeeds_keeps_the_component)
{
	uint64_t end;

	make_world();
	cells[0].next_look = UINT64_MAX;	/* recovery's thread has no turn, the program has */
	for (end = now + 200000 * US; now < end; run_until(now + TICK))
		CHECK(!cells[1].runs);
	CHECK_EQ(acked_at, now - TICK);
	stop_work(0);
	run_until(now + 100000 * US);
	CHECK(cells[1].runs && soonest >= TIME_US * US);
}

/* The other cell claims while a save copies: the save does not succeed. */
static void claim_in_save(int i)
{
	look(!i);
	now += 2 * TIME_US * US;
	look(!i);
	current = i;
	CHECK(cells[!i].runs);
}

TEST(save_fails_if_the_other_cell_has_claimed)
{
	int pause;

	for (pause = 0; pause < 6; pause++) {
		uint64_t before;

		make_world();
		before = acked;
		pauses_left = pause;
		fault_in_save = claim_in_save;
		work(0);
		CHECK(!cells[0].runs && cells[1].runs);
		CHECK_EQ(acked, before);
		run_until(now + 100000 * US);
		CHECK(!cells[0].runs && acked > before && !twice && !afresh && !spoilt);
	}
}

static uint64_t epoch_of(int i)
{
	return pair_unpack(*(const uint64_t *)(cellmemory_of(i) + 8)).epoch;
}

/* A cell on standby claims with an epoch above that of its life before. */
TEST(epoch_continues_when_a_cell_begins_again)
{
	uint64_t before;

	make_world();
	before = epoch_of(0);
	kill_on_standby(0);
	boot(0);
	look_until_runs(0);
	CHECK(epoch_of(0) > before);
}
