// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages between two cells, each with the scheduler core, for test_ipc_bounds.py. The schedulers
 * have independent phases. One thread of each cell is an end of a half-duplex channel with one
 * slot; the other VCPUs have random loads. Each round trip, and each wait in it, is compared with
 * all rules of ipc/bounds.h. A unit of time is a step of the run, and the cost of a byte.
 */
#include <string.h>
#include "../quest/ipc/bounds.h"
#include "../quest/sched/sched.h"

#define VCPUS	6

/* The ways in which the thread of an end waits. */
enum style { POLL, SLEEP, MIXED, STYLES };

struct job {
	struct sched_entity entity;
	uint64_t budget, period;
	bool always, io;
	uint64_t left, wake;
};

struct cell {
	struct sched s;
	struct job jobs[VCPUS];
	struct admission_entry set[VCPUS];
	unsigned int n;
	struct bounds_end end;
	enum style style;
};

struct ipc_result {
	uint64_t exchanges;
	uint64_t late_trips[BOUNDS_RULES];	/* exchanges that took longer than the bound */
	uint64_t late_waits[BOUNDS_RULES];	/* waits that took longer */
	uint64_t longest;
	/* the largest part of the bound by BOUNDS_RESPONSE that an exchange took, in 1/1000 */
	uint64_t closest;
};

static struct cell cells[2];
static struct ipc_result *result;
static uint64_t state, now;

void ipc_random(uint64_t seed, unsigned int exchanges, unsigned int limit, struct ipc_result *r);
void ipc_case(uint64_t seed, const uint64_t vcpus[4], const struct bounds_message *m,
	      unsigned int exchanges, struct ipc_result *r);
uint64_t ipc_stream(uint64_t seed, const uint64_t vcpus[4], const struct bounds_message *m);

/* Returns a random number in 0..n-1 (splitmix64). */
static uint64_t below(uint64_t n)
{
	uint64_t x = state += 0x9E3779B97F4A7C15ull;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return (x ^ x >> 31) % n;
}

static bool add_vcpu(struct cell *c, struct vcpu_params p, unsigned int limit)
{
	struct job *j = &c->jobs[c->n];

	if (sched_vcpu_create(&c->s, &p, now) < 0)
		return false;
	*j = (struct job){ .budget = p.budget, .period = p.period, .io = p.type == IO_VCPU };
	if (j->io)
		j->wake = now + below(p.period);
	else
		c->s.vcpus[c->n].main.limit = limit;
	sched_entity_init(&j->entity);
	sched_bind(&c->s, &j->entity, c->n, now);
	c->set[c->n++] = (struct admission_entry){ j->io, p.budget, p.period };
	return true;
}

static void begin_cell(struct cell *c)
{
	const struct sched_config config = { 3 + below(20), !below(4), ADMISSION_EXACT };

	sched_init(&c->s, &config, now);
	c->n = 0;
	c->style = below(STYLES);
	c->end = (struct bounds_end){ .set = c->set, .cost = BOUNDS_COST_UNIT };
}

/* Creates VCPUs as far as they are admitted. Gives a Main VCPU to the end. */
static void random_cell(struct cell *c, unsigned int limit)
{
	unsigned int want = 1 + below(VCPUS), io = below(3), tries;
	struct vcpu_params p;

	begin_cell(c);
	for (tries = 0; c->n < want && tries < 30; tries++) {
		p = (struct vcpu_params){ .type = MAIN_VCPU, .period = 4 + below(40) };
		p.budget = 1 + below(p.period / (below(3) ? 3 : 1));
		if (c->n && below(4) < io)
			p = (struct vcpu_params){
				.type = IO_VCPU, .budget = 1, .period = 4 + below(60)
			};
		add_vcpu(c, p, limit);
	}
	do
		c->end.me = below(c->n);
	while (c->set[c->end.me].io);
	c->end.n = c->n;
	c->end.merged = limit < SPORADIC_MAX;
	for (tries = 0; tries < c->n; tries++) {
		c->jobs[tries].always = !c->set[tries].io && below(2);
		c->jobs[tries].wake = now + below(c->set[tries].period);
	}
}

static struct sched_entity *thread(struct cell *c)
{
	return &c->jobs[c->end.me].entity;
}

static void start(struct cell *c, struct job *j)
{
	const struct job *whom = j->io && below(2) ? &c->jobs[below(c->n)] : NULL;

	j->wake = SCHED_NEVER;
	j->left = j->always ? SCHED_NEVER : 1 + below(2 * j->budget);
	sched_ready_for(&c->s, &j->entity, whom && !whom->io ? whom->period : 0, now);
}

/* Runs one unit of time. Returns true if the thread of the end ran. */
static bool step(struct cell *c)
{
	struct sched_entity *e;
	struct job *j;
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (i != c->end.me && c->jobs[i].wake <= now)
			start(c, &c->jobs[i]);
	e = sched_decide(&c->s, now).entity;
	j = (struct job *)e;
	if (!e || e == thread(c))
		return e;
	if (j->left != SCHED_NEVER && !--j->left) {
		sched_block(&c->s, e, now + 1);
		j->wake = now + 1 + below(j->period);
	}
	return false;
}

/* Lets the thread of an end wait in its style. */
static void idle(struct cell *c)
{
	bool runs = c->style == POLL ||
		    (c->style == MIXED && (below(4) ? thread(c)->runnable : below(2)));

	if (runs)
		sched_ready(&c->s, thread(c), now);
	else
		sched_block(&c->s, thread(c), now);
}

/* A demand of the thread of `c` arrives. Returns the time until it is served. */
static uint64_t serve(struct cell *c, struct cell *other, uint64_t demand)
{
	uint64_t arrival = now, left = demand;
	int rule;

	sched_ready(&c->s, thread(c), now);
	while (left) {
		idle(other);
		left -= step(c);
		step(other);
		now++;
	}
	for (rule = 0; rule < BOUNDS_RULES; rule++)
		result->late_waits[rule] += now - arrival > bounds_wait(rule, &c->end, demand);
	return now - arrival;
}

static void pause_both(uint64_t length)
{
	for (; length; length--, now++) {
		idle(&cells[0]);
		idle(&cells[1]);
		step(&cells[0]);
		step(&cells[1]);
	}
}

static void exchange(const struct bounds_message *m)
{
	struct cell *s = &cells[0], *r = &cells[1];
	uint64_t took, bound = bounds_round_trip(BOUNDS_RESPONSE, &s->end, &r->end, m);
	int rule;

	pause_both(below(2 * s->set[s->end.me].period));
	took = serve(s, r, m->bytes);
	took += serve(r, s, m->bytes + m->reply + m->service);
	took += serve(s, r, m->reply);
	result->exchanges++;
	for (rule = 0; rule < BOUNDS_RULES; rule++)
		result->late_trips[rule] += took > bounds_round_trip(rule, &s->end, &r->end, m);
	if (took > result->longest)
		result->longest = took;
	if (took * 1000 / bound > result->closest)
		result->closest = took * 1000 / bound;
}

/*
 * Makes two random cells with queues of at most `limit` replenishments, and random exchanges. Adds
 * to `r`.
 */
void ipc_random(uint64_t seed, unsigned int exchanges, unsigned int limit, struct ipc_result *r)
{
	struct bounds_message m = { .slot = 1000 };
	unsigned int i;

	state = seed;
	now = 0;
	result = r;
	random_cell(&cells[0], limit);
	now = below(100);
	random_cell(&cells[1], limit);
	for (i = 0; i < exchanges; i++) {
		m.bytes = 1 + below(2 * cells[0].set[cells[0].end.me].budget);
		m.reply = 1 + below(2 * cells[0].set[cells[0].end.me].budget);
		m.service = below(2 * cells[1].set[cells[1].end.me].budget);
		exchange(&m);
	}
}

/* Makes two cells that have only the VCPUs of the ends: C and T of the sender and the receiver. */
static void plain_cells(uint64_t seed, const uint64_t vcpus[4])
{
	unsigned int i;

	state = seed;
	now = 0;
	for (i = 0; i < 2; i++) {
		begin_cell(&cells[i]);
		cells[i].s.config.background = false;
		add_vcpu(&cells[i], (struct vcpu_params){
			.type = MAIN_VCPU, .budget = vcpus[2 * i], .period = vcpus[2 * i + 1]
		}, SPORADIC_MAX);
		cells[i].end.n = 1;
		cells[i].end.me = 0;
	}
}

/* Runs exchanges between VCPUs that have a cell for themselves. Adds to `r`. */
void ipc_case(uint64_t seed, const uint64_t vcpus[4], const struct bounds_message *m,
	      unsigned int exchanges, struct ipc_result *r)
{
	unsigned int i;

	result = r;
	plain_cells(seed, vcpus);
	for (i = 0; i < exchanges; i++)
		exchange(m);
}

/* Sends all slots of a request one after the other. Returns the time that this takes. */
uint64_t ipc_stream(uint64_t seed, const uint64_t vcpus[4], const struct bounds_message *m)
{
	struct ipc_result ignored = { 0 };
	uint64_t took = 0, sent, part;

	result = &ignored;
	plain_cells(seed, vcpus);
	pause_both(below(vcpus[1] + vcpus[3]));
	for (sent = 0; sent < m->bytes; sent += part) {
		part = m->bytes - sent < m->slot ? m->bytes - sent : m->slot;
		took += serve(&cells[0], &cells[1], part);
		took += serve(&cells[1], &cells[0], part);
	}
	return took;
}
