// SPDX-License-Identifier: GPL-2.0-only
/*
 * VCPUs move to another CPU with another clock in the middle of a schedule. They move as plain
 * data, whose times are shifted once. The rest of the schedule must be the same as without the
 * move. They move while none of them runs: each sleeps or waits for its budget.
 */
#include <stddef.h>
#include <string.h>
#include "../quest/sched/sched.h"
#include "unit.h"

#define LENGTH		3000
#define VCPUS		4
/* number of the I/O VCPU; its thread works for the other VCPUs */
#define IO		3
#define START		1000000000ull	/* above 0, so that another clock can be behind */
#define NOBODY		0xFF

struct job {
	struct sched_entity entity;
	uint64_t left, wake;
};

static struct sched cpus[2];
static struct job jobs[VCPUS];
static uint64_t state;
static const struct sched_config config = {
	.quantum = 10, .background = false, .admission = ADMISSION_EXACT
};
static const struct vcpu_params params[VCPUS] = {
	{ "a", MAIN_VCPU, 6, 40, 0 }, { "b", MAIN_VCPU, 10, 50, 0 },
	{ "c", MAIN_VCPU, 9, 130, 0 }, { "io", IO_VCPU, 1, 10, 0 },
};

static uint64_t below(uint64_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % n;
}

static void create(struct sched *s, uint64_t now)
{
	int i;

	sched_init(s, &config, now);
	for (i = 0; i < VCPUS; i++)
		CHECK(sched_vcpu_create(s, &params[i], now) == i);
}

/* Moves everything from one scheduler to the other, whose clock is ahead by `by`. */
static void move(struct sched *from, struct sched *to, uint64_t now, int64_t by)
{
	struct sched_entity *e;
	struct vcpu moved;
	bool wants;
	int i;

	create(to, now + by);
	for (i = 0; i < VCPUS; i++) {
		e = &jobs[i].entity;
		wants = e->runnable;
		sched_unbind(from, e, now);
		memcpy(&moved, &from->vcpus[i], offsetof(struct vcpu, queue));
		vcpu_shift(&moved, by);
		sched_vcpu_restore(to, i, &moved, now + by);
		sched_bind(to, e, i, now + by);
		if (wants)
			sched_ready_for(to, e, vcpu_period(&to->vcpus[i]), now + by);
	}
}

static void wake(struct sched *s, int i, uint64_t now)
{
	jobs[i].wake = SCHED_NEVER;
	jobs[i].left = 1 + below(i == IO ? 6 : 2 * params[i].budget);
	sched_ready_for(s, &jobs[i].entity, i == IO ? params[below(IO)].period : 0, now);
}

static void run_unit(struct sched *s, struct job *j, uint64_t now)
{
	if (--j->left)
		return;
	sched_block(s, &j->entity, now + 1);
	j->wake = 1 + below(60);		/* counted from now */
}

/*
 * Runs the schedule and records which VCPU had the CPU in each time unit. The VCPUs move at the
 * first possible time from `at` on. Returns that time.
 */
static unsigned int run(uint64_t seed, unsigned int at, int64_t by, uint8_t who[LENGTH])
{
	struct sched *s = &cpus[0];
	unsigned int t, moved = LENGTH;
	uint64_t now = START;
	struct job *j;
	int i;

	state = seed;
	create(s, now);
	memset(jobs, 0, sizeof(jobs));
	for (i = 0; i < VCPUS; i++) {
		sched_entity_init(&jobs[i].entity);
		sched_bind(s, &jobs[i].entity, i, now);
		jobs[i].wake = 1 + below(20);
	}
	for (t = 0; t < LENGTH; t++, now++) {
		for (i = 0; i < VCPUS; i++)
			if (jobs[i].wake != SCHED_NEVER && !--jobs[i].wake)
				wake(s, i, now);
		j = (struct job *)sched_decide(s, now).entity;
		who[t] = j ? j - jobs : NOBODY;
		if (j) {
			run_unit(s, j, now);
		} else if (t >= at && moved == LENGTH) {
			moved = t;
			move(s, &cpus[1], now, by);
			s = &cpus[1];
			now += by;
		}
	}
	return moved;
}

TEST(vcpus_move_to_another_clock_in_the_middle)
{
	static const int64_t by[] = { 0, 12345, -999999000, 1ll << 40 };
	static uint8_t stays[LENGTH], moves[LENGTH];
	unsigned int seed, i, used[VCPUS] = { 0 }, waiting = 0;

	for (seed = 1; seed <= 200; seed++) {
		run(seed, LENGTH, 0, stays);
		for (i = 0; i < LENGTH; i++)
			if (stays[i] != NOBODY)
				used[stays[i]]++;
		for (i = 0; i < 4; i++) {
			CHECK(run(seed, 500 + below(1000), by[i], moves) < LENGTH);
			CHECK(!memcmp(stays, moves, LENGTH));
		}
		waiting += cpus[1].vcpus[0].counts.depleted != 0;
	}
	CHECK(used[0] && used[1] && used[2] && used[IO] && waiting);
}
