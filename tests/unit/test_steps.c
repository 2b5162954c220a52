// SPDX-License-Identifier: GPL-2.0-only
/*
 * manage/ and core/kick.c while another CPU of Linux acts between two steps of a call. Each run
 * does one act at one step. See steps.h.
 */
#include <stdlib.h>
#include "steps.h"
#include "unit.h"

static void every_step(enum steps_act act, u32 lag)
{
	struct steps s = { .act = ACT_NOTHING, .at = ~0u, .lag = lag };
	u32 all = steps_life(&s), at = 0, stride = fake_ept ? 167 : 61;

	CHECK(all > 500);
	if (act == ACT_CELL_BELL) {	/* it does nothing at other steps */
		at = s.there_from;
		all = s.there_to;
		stride = 13;
	}
	/*
	 * Tries some steps, and other steps for each act. STEPS=all in the environment tries every
	 * step.
	 */
	if (getenv("STEPS"))
		stride = 1;
	for (at += (act + lag) % stride; at < all; at += stride) {
		s = (struct steps){ .act = act, .at = at, .lag = lag };
		steps_life(&s);
	}
}

static void interrupts(void)
{
	enum steps_act act;

	steps_open(true);
	for (act = ACT_INIT; act <= ACT_NMI; act++) {
		every_step(act, 0);
		every_step(act, 9);
	}
}

static void late_interrupts(void)
{
	enum steps_act act;

	steps_open(true);
	for (act = ACT_LATE_INIT; act <= ACT_LATE_NMI; act++) {
		every_step(act, 0);
		every_step(act, 9);
	}
}

static void touches_and_calls(void)
{
	enum steps_act act;

	steps_open(true);
	for (act = ACT_READ; act <= ACT_CELL_BELL; act++)
		every_step(act, 0);
}

/* A CPU takes no NMI from a certain call on, or until Linux gives up. */
static void mute(void)
{
	static const enum steps_act some[] = { ACT_NOTHING, ACT_SIPI, ACT_LATE_SIPI, ACT_WRITE };
	u32 cpu, from, i, at;

	for (cpu = 1; cpu < FAKE_CPUS; cpu++)
		for (from = 1; from < 8; from++)
			for (i = 0; i < 4; i++)
				for (at = 5; at < 600; at += i && cpu != STEPS_ACTOR ? 71 : 600) {
					struct steps s = {
						.act = some[i], .at = at,
						.mute = cpu, .mute_from = from
					};

					steps_open(false);
					steps_life(&s);
				}
}

UNIT_SUITE(steps) = {
	{ "steps: INIT, SIPI, NMI, interrupts at every step", interrupts },
	{ "steps: the same acts, sent late", late_interrupts },
	{ "steps: accesses, calls and bells at every step", touches_and_calls },
	{ "steps: a CPU that takes no more NMIs", mute },
	{ 0 }
};
