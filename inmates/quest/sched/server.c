// SPDX-License-Identifier: GPL-2.0-only
#include "server.h"

/* The operations of Main VCPUs, by sporadic.c. */

static void main_init(struct vcpu *v, uint64_t at)
{
	sporadic_init(&v->main, v->params.budget, v->params.period, at);
}

static void main_set(struct vcpu *v, uint64_t at)
{
	sporadic_set(&v->main, v->params.budget, v->params.period, at);
}

static uint64_t main_eligible(const struct vcpu *v)
{
	return sporadic_eligible(&v->main);
}

static uint64_t main_left(const struct vcpu *v)
{
	return sporadic_left(&v->main);
}

static uint64_t main_period(const struct vcpu *v)
{
	return v->main.period;
}

static uint64_t main_settled(const struct vcpu *v)
{
	return sporadic_settled(&v->main);
}

static uint64_t main_outstanding(const struct vcpu *v, uint64_t now)
{
	return sporadic_outstanding(&v->main, now);
}

static void main_wake(struct vcpu *v, uint64_t period, bool active, uint64_t now)
{
	(void)period;
	if (!active)
		sporadic_unblock(&v->main, now);
}

static void main_dispatch(struct vcpu *v, uint64_t now)
{
	(void)v;
	(void)now;
}

static uint64_t main_charge(struct vcpu *v, uint64_t delta, uint64_t now)
{
	return sporadic_charge(&v->main, delta, now);
}

static void main_block(struct vcpu *v, uint64_t now)
{
	sporadic_block(&v->main, now);
}

static void main_shift(struct vcpu *v, int64_t by)
{
	sporadic_shift(&v->main, by);
}

/* I/O VCPU: pibs.c. */

static void io_init(struct vcpu *v, uint64_t at)
{
	pibs_init(&v->io, v->params.budget, v->params.period, at);
}

static uint64_t io_eligible(const struct vcpu *v)
{
	return pibs_eligible(&v->io);
}

static uint64_t io_left(const struct vcpu *v)
{
	return pibs_left(&v->io);
}

static uint64_t io_period(const struct vcpu *v)
{
	return v->io.inherited;
}

static uint64_t io_settled(const struct vcpu *v)
{
	struct pibs end = v->io;

	pibs_block(&end);
	return end.eligible;
}

/* Returns the whole budget, since PIBS has a single replenishment. */
static uint64_t io_outstanding(const struct vcpu *v, uint64_t now)
{
	(void)now;
	return v->params.budget;
}

static void io_wake(struct vcpu *v, uint64_t period, bool active, uint64_t now)
{
	pibs_wake(&v->io, period, active, now);
}

static void io_dispatch(struct vcpu *v, uint64_t now)
{
	pibs_dispatch(&v->io, now);
}

static uint64_t io_charge(struct vcpu *v, uint64_t delta, uint64_t now)
{
	(void)now;
	return pibs_charge(&v->io, delta);
}

static void io_block(struct vcpu *v, uint64_t now)
{
	(void)now;
	pibs_block(&v->io);
}

static void io_shift(struct vcpu *v, int64_t by)
{
	pibs_shift(&v->io, by);
}

/* Background VCPU: it has no budget. */

static void none_init(struct vcpu *v, uint64_t at)
{
	(void)v;
	(void)at;
}

static uint64_t none_eligible(const struct vcpu *v)
{
	(void)v;
	return SCHED_NEVER;
}

static uint64_t none_left(const struct vcpu *v)
{
	(void)v;
	return 0;
}

static uint64_t none_period(const struct vcpu *v)
{
	(void)v;
	return ADMISSION_PERIOD_MAX;
}

static uint64_t none_outstanding(const struct vcpu *v, uint64_t now)
{
	(void)v;
	(void)now;
	return 0;
}

static void none_wake(struct vcpu *v, uint64_t period, bool active, uint64_t now)
{
	(void)v;
	(void)period;
	(void)active;
	(void)now;
}

static uint64_t none_charge(struct vcpu *v, uint64_t delta, uint64_t now)
{
	(void)v;
	(void)delta;
	(void)now;
	return 0;
}

static void none_shift(struct vcpu *v, int64_t by)
{
	(void)v;
	(void)by;
}

const struct server servers[] = {
	[MAIN_VCPU] = {
		.init = main_init,
		.set = main_set,
		.eligible = main_eligible,
		.left = main_left,
		.period = main_period,
		.settled = main_settled,
		.outstanding = main_outstanding,
		.wake = main_wake,
		.dispatch = main_dispatch,
		.charge = main_charge,
		.block = main_block,
		.shift = main_shift,
	},
	[IO_VCPU] = {
		.init = io_init,
		.set = io_init,
		.eligible = io_eligible,
		.left = io_left,
		.period = io_period,
		.settled = io_settled,
		.outstanding = io_outstanding,
		.wake = io_wake,
		.dispatch = io_dispatch,
		.charge = io_charge,
		.block = io_block,
		.shift = io_shift,
	},
	[BACKGROUND_VCPU] = {
		.init = none_init,
		.set = none_init,
		.eligible = none_eligible,
		.left = none_left,
		.period = none_period,
		.settled = none_left,
		.outstanding = none_outstanding,
		.wake = none_wake,
		.dispatch = none_init,
		.charge = none_charge,
		.block = none_init,
		.shift = none_shift,
	},
};

uint64_t vcpu_period(const struct vcpu *v)
{
	return server_of(v)->period(v);
}

uint64_t vcpu_key(const struct vcpu *v, int id)
{
	return vcpu_period(v) << 9 | (v->params.type != IO_VCPU) << 8 | id;
}

uint64_t vcpu_eligible(const struct vcpu *v)
{
	return server_of(v)->eligible(v);
}

uint64_t vcpu_left(const struct vcpu *v, uint64_t now)
{
	return server_of(v)->eligible(v) <= now ? server_of(v)->left(v) : 0;
}

unsigned int vcpu_replenishments(const struct vcpu *v)
{
	return v->params.type == MAIN_VCPU ? v->main.length : 1;
}

void vcpu_shift(struct vcpu *v, int64_t by)
{
	server_of(v)->shift(v, by);
	v->counts.created += by;
	v->settled += v->settled ? by : 0;
}
