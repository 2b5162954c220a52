// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long random runs of the scheduler core, for test_sched_properties.py, which also compiles this
 * file with mutants of the core. Each run returns the set of properties that did not hold. The
 * properties are numbered as in Documentation/explanation/quest-scheduling.md.
 */
#include <stdlib.h>
#include <string.h>
#include "../quest/sched/sched.h"

#define LENGTH	3000		/* length of a run, in units of time */
#define VCPUS	6

enum {
	/*
	 * The replenishments are in order, none is 0, and they add up to C. The last one is at most
	 * one period after the first. There are at most `limit` of them.
	 */
	P1 = 1 << 1,
	P2 = 1 << 2,	/* the highest VCPU uses at most C in any window of T */
	/* any VCPU uses at most C * ceil(t / T) in [0, t), plus its present overrun */
	P3 = 1 << 3,
	P4 = 1 << 4,	/* any VCPU uses at most 11 C in any window of 10 T */
	P5 = 1 << 5,	/* after an overrun of x the next budget begins x later */
	P6 = 1 << 6,	/* a VCPU that is always runnable gets C in each T */
	/* an I/O VCPU that is not preempted uses at most (2 - U) * U * T in any window of T */
	P7 = 1 << 7,
	P8 = 1 << 8,	/* an I/O VCPU uses at most U * t + U * T in [0, t) */
	P9 = 1 << 9,	/* P6 holds while VCPUs above it are created, destroyed and changed */
	/* the highest VCPU never waits if it uses at most 4/5 of C in each T, in many pieces */
	P10 = 1 << 10,
	/* if the I/O VCPU has budget, a thread that a handler wakes runs directly after it */
	P11 = 1 << 11,
};

struct job {
	struct sched_entity entity;
	uint64_t budget, period;
	bool always, io;
	uint64_t left, wake;
	/* parameters of the job's destroyed VCPU, until the job has another one */
	struct vcpu_params lost;
	uint16_t sum[LENGTH + 1];	/* sum[t]: units used at its priority before t */
};

static struct sched s;
static struct job jobs[VCPUS];
/* I/O VCPUs work for one of the first `served` jobs, or for an unknown client */
static unsigned int served;
static uint64_t state;

uint32_t run_set(uint64_t seed, unsigned int late, unsigned int limit);
uint32_t run_overrun(uint64_t seed);
uint32_t run_pieces(uint64_t seed);
uint32_t run_churn(uint64_t seed, int test);
uint32_t run_interrupts(uint64_t seed);
uint32_t run_io(uint64_t seed, uint64_t budget, uint64_t base, uint64_t period, int preempted,
		uint64_t *most);

/* Returns a random number in 0..n-1 (splitmix64). */
static uint64_t below(uint64_t n)
{
	uint64_t x = state += 0x9E3779B97F4A7C15ull;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return (x ^ x >> 31) % n;
}

static uint32_t check_queue(const struct sporadic *m)
{
	uint64_t sum = 0;
	unsigned int i;

	if (!m->length || m->length > m->limit || m->usage >= m->queue[0].amount)
		return P1;
	for (i = 0; i < m->length; i++) {
		sum += m->queue[i].amount;
		if (!m->queue[i].amount || (i && m->queue[i].at < m->queue[i - 1].at))
			return P1;
	}
	return sum != m->budget || m->queue[m->length - 1].at - m->queue[0].at > m->period ? P1 : 0;
}

static uint32_t check_queues(unsigned int n)
{
	uint32_t broken = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		broken |= jobs[i].io ? 0 : check_queue(&s.vcpus[i].main);
	return broken;
}

/*
 * Chooses the parameters of an I/O VCPU. Its period may be shorter than those of all other VCPUs.
 */
static struct vcpu_params any_io(void)
{
	struct vcpu_params p = { .type = IO_VCPU, .period = 4 + below(60) };

	p.budget = 1 + below(p.period / 4);
	return p;
}

/*
 * Creates VCPUs with threads, as many as are admitted, VCPUS at most. VCPU 0 is the Main VCPU with
 * the shortest period.
 */
static unsigned int make_set(unsigned int limit)
{
	const struct sched_config config = { 3 + below(20), below(2), ADMISSION_EXACT };
	unsigned int n = 0, want = 1 + below(VCPUS), io = below(4), tries;
	struct vcpu_params p;

	sched_init(&s, &config, 0);
	memset(jobs, 0, sizeof(jobs));
	for (tries = 0; n < want && tries < 30; tries++) {
		p = (struct vcpu_params){
			.type = MAIN_VCPU, .period = (n ? jobs[0].period + 1 : 4) + below(40)
		};
		p.budget = 1 + below(p.period / (n ? 2 : 1));
		/* no I/O VCPUs in some sets, few or many in other sets */
		if (n && below(4) < io)
			p = any_io();
		if (sched_vcpu_create(&s, &p, 0) < 0)
			continue;
		if (p.type == MAIN_VCPU)
			s.vcpus[n].main.limit = limit;
		jobs[n].io = p.type == IO_VCPU;
		jobs[n].budget = p.budget;
		jobs[n].period = p.period;
		jobs[n].always = !below(3) && !jobs[n].io;
		sched_entity_init(&jobs[n].entity);
		sched_bind(&s, &jobs[n].entity, n, 0);
		n++;
	}
	return served = n;
}

static void start(struct job *j, uint64_t now)
{
	const struct job *whom = j->io && below(2) ? &jobs[below(served)] : NULL;

	j->wake = SCHED_NEVER;
	j->left = j->always ? SCHED_NEVER : 1 + below(2 * j->budget);
	sched_ready_for(&s, &j->entity, whom && !whom->io ? whom->period : 0, now);
}

/* Returns the time of the next event while `j` (NULL: no job) has the CPU. */
static uint64_t next_event(struct job *j, struct sched_choice choice, unsigned int n,
			   unsigned int late, uint64_t now)
{
	uint64_t stop = LENGTH, until = choice.until;
	unsigned int i;

	if (j && until != SCHED_NEVER)
		until += below(late + 1);
	if (until < stop)
		stop = until;
	for (i = 0; i < n; i++)
		if (jobs[i].wake < stop)
			stop = jobs[i].wake;
	if (j && j->left != SCHED_NEVER && now + j->left < stop)
		stop = now + j->left;
	return stop;
}

static void pass(struct job *j, unsigned int n, uint64_t now, uint64_t stop)
{
	unsigned int i;
	uint64_t t;

	for (i = 0; i < n; i++)
		for (t = now; t < stop; t++)
			jobs[i].sum[t + 1] = jobs[i].sum[t] + (&jobs[i] == j && !s.in_background);
	if (j && j->left != SCHED_NEVER)
		j->left -= stop - now;
}

static uint64_t window_max(const uint16_t *sum, uint64_t length)
{
	uint64_t t, most = 0;

	for (t = 0; t + length <= LENGTH; t++)
		if ((uint64_t)(sum[t + length] - sum[t]) > most)
			most = sum[t + length] - sum[t];
	return most;
}

static uint32_t check_use(const struct job *j, bool highest, unsigned int late)
{
	uint64_t t, T = j->period, C = j->budget;
	uint32_t broken = 0;

	if (highest && !late && window_max(j->sum, T) > C)
		broken |= P2;
	if (!late && window_max(j->sum, 10 * T) > 11 * C)
		broken |= P4;
	for (t = 1; t <= LENGTH; t++)
		if (j->sum[t] > C * ((t + T - 1) / T) + late)
			broken |= P3;
	for (t = T; j->always && !late && t <= LENGTH; t += T)
		if (j->sum[t] < C * (t / T))
			broken |= P6;
	return broken;
}

/*
 * Runs VCPUs with threads that compute and sleep. Each thread may keep the CPU up to `late` units
 * too long.
 */
uint32_t run_set(uint64_t seed, unsigned int late, unsigned int limit)
{
	struct sched_choice choice;
	uint64_t now = 0, stop;
	uint32_t broken = 0;
	unsigned int n, i;
	bool above = false;	/* an I/O VCPU exists, which may precede VCPU 0 */
	struct job *j;

	state = seed;
	n = make_set(limit);
	while (now < LENGTH) {
		for (i = 0; i < n; i++)
			if (jobs[i].wake <= now)
				start(&jobs[i], now);
		broken |= check_queues(n);
		choice = sched_decide(&s, now);
		broken |= check_queues(n);
		j = choice.entity ? (struct job *)choice.entity : NULL;
		stop = next_event(j, choice, n, late, now);
		if (stop <= now)
			/* P6 is broken, since time has not advanced */
			return broken | P6;
		pass(j, n, now, stop);
		now = stop;
		if (!j || j->left)
			continue;
		sched_block(&s, &j->entity, now);
		j->wake = now + 1 + below(j->period);
	}
	for (i = 1; i < n; i++)
		above |= jobs[i].io;
	for (i = 0; i < n; i++)
		broken |= jobs[i].io ? 0 : check_use(&jobs[i], i == 0 && !above, late);
	return broken;
}

/* Runs one server. With any queue, an overrun of x must delay its next budget by x. */
uint32_t run_overrun(uint64_t seed)
{
	struct sporadic m, exact;
	uint64_t now = 0, left, part, x, i;
	uint32_t broken = 0;

	state = seed;
	sporadic_init(&m, 10 + below(30), 50 + below(50), 0);
	for (i = 0; i < 200; i++) {
		if (now < sporadic_eligible(&m))
			now = sporadic_eligible(&m);
		if (below(2)) {
			sporadic_unblock(&m, now);
			left = 1 + below(sporadic_left(&m));
			now += left;
			sporadic_charge(&m, left, now);
			sporadic_block(&m, now);
			now += below(40);
			continue;
		}
		left = sporadic_left(&m);
		exact = m;
		sporadic_charge(&exact, left, now + left);
		x = below(2 * sporadic_left(&exact));
		/* the part of x that is charged later; the rest of x is charged with `left` */
		part = below(x + 1);
		if (sporadic_charge(&m, left + x - part, now + left + x - part) != x - part)
			broken |= P5;
		if (part && sporadic_eligible(&m) <= now + left + x - part) {
			/* the next chunk is usable by then, so there is no overrun */
			x -= part;
			part = 0;
		}
		if (part && sporadic_charge(&m, part, now + left + x) != part)
			broken |= P5;
		if (x < sporadic_left(&exact) &&
		    sporadic_eligible(&m) < sporadic_eligible(&exact) + x)
			broken |= P5;
		if (sporadic_eligible(&m) < sporadic_eligible(&exact))
			broken |= P5;
		broken |= check_queue(&m);
		now += left + x;
	}
	return broken;
}

/*
 * Runs two VCPUs. The highest one wakes more often in a period than its queue is long, for one unit
 * each time. The other one is always runnable.
 */
uint32_t run_pieces(uint64_t seed)
{
	const struct sched_config config = { LENGTH, false, ADMISSION_EXACT };
	struct vcpu_params p = { .type = MAIN_VCPU };
	struct vcpu_params below_it = {
		.type = MAIN_VCPU, .budget = LENGTH / 4, .period = 2 * LENGTH
	};
	struct sched_entity *piece = &jobs[0].entity, *busy = &jobs[1].entity;
	uint64_t now, gap;

	state = seed;
	sched_init(&s, &config, 0);
	p.period = 400 + below(200);
	p.budget = p.period / 4 + below(p.period / 4);
	gap = (5 * p.period + 4 * p.budget - 1) / (4 * p.budget);
	sched_entity_init(piece);
	sched_entity_init(busy);
	sched_bind(&s, piece, sched_vcpu_create(&s, &p, 0), 0);
	sched_bind(&s, busy, sched_vcpu_create(&s, &below_it, 0), 0);
	sched_ready(&s, busy, 0);
	for (now = 0; now < LENGTH; now += gap - 1 + below(3)) {
		sched_ready(&s, piece, now);
		if (sched_decide(&s, now).entity != piece)
			return P10;
		sched_block(&s, piece, ++now);
		if (check_queue(&s.vcpus[0].main))
			return P1;
		sched_decide(&s, now);
	}
	return 0;
}

/*
 * Runs an I/O VCPU with U = budget / base that always works for a VCPU with `period`. Stores in
 * `*most` its largest use in a window of `period`.
 */
uint32_t run_io(uint64_t seed, uint64_t budget, uint64_t base, uint64_t period, int preempted,
		uint64_t *most)
{
	const struct sched_config config = { 1000, false, ADMISSION_EXACT };
	const struct vcpu_params io = { "io", IO_VCPU, budget, base, 0 };
	const struct vcpu_params main = { "main", MAIN_VCPU, 1, 2 };
	const uint64_t full = period * budget / base, choices[] = { 1, 2, full, full, 3 * full };
	struct job *j = &jobs[0], *above = &jobs[1];
	uint64_t now, t, left = 0;
	uint32_t broken = 0;

	state = seed;
	sched_init(&s, &config, 0);
	memset(jobs, 0, sizeof(jobs));
	sched_vcpu_create(&s, &io, 0);
	sched_vcpu_create(&s, &main, 0);
	for (t = 0; t < 2; t++) {
		sched_entity_init(&jobs[t].entity);
		sched_bind(&s, &jobs[t].entity, t, 0);
	}
	j->wake = below(period);
	above->wake = preempted ? below(period) : SCHED_NEVER;
	for (now = 0; now < LENGTH; now++) {
		if (j->wake <= now) {
			j->wake = SCHED_NEVER;
			left = choices[below(5)];
			sched_ready_for(&s, &j->entity, period, now);
		}
		if (above->wake <= now) {
			above->wake = SCHED_NEVER;
			above->left = 1 + below(3);
			sched_ready(&s, &above->entity, now);
		}
		sched_decide(&s, now);
		j->sum[now + 1] = j->sum[now] + (s.current == &j->entity);
		if (s.current == &j->entity && !--left) {
			sched_block(&s, &j->entity, now + 1);
			j->wake = now + 1 + (below(5) < 3 ? below(2) : below(2 * period));
		} else if (s.current == &above->entity && !--above->left) {
			sched_block(&s, &above->entity, now + 1);
			above->wake = now + 1 + below(period);
		}
	}
	*most = window_max(j->sum, period);
	/* most <= (2 - B/A) * B/A * T, without fractions */
	if (!preempted && *most * base * base > (2 * base - budget) * budget * period)
		broken |= P7;
	for (t = 1; t <= LENGTH; t++)
		if (j->sum[t] * base > budget * (t + period))
			broken |= P8;
	return broken;
}

/*
 * Runs handlers of 1 to 3 units, which wake an I/O VCPU for 1 to 3 more units. Meanwhile a Main
 * VCPU is always runnable.
 */
uint32_t run_interrupts(uint64_t seed)
{
	const struct sched_config config = { LENGTH, false, ADMISSION_BOUND };
	const struct vcpu_params main = { "main", MAIN_VCPU, LENGTH / 8, 2 * LENGTH };
	struct sched_entity *half = &jobs[0].entity, *busy = &jobs[1].entity;
	struct vcpu_params io = { "io", IO_VCPU };
	struct sched_choice choice;
	uint64_t now, period, full, handler, end, until;
	bool rested;

	state = seed;
	sched_init(&s, &config, 0);
	io.period = 4 + below(20);
	io.budget = 1 + below(io.period / 2);
	period = 24 + below(100);
	full = period * io.budget / io.period;
	sched_entity_init(half);
	sched_entity_init(busy);
	sched_bind(&s, half, sched_vcpu_create(&s, &io, 0), 0);
	sched_bind(&s, busy, sched_vcpu_create(&s, &main, 0), 0);
	sched_ready(&s, busy, 0);
	for (now = below(period); now < LENGTH; now += 1 + below(2 * period)) {
		sched_decide(&s, now);
		rested = vcpu_eligible(&s.vcpus[0]) <= now;
		handler = 1 + below(3);
		sched_ready_for(&s, half, period, now);
		sched_charge_for(&s, 0, now, now + handler);
		now += handler;
		choice = sched_decide(&s, now);
		if (rested && handler < full && choice.entity != half)
			return P11;
		end = now + 1 + below(3);
		if (choice.entity == half)
			now = end < choice.until ? end : choice.until;
		sched_block(&s, half, now);
		until = vcpu_eligible(&s.vcpus[0]);
		/*
		 * `until` is later than `now` if handlers ran without budget, since they delay the
		 * next budget
		 */
		if (until < now)
			until = now;
		if (s.vcpus[0].counts.used * io.period > io.budget * (until + period))
			return P8;
	}
	return 0;
}

/* Moves the thread of `j` to VCPU `id`, and destroys the VCPU that it leaves. */
static void move(struct job *j, int id, uint64_t now)
{
	int old = j->entity.vcpu;

	sched_bind(&s, &j->entity, id, now);
	sched_vcpu_destroy(&s, old, now);
}

/* Creates the destroyed VCPU of `j` again, if it is admitted with the past use of other owners. */
static void again(struct job *j, uint64_t now)
{
	int id = sched_vcpu_create(&s, &j->lost, now);

	if (id < 0)
		return;
	sched_bind(&s, &j->entity, id, now);
	start(j, now);
}

/* Destroys the VCPU of `j`. Then creates another one with the same parameters, of any owner. */
static void anew(struct job *j, const struct vcpu_params *same, uint64_t now)
{
	int old = j->entity.vcpu;

	j->lost = *same;
	j->lost.owner = below(3);
	j->wake = SCHED_NEVER;
	sched_unbind(&s, &j->entity, now);
	sched_vcpu_destroy(&s, old, now);
	again(j, now);
}

/*
 * Gives `j` other parameters or another VCPU, as its owner may. The worst case is a VCPU whose
 * budget is used up.
 */
static void churn(struct job *j, uint64_t longest, uint64_t now)
{
	struct vcpu_params p = { .type = MAIN_VCPU }, same, small;
	int id = -1;

	if (j->entity.vcpu < 0) {
		again(j, now);
		return;
	}
	small = same = s.vcpus[j->entity.vcpu].params;
	p.period = 4 + below(longest - 4);
	p.budget = 1 + below(below(2) ? 2 : p.period);
	if (j->io)
		p = any_io();
	p.owner = same.owner;
	small.budget = 1;
	if (!vcpu_left(&s.vcpus[j->entity.vcpu], now)) {
		if (below(2)) {
			anew(j, &same, now);
			return;
		}
		if (sched_vcpu_set(&s, j->entity.vcpu, &small, now) || below(2))
			return;
		id = sched_vcpu_create(&s, &same, now);
	} else if (below(2)) {
		sched_vcpu_set(&s, j->entity.vcpu, &p, now);
	} else {
		id = sched_vcpu_create(&s, &p, now);
	}
	if (id >= 0)
		move(j, id, now);
}

/*
 * Runs one VCPU that is always runnable. VCPUs of higher priority are created, destroyed and
 * changed all the time.
 */
uint32_t run_churn(uint64_t seed, int test)
{
	const struct sched_config config = { 3 + below(20), false, test };
	struct vcpu_params p = { .type = MAIN_VCPU, .budget = 1, .period = 200 };
	struct job *victim = &jobs[0], *j;
	struct sched_choice choice;
	uint64_t now = 0, stop, t;
	unsigned int n, i;

	state = seed;
	sched_init(&s, &config, 0);
	memset(jobs, 0, sizeof(jobs));
	served = 1;
	n = 2 + below(VCPUS - 1);
	for (i = 0; i < n; i++) {
		jobs[i].io = i && !below(3);
		p = (struct vcpu_params){ .type = MAIN_VCPU, .budget = 1, .period = 150 };
		if (!i)
			p.period = 60 + below(90);
		if (!i)
			p.budget = 1 + below(p.period / 2);
		if (jobs[i].io)
			p.type = IO_VCPU;
		p.owner = below(3);
		if (sched_vcpu_create(&s, &p, 0) < 0)
			break;
		jobs[i].budget = p.budget;
		jobs[i].period = p.period;
		jobs[i].always = !i || (below(4) && !jobs[i].io);
		sched_entity_init(&jobs[i].entity);
		sched_bind(&s, &jobs[i].entity, i, 0);
	}
	n = i;
	while (now < LENGTH) {
		for (i = 0; i < n; i++)
			if (jobs[i].wake <= now)
				start(&jobs[i], now);
		choice = sched_decide(&s, now);
		for (i = 1; i < n; i++)
			if (!below(8))
				churn(&jobs[i], victim->period, now);
		choice = sched_decide(&s, now);
		j = choice.entity ? (struct job *)choice.entity : NULL;
		stop = next_event(j, choice, n, 0, now);
		if (stop > now + 12)
			stop = now + 1 + below(12);
		pass(j, n, now, stop);
		now = stop;
		if (!j || j->left)
			continue;
		sched_block(&s, &j->entity, now);
		j->wake = now + 1 + below(20);
	}
	for (t = victim->period; t <= LENGTH; t += victim->period)
		if (victim->sum[t] < victim->budget * (t / victim->period))
			return P9;
	return 0;
}
