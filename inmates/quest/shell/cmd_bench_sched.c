// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench sched: the cost of a decision, by the number of VCPUs. It runs a separate scheduler on
 * simulated times.
 */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "../mm/pages.h"
#include "../sched/sched.h"
#include "shell.h"

#define ROUNDS	2000
/*
 * number of repetitions of all rounds; the minimum of each round counts, since interruptions only
 * add time
 */
#define GOES	3

struct trial {
	struct sched sched;
	struct sched_entity entities[SCHED_VCPUS];
	uint64_t took[ROUNDS];
};

#define TRIAL_PAGES	((sizeof(struct trial) + PAGE_SIZE - 1) / PAGE_SIZE)

/*
 * Creates VCPUs that are all runnable. Each VCPU has a budget of about 0.05 % of the CPU. Their
 * periods differ, so that their priorities are not in the order of their ids.
 */
static void prepare(struct trial *t, int vcpus)
{
	const struct sched_config config = { .quantum = 100000, .background = true };
	struct vcpu_params params = { .name = "trial", .budget = 500 };
	int i;

	sched_init(&t->sched, &config, 0);
	for (i = 0; i < vcpus; i++) {
		params.period = 1000000 + (uint64_t)i * 7919 % 4096;
		(void)sched_vcpu_create(&t->sched, &params, 0);
		sched_entity_init(&t->entities[i]);
		(void)sched_bind(&t->sched, &t->entities[i], i, 0);
		sched_ready(&t->sched, &t->entities[i], 0);
	}
}

/*
 * Measures a decision. Before every fourth one, the current thread blocks and becomes runnable
 * again.
 */
static uint64_t decide_once(struct trial *t, int round, uint64_t now, uint64_t *until)
{
	uint64_t begin = rdtsc_ordered();
	struct sched_entity *e = t->sched.current;

	if (e && round % 4 == 0) {
		sched_block(&t->sched, e, now);
		sched_ready(&t->sched, e, now);
	}
	*until = sched_decide(&t->sched, now).until;
	return rdtsc_ordered() - begin;
}

static void go(struct trial *t, int vcpus)
{
	uint64_t now = 0, until, took;
	bool irqs;
	int i;

	prepare(t, vcpus);
	for (i = 0; i < ROUNDS; i++) {
		irqs = irq_save();
		took = decide_once(t, i, now, &until);
		irq_restore(irqs);
		now = until == SCHED_NEVER ? now + 1000 : until;
		if (took < t->took[i])
			t->took[i] = took;
	}
}

static void measure(struct trial *t, int vcpus)
{
	uint64_t sum = 0, most = 0;
	int i;

	for (i = 0; i < ROUNDS; i++)
		t->took[i] = UINT64_MAX;
	for (i = 0; i < GOES; i++)
		go(t, vcpus);
	for (i = 0; i < ROUNDS; i++) {
		sum += t->took[i];
		if (t->took[i] > most)
			most = t->took[i];
	}
	print("sched vcpus=%d mean=%lu max=%lu\n", vcpus, sum / ROUNDS, most);
}

int bench_sched(void)
{
	bool irqs = irq_save();
	uint64_t memory = pages_alloc(TRIAL_PAGES);
	int vcpus;

	irq_restore(irqs);
	if (!memory) {
		print("no memory for it\n");
		return SHELL_FAILED;
	}
	for (vcpus = 1; vcpus <= SCHED_VCPUS; vcpus *= 4)
		measure((struct trial *)memory, vcpus);
	irqs = irq_save();
	pages_free(memory, TRIAL_PAGES);
	irq_restore(irqs);
	return 0;
}
