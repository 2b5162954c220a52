// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of recovery/recovery.c, with component.c, and a component of two cells whose other
 * cell does anything: a round of looks ends, a program that does not end keeps its cell from
 * waiting for the component, nothing starts that the other cell has taken meanwhile, and the cell
 * tells that it lives while it waits for the end of a program.
 */
#include <stdio.h>
#include <string.h>
#include "../../quest/recovery/recovery.c"
#include "../../quest/kernel/process/children.h"
#include "../../quest/kernel/process/job.h"
#include "../../quest/kernel/process/start.h"
#include "../../quest/kernel/threadslot.h"
#include "../../quest/kernel/vcpu/bind.h"
#include "unit.h"

#define PID	7

static struct process process;		/* of component 0 */
static uint64_t now;
static unsigned int looks, beats, starts;
static enum pair_act acts[8];		/* of the next looks; then PAIR_STAY */
static enum pair_role role;
static bool stuck;			/* the program does not end */

struct detector detectors[DETECTORS] = { [DETECT_EXIT] = { .name = "exit" },
					 [DETECT_PEER] = { .name = "peer" } };

uint64_t rdtsc(void)
{
	return now += 10;
}

uint64_t timer_from_us(uint64_t us)
{
	return us * 1000;
}

uint64_t timer_to_us(uint64_t cycles)
{
	return cycles / 1000;
}

void irq_enable(void)
{
}

void let_interrupts_in(void)
{
}

void print(const char *fmt, ...)
{
	(void)fmt;
}

/* The other cell. */
bool takeover_used(unsigned int n)
{
	return !n;
}

enum pair_act takeover_look(unsigned int n)
{
	enum pair_act act = looks < sizeof(acts) / sizeof(acts[0]) ? acts[looks] : PAIR_STAY;

	CHECK(!n && looks < 1000);
	looks++;
	if (act != PAIR_STAY)
		role = act == PAIR_START ? PAIR_HAS : PAIR_WAITS;
	return act;
}

void takeover_publish(unsigned int n)
{
	CHECK(!n && !components[0].pid);
}

void takeover_beat(unsigned int n)
{
	CHECK(!n);
	beats++;
}

bool takeover_possible(unsigned int n)
{
	(void)n;
	return false;
}

void takeover_leave(unsigned int n, bool offer, uint64_t fault)
{
	CHECK(!n && fault);
	role = offer ? PAIR_OFFERS : PAIR_LOST;
}

void takeover_wait(unsigned int n)
{
	CHECK(!n && !components[0].pid);
	role = PAIR_WAITS;
}

bool takeover_has(unsigned int n)
{
	return n || role == PAIR_HAS;
}

bool takeover_is_over(unsigned int n)
{
	(void)n;
	return false;
}

uint64_t takeover_fault(unsigned int n, uint64_t at)
{
	(void)n;
	(void)at;
	return 0;
}

/* Programs: there is one, which ends when recovery ends it, unless it is stuck. */
int process_run(const struct program_args *args, int id, bool background, int job,
		const char **why)
{
	(void)args, (void)id, (void)background, (void)job, (void)why;
	process = (struct process){ .pid = PID, .job = PID, .state = PROCESS_LIVE };
	starts++;
	return PID;
}

struct process *process_find(int pid)
{
	return pid == PID ? &process : NULL;
}

struct process *process_at(int i)
{
	return i ? NULL : &process;
}

bool process_end_job(int job, int status)
{
	(void)job, (void)status;
	if (!stuck)
		process.state = PROCESS_ZOMBIE;
	return true;
}

int process_wait(int parent, int pid, bool nowait, int *status)
{
	(void)parent, (void)nowait, (void)status;
	CHECK_EQ(process.state, PROCESS_ZOMBIE);
	process.state = PROCESS_FREE;
	return pid;
}

bool wait_on_until(struct wait_queue *q, uint64_t at)
{
	(void)q;
	now = at;
	return false;
}

struct wait_queue *process_kernel_children(void)
{
	return NULL;
}

void threadslots_collect(const struct process *p, struct thread *by_slot[])
{
	(void)p;
	memset(by_slot, 0, STACKS_MAX * sizeof(by_slot[0]));
}

struct thread *thread_current(void)
{
	return NULL;
}

int vcpu_bind(struct thread *t, int id)
{
	(void)t;
	return id;
}

uint64_t lateness_take(int id)
{
	(void)id;
	return 0;
}

bool program_add_arg(struct program_args *args, const char *arg)
{
	(void)args, (void)arg;
	return true;
}

size_t copy_string(char *to, const char *from, size_t size)
{
	(void)snprintf(to, size, "%s", from);
	return strlen(to);
}

bool checkpoint_usable(unsigned int n, uint64_t at)
{
	(void)n, (void)at;
	return false;
}

void checkpoint_fetch(unsigned int n)
{
	(void)n;
}

void checkpoint_arm(unsigned int n, bool resume)
{
	(void)n, (void)resume;
}

int detector_look(struct component *c, const struct process *p, uint64_t *value)
{
	(void)c;
	*value = 1;
	return p && p->state == PROCESS_ZOMBIE ? DETECT_EXIT : -1;
}

struct sched *dispatch_sched(void)
{
	static struct sched sched;

	return &sched;
}

const struct vcpu *sched_vcpu(const struct sched *s, int id)
{
	static const struct vcpu any;

	(void)s, (void)id;
	return &any;
}

void recovery_publish(uint64_t bound)
{
	(void)bound;
}

int latency_open(const char *name)
{
	(void)name;
	return 0;
}

void latency_add(int histogram, uint64_t cycles)
{
	(void)histogram, (void)cycles;
}

size_t format_buf(char *buf, size_t size, const char *fmt, ...)
{
	return copy_string(buf, fmt, size);
}

void panic(const char *fmt, ...)
{
	(void)fmt;
	__builtin_trap();
}

/* The component runs in this cell. */
static void set_up(void)
{
	now = 1000000;
	looks = beats = starts = 0;
	memset(acts, 0, sizeof(acts));
	stuck = false;
	role = PAIR_HAS;
	num_components = 1;
	rules[0] = (struct component_rule){ .name = "duty", .num_strategies = 1, .send = "a",
		.strategies = { { .kind = STRATEGY_RESTART } } };
	components[0] = (struct component){ .rule = &rules[0], .channel = -1, .outage = -1 };
	component_start(&components[0]);
	starts = 0;
}

TEST(attending_round_ends_whatever_the_other_cell_does)
{
	unsigned int i;

	set_up();
	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		acts[i] = i % 2 ? PAIR_START : PAIR_STOP;
	look_at_all();
	CHECK_EQ(looks, 1);
	CHECK(!starts && components[0].state == COMPONENT_STANDBY);
	look_at_all();
	CHECK(looks == 2 && starts == 1 && components[0].state == COMPONENT_RUNS);
}

TEST(attending_cell_whose_program_does_not_end_does_not_wait)
{
	set_up();
	acts[0] = PAIR_STOP;
	stuck = true;
	look_at_all();
	CHECK(components[0].pid && components[0].state == COMPONENT_LOST);
	CHECK_EQ(role, PAIR_LOST);
	CHECK(beats > 500);		/* in a second */
	components[0].asked = true;
	look_at_all();
	CHECK_EQ(role, PAIR_LOST);
	stuck = false;
	components[0].asked = true;
	look_at_all();
	CHECK(role == PAIR_WAITS && components[0].state == COMPONENT_STANDBY);
}

TEST(attending_nothing_starts_that_was_taken_while_it_ended)
{
	set_up();
	process.state = PROCESS_ZOMBIE;
	acts[1] = PAIR_STOP;
	look_at_all();
	CHECK(!starts && components[0].state == COMPONENT_STANDBY);
	set_up();
	process.state = PROCESS_ZOMBIE;
	look_at_all();
	CHECK(starts == 1 && components[0].state == COMPONENT_RUNS);
}
