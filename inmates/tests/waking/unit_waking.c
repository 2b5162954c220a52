// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that sleep, wake each other and change their VCPUs, by kernel/dispatch.c and timerq.c as
 * they are, in random sets of VCPUs. The clock halts while the kernel decides. A thread that is due
 * wakes before any VCPU of lower priority runs, and all VCPUs keep to their budgets (P3, P4 and P9
 * of Documentation/explanation/quest-scheduling.md).
 */
#include <string.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../quest/arch/user.h"
#include "../../quest/kernel/dispatch.h"
#include "../../quest/kernel/lateness.h"
#include "../../quest/kernel/threadslot.h"
#include "../../quest/kernel/trace.h"
#include "../../quest/kernel/wait.h"
#include "../../quest/sched/server.h"
#include "unit.h"

#define RUNS		400
#define LENGTH		3000
#define VCPUS		8
#define CROWD		24		/* threads of a VCPU at most */
#define NEVER		UINT64_MAX
#define QUANTUM_US	10000		/* that of dispatch.c */
#define QUANTUM		7

static uint64_t now, armed;
static trap_handler *tick;
static struct thread threads[VCPUS * CROWD], idle;
static uint64_t work[VCPUS * CROWD];	/* cycles until a thread sleeps; NEVER: it does not */
static unsigned int num_threads, num_vcpus, common;
static bool changes;			/* VCPUs and bindings change meanwhile */
static uint64_t C[VCPUS], T[VCPUS];
static uint16_t used[VCPUS][LENGTH + 1];	/* on its budget, before each instant */

/* ---- the machine ---- */

uint64_t rdtsc(void) { return now; }
void irq_enable(void) { }
void trap_set_irq(unsigned int vector, trap_handler *handler) { (void)vector; tick = handler; }
void timer_arm(uint64_t at, uint64_t then) { (void)then; armed = at; }
void timer_fired(void) { armed = NEVER; }
uint64_t timer_from_us(uint64_t us) { return us == QUANTUM_US ? QUANTUM : us; }
uint64_t timer_to_us(uint64_t cycles) { return cycles; }
void user_switch(const struct thread *t) { (void)t; }
void switch_context(uint64_t *save, uint64_t load) { (void)save; (void)load; }
void trace_switch(const struct thread *t, bool back, uint64_t at) { (void)t; (void)back; (void)at; }
void lateness_due(struct thread *t, uint64_t at) { (void)t; (void)at; }
void threadslot_free(struct thread *t) { (void)t; }
struct thread *threadslot_at(int i) { (void)i; return NULL; }
struct thread *thread_current(void) { return dispatch_current(); }

void lateness_runs(const struct sched *s, struct thread *t, uint64_t at)
{
	(void)s;
	(void)t;
	(void)at;
}

/* ---- a run ---- */

/* VCPU 0 has the longest period, and its thread never sleeps. */
static void create_vcpus(void)
{
	struct vcpu_params p = { .type = MAIN_VCPU, .owner = 1 };
	int id, i;

	for (i = 0; i < 40 && num_vcpus < VCPUS; i++) {
		p.period = num_vcpus ? 20 + rnd_below(180) : 200 + rnd_below(100);
		p.budget = 1 + rnd_below(p.period / (num_vcpus ? 1 + rnd_below(6) : 2));
		id = sched_vcpu_create(dispatch_sched(), &p, now);
		if (id < 0)
			continue;
		C[id] = p.budget;
		T[id] = p.period;
		num_vcpus++;
	}
}

static void create_threads(void)
{
	unsigned int v, i, n;

	for (v = 0; v < num_vcpus; v++) {
		n = v ? 1 + (unsigned int)rnd_below(CROWD) : 1;
		for (i = 0; i < n; i++) {
			work[num_threads] = v ? 1 + rnd_below(3) : NEVER;
			threads[num_threads].state = THREAD_READY;
			dispatch_admit(&threads[num_threads++], (int)v);
		}
	}
}

static void settle(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (armed <= now)
			tick(NULL);
		else if (!dispatch_needed())
			return;
		dispatch_check();
	}
	unit_give_up("the timer comes again and again at the same time");
}

/*
 * Before `end`, no thread is due on a VCPU that has budget and a higher priority than `running`,
 * the key of the VCPU that runs until then.
 */
static void check_awake(uint64_t running, uint64_t end)
{
	const struct sched *s = dispatch_sched();
	const struct thread *t;
	unsigned int i;

	for (i = 0; i < num_threads; i++) {
		t = &threads[i];
		if (t->timer.queued && t->timer.at < end &&
		    vcpu_eligible(&s->vcpus[t->sched.vcpu]) < end &&
		    sched_key(s, t->sched.vcpu) < running)
			unit_give_up("a thread of higher priority is due and sleeps");
	}
}

static void change_something(void)
{
	struct vcpu_params p = { .type = MAIN_VCPU, .owner = 1 };
	int v = 1 + (int)rnd_below(num_vcpus - 1);

	if (!rnd_below(2)) {
		(void)dispatch_bind(&threads[1 + rnd_below(num_threads - 1)], v);
		return;
	}
	p.period = 20 + rnd_below(T[0] - 20);
	p.budget = 1 + rnd_below(p.period / (1 + rnd_below(6)));
	if (!sched_vcpu_set(dispatch_sched(), v, &p, now))
		dispatch_vcpu_changed(v);
}

/* The current thread has done its work: it may wake another one, and sleeps. */
static void sleep_current(struct thread *t)
{
	uint64_t at = rnd_below(3) ? (now / common + 1 + rnd_below(3)) * common :
		      now + 1 + rnd_below(60);
	struct thread *other = &threads[rnd_below(num_threads)];

	work[t - threads] = 1 + rnd_below(rnd_below(4) ? 2 : 20);
	if (!rnd_below(6) && other->state == THREAD_SLEEPING)
		dispatch_wake(other);
	if (changes && num_vcpus > 1 && !rnd_below(5))
		change_something();
	t->state = THREAD_SLEEPING;
	dispatch_sleep(at);
}

/* Lets the current thread run until its work ends, or the timer comes. */
static void run(void)
{
	struct thread *t = dispatch_current();
	uint64_t *left = t == &idle ? NULL : &work[t - threads];
	uint64_t running = sched_first_key(dispatch_sched(), now);
	uint64_t until = armed < LENGTH ? armed : LENGTH, at;
	unsigned int v;

	if (left && *left != NEVER && now + *left < until)
		until = now + *left;
	check_awake(running, until);
	for (v = 0; v < num_vcpus; v++)
		for (at = now; at < until; at++)
			used[v][at + 1] = used[v][at] + (left && t->sched.vcpu == (int)v &&
							 !dispatch_sched()->in_background);
	if (left && *left != NEVER)
		*left -= until - now;
	now = until;
	if (left && !*left)
		sleep_current(t);
	settle();
}

static void check_budgets(unsigned int v)
{
	uint64_t t, k;

	for (t = 1; t <= LENGTH; t++)
		if (used[v][t] > C[v] * ((t + T[v] - 1) / T[v]))
			unit_give_up("a VCPU has more than C in each T");
	for (k = 1; k <= 10; k++)
		for (t = 0; t + k * T[v] <= LENGTH; t++)
			if ((uint64_t)(used[v][t + k * T[v]] - used[v][t]) > (k + 1) * C[v])
				unit_give_up("a VCPU has more than (k + 1) C in k T");
}

/* VCPU 0 has its budget in each period. */
static void check_lowest(void)
{
	uint64_t t;

	for (t = T[0]; t <= LENGTH; t += T[0])
		if (used[0][t] < C[0] * (t / T[0]))
			unit_give_up("the VCPU with the longest period has not had its budget");
}

static void run_random(bool with_changes)
{
	unsigned int n, v;

	changes = with_changes;
	for (n = 0; n < RUNS; n++) {
		unit_case("run %u", n);
		memset(threads, 0, sizeof(threads));
		memset(used, 0, sizeof(used));
		idle = (struct thread){ .state = THREAD_READY };
		now = num_threads = num_vcpus = 0;
		armed = NEVER;
		common = 1 + (unsigned int)rnd_below(40);
		/* with changes, ADMISSION_EXACT has rare exceptions to P9 */
		dispatch_init(&idle, 0, changes ? ADMISSION_BOUND : ADMISSION_EXACT, rnd_below(2));
		create_vcpus();
		create_threads();
		settle();
		while (now < LENGTH)
			run();
		for (v = 0; v < (changes ? 1 : num_vcpus); v++)
			check_budgets(v);
		check_lowest();
	}
}

TEST(waking_threads_leave_all_budgets_as_they_are)
{
	run_random(false);
}

TEST(changes_of_vcpus_leave_no_thread_asleep)
{
	run_random(true);
}
