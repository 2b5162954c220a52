// SPDX-License-Identifier: GPL-2.0-only
/* Exits, the part of them that is the same on both vendors, and faults of the monitor's own. */
#include "dispatch.h"
#include "msr.h"
#include "vendor.h"
#include "x86.h"

void exit_forbidden(struct pcpu *cpu)
{
	struct guest_mode mode;

	vendor_mode(cpu, &mode);
	if (!mode.cpl)			/* nobody without rights shall fill the log */
		log_event(cpu, QV_LOG_INSTRUCTION, vendor_exit_code(cpu), vendor_rip(cpu));
	vendor_inject_fault(cpu, 6);
}

void exit_unknown(struct pcpu *cpu)
{
	if (is_front_end())
		exit_forbidden(cpu);
	else
		cell_fail(cpu, QV_FAIL_EXIT, 0);
}

/*
 * INVD, and WBINVD in a cell: nothing is done. Caches are coherent, dirty lines of whomever
 * stay, and nobody empties the caches of his neighbours in a loop.
 */
void exit_nothing(struct pcpu *cpu)
{
	vendor_skip(cpu, 2);
}

/* Parking the CPU would be a silent end: who supervises the machine waits for its reset */
static FRONT_END_ONLY void front_shutdown(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_SHUTDOWN, vendor_rip(cpu), 0);
	vendor_shutdown();
}

void exit_shutdown(struct pcpu *cpu)
{
	if (is_front_end())
		front_shutdown(cpu);
	cell_fail(cpu, QV_FAIL_TRIPLE_FAULT, vendor_rip(cpu));
}

static FRONT_END_ONLY void front_invalid(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_INSTRUCTION, vendor_exit_code(cpu), vendor_rip(cpu));
	park(cpu, CPU_STOPPED);
}

/* It would refuse again: the CPU stops here */
void exit_invalid(struct pcpu *cpu)
{
	if (is_front_end())
		front_invalid(cpu);
	else
		exit_unknown(cpu);
}

void exit_init(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_INIT, 0, 0);
}

/* Nobody here will look at it, and with MCIP set the next one would shut the machine down */
void exit_machine_check(struct pcpu *cpu)
{
	msr_write_safe(MSR_MCG_STATUS, 0);
	if (cpu->phase == CPU_RUNNING)
		exit_unknown(cpu);
}

static const struct exit_row unknown = { 0, exit_unknown, QV_EXIT_OTHER };

static const struct exit_row *find(u64 code)
{
	const struct exit_row *row = vendor_exits;

	for (; row < vendor_exits + vendor_num_exits; row++)
		if (row->code == code)
			return row;
	return &unknown;
}

static void account(struct pcpu *cpu)
{
	struct qv_mon_cpu_status *s = cpu_status(cpu);
	u64 stay = rdtsc() - cpu->exit_tsc;

	s->cycles += stay;
	if (stay > s->held_max)
		s->held_max = stay;
}

void exit_dispatch(struct pcpu *cpu, u64 code)
{
	const struct exit_row *row = find(code);

	cpu->exit_tsc = rdtsc();
	if (row->reason != SELF_COUNTED)
		count_exit(cpu, row->reason);
	row->handle(cpu);
	account(cpu);
}

/* What it was at work on, others may go on with */
static void let_go(const struct pcpu *cpu, u32 *lock)
{
	if (load(lock) == cpu->index + 1)
		__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static FRONT_END_ONLY void front_fault(struct pcpu *cpu, u64 vector)
{
	let_go(cpu, &me()->busy);
	let_go(cpu, &me()->ioapic_busy);
	let_go(cpu, &me()->config_busy);
	if (cpu->phase != CPU_RUNNING)
		park(cpu, cpu->phase);
	else		/* a machine check is Linux's to look at, whoever was at work */
		vendor_inject_fault(cpu, vector == 18 ? 18 : 13);
}

/* A fault of our own: the end of this instance's guest, not of the others' */
void __attribute__((noreturn)) monitor_fault(u64 vector, u64 rip, u64 stack)
{
	struct pcpu *cpu = (struct pcpu *)(stack & ~(u64)(QV_CPU_LEN - 1));

	if (cpu->faulting) {			/* while it dealt with one: no more attempts */
		park(cpu, CPU_STOPPED);
		vendor_run(cpu);
	}
	cpu->faulting = true;
	if (vector == 18 && !(is_front_end() && cpu->phase == CPU_RUNNING))
		msr_write_safe(MSR_MCG_STATUS, 0);	/* as exit_machine_check() */
	log_event(cpu, QV_LOG_MONITOR_FAULT, vector, rip);
	if (is_front_end())
		front_fault(cpu, vector);
	else
		cell_fail(cpu, QV_FAIL_MONITOR, rip);
	cpu->faulting = false;
	vendor_run(cpu);
}
