// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>

static trap_handler *irq_handlers[TRAP_NUM_VECTORS];
static trap_handler *exception_handler;
static bool bare[TRAP_NUM_VECTORS];
static trap_handler *exit_hook;
static uint64_t strays;

static const char *const names[TRAP_FIRST_IRQ] = {
	[0] = "#DE divide error",	[1] = "#DB debug",
	[2] = "NMI",			[3] = "#BP breakpoint",
	[4] = "#OF overflow",		[5] = "#BR bound range",
	[6] = "#UD invalid opcode",	[7] = "#NM no FPU",
	[8] = "#DF double fault",	[10] = "#TS invalid TSS",
	[11] = "#NP segment not present", [12] = "#SS stack",
	[13] = "#GP general protection", [14] = "#PF page fault",
	[16] = "#MF x87",		[17] = "#AC alignment check",
	[18] = "#MC machine check",	[19] = "#XF SIMD",
	[21] = "#CP control protection", [28] = "#HV hypervisor injection",
	[29] = "#VC VMM communication",	[30] = "#SX security",
};

const char *trap_name(uint64_t vector)
{
	if (vector < TRAP_FIRST_IRQ && names[vector])
		return names[vector];
	return vector < TRAP_FIRST_IRQ ? "reserved exception" : "interrupt";
}

void trap_set_irq(unsigned int vector, trap_handler *handler)
{
	if (vector < TRAP_FIRST_IRQ || vector >= TRAP_NUM_VECTORS)
		return;
	irq_handlers[vector] = handler;
	bare[vector] = false;
}

void trap_set_bare_irq(unsigned int vector, trap_handler *handler)
{
	trap_set_irq(vector, handler);
	if (vector >= TRAP_FIRST_IRQ && vector < TRAP_NUM_VECTORS)
		bare[vector] = true;
}

void trap_set_exception(trap_handler *handler)
{
	exception_handler = handler;
}

void trap_set_exit(trap_handler *hook)
{
	exit_hook = hook;
}

uint64_t trap_stray_count(void)
{
	return strays;
}

static void interrupt(struct trap_frame *frame)
{
	trap_handler *handler = irq_handlers[frame->vector];

	if (handler)
		handler(frame);
	else
		strays++;
	if (bare[frame->vector])
		return;
	if (frame->vector != APIC_SPURIOUS_VECTOR)
		apic_eoi();
	if (exit_hook)
		exit_hook(frame);
}

void trap_dispatch(struct trap_frame *frame)
{
	if (frame->vector >= TRAP_FIRST_IRQ)
		interrupt(frame);
	else if (exception_handler)
		exception_handler(frame);
	else
		cpu_stop();
}
