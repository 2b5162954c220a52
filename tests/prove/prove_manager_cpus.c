// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: the acts of other CPUs during a call are those that prove_manager.c assumes. Each step
 *	of one of them keeps the invariants of manage/manage.h, and two steps are equivalent to one
 * Bound: any sound state, then any one step of any CPU (case 1), or any two (case 2); 3 CPUs, 2
 *	cells of one CPU and 2 pages each
 * Assumed: the claims of prove_request.c, prove_front.c and prove_icr.c. An exit of a CPU is one
 *	step, but each IPI that it sends is a separate step. Atomic accesses have one order for all
 *	CPUs. A CPU in a cell returns at any time
 * Enough: the watched page is any page; CPUs and cells are treated alike
 * With: manager_model.h
 * Cases: 1 2
 * Mutation: hypervisor/core/commands.c:
 *	`if (cmd & CMD_SIPI && cpu->phase == CPU_WAIT_SIPI && is_own(cpu)) {` ->
 *	`if (cmd & CMD_SIPI && cpu->phase == CPU_WAIT_SIPI) {`: a SIPI starts a caught CPU (case 1)
 * Mutation: hypervisor/core/commands.c: `if (cmd & CMD_FLUSH)` -> `if (0)`: a flush is acknowledged
 *	and not done (case 1)
 */
#include "manager_machine.h"

enum { ONE_ACTS = 1, TWO_ACT };

/* ---- one act of one CPU, by the monitor's code ---- */

static void takes(u32 i)
{
	u32 cmd = take_commands(&cpu_at(i));

	acting = i;
	if (cmd)
		front_commands(&cpu_at(i), cmd);
	if (cpu_at(i).flush)			/* the CPU flushes at its next entry */
		cached[i] = false;
	cpu_at(i).flush = false;
}

static void comes_back(u32 i)
{
	there[i] = cached[i] = false;
	cpu_at(i).phase = CPU_WAIT_SIPI;
	cpu_at(i).ack |= CMD_RETURN;
}

static void sends(u32 i, u32 target, bool init)
{
	late[i] &= ~(1ull << target);
	PROVE(!there[target], "no IPI of Linux reaches a cell's CPU");
	if (any_bool())				/* an NMI, an interrupt */
		kick(&cpu_at(target), init ? CMD_INIT : CMD_SIPI);
}

enum { DECIDES, SENDS, TAKES, TOUCHES, COMES_BACK };

static void acts(u32 i, u32 what, u32 target)
{
	u32 t;

	switch (what) {
	case DECIDES:		/* icr_write(): by prove_icr.c the targets are own CPUs */
		if (runs(i) && !late[i])
			late[i] = the_instance.icr.own_cpus & any_u64();
		break;
	case SENDS:
		for (t = 0; t < NUM; t++)
			if (t == target && late[i] >> t & 1)
				sends(i, t, any_bool());
		break;
	case TAKES:				/* the CPU takes its commands between two exits */
		if (!there[i] && !late[i])
			takes(i);
		break;
	case TOUCHES:
		if (!runs(i) || late[i])
			break;
		cached[i] |= !hidden;
		break;
	case COMES_BACK:
		if (there[i])
			comes_back(i);
		break;
	}
}

/* Any act keeps the invariants, as the manager expects. */
static void one_acts(u32 what)
{
	u32 who = any_u32(), target = any_u32(), i;
	struct seen a[NUM], b;

	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++)
		a[i] = see(i);
	for (i = 1; i < NUM; i++)
		if (who == i)
			acts(i, what, target);
	PROVE(at_all_times(), "the invariants hold between any two steps");
	for (i = 0; i < NUM; i++) {
		b = see(i);
		PROVE(may_become(i, &a[i], &b), "a step that the manager expects");
	}
}

/* Two steps are equivalent to one. */
static void two_act(void)
{
	struct seen a[NUM], b[NUM], c;
	u32 i;

	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		a[i] = see(i);
		PROVE(may_become(i, &a[i], &a[i]), "no act is a step too");
		any_cpu(i);
	}
	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		b[i] = see(i);
		ASSUME(may_become(i, &a[i], &b[i]));
		any_cpu(i);
	}
	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		c = see(i);
		ASSUME(may_become(i, &b[i], &c));
		PROVE(may_become(i, &a[i], &c), "two steps are one");
	}
}

int main(void)
{
	any_state();
	switch (CASE) {
	case ONE_ACTS:
		alone = true;
		one_acts(any_u32());
		break;
	case TWO_ACT:
		two_act();
		break;
	}
	return 0;
}
