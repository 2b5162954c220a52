// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/pc.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "../arch/user.h"
#include "../arch/vectors.h"
#include "../drivers/bell.h"
#include "../drivers/doorbell.h"
#include "../drivers/key.h"
#include "../drivers/pc_input.h"
#include "../migration/migration.h"
#include "../mm/mm.h"
#include "../mm/pages.h"
#include "../net/net.h"
#include "../recovery/recovery.h"
#include "../shell/shell.h"
#include "dispatch.h"
#include "exception.h"
#include "machine.h"
#include "panic.h"
#include "process/exit.h"
#include "program.h"
#include "syscall.h"
#include "thread.h"
#include "vcpu/namedvcpu.h"
#include "vcpu/vcpu.h"

#define PLAUSIBLE_KHZ	1000

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address);

/* Finds out what machine this is. No interrupt is possible yet; only the boot tables map memory. */
static void discover(uint32_t magic, uint32_t boot_address)
{
	machine.alone = !cell_detect();
	console_init();
	exceptions_catch();
	if (!boot_parse(&machine.boot, magic, boot_address))
		panic("no usable memory information from the boot loader (magic %08x)", magic);
	machine_identify();
}

/*
 * Rejects vectors in the timer's class. CR8 could not block a flood of their interrupts without the
 * timer (gate.c), and one of them is the timer's own.
 */
static void check_vectors(void)
{
	const struct qv_info *info = cell_info();
	unsigned int n;

	if (machine.alone)
		return;
	if (info->doorbell_vector >= VECTOR_TIMER)
		panic("the doorbell's vector is %u: it must be below %u", info->doorbell_vector,
		      VECTOR_TIMER);
	for (n = 0; n < info->num_channels && n < QV_INFO_MAX_CHANNELS; n++)
		if (info->bells[n].vector >= VECTOR_TIMER)
			panic("the vector of the bell of %s is %u: it must be below %u",
			      info->channels[n].name, info->bells[n].vector, VECTOR_TIMER);
}

/*
 * Outside a cell Quest sets up the devices itself. With `xapic` on the command line, it accesses
 * the APIC by its page.
 */
static void init_alone(void)
{
	bool offered = machine.x2apic && !boot_option(&machine.boot, "xapic");

	pic_disable();
	machine.tsc_khz = pit_measure_tsc_khz();
	machine.x2apic = apic_try_x2apic(offered);
}

static void init_in_cell(void)
{
	machine.tsc_khz = cell_info()->tsc_khz;
	machine.x2apic = cell_info()->x2apic;
}

static void init_memory(void)
{
	const struct mm_options options = {
		.x2apic = machine.x2apic,
		.alone = machine.alone,
		.no_execute = machine.no_execute,
		.global = machine.features_edx & 1u << 13,
	};

	if (!mm_init(&machine.boot, &options))
		panic("memory too small or its map too odd");
}

static void init_hardware(void)
{
	if (machine.alone)
		init_alone();
	else
		init_in_cell();
	if (machine.tsc_khz < PLAUSIBLE_KHZ)
		panic("TSC frequency of %u kHz makes no sense", machine.tsc_khz);
	check_vectors();
	init_memory();
	apic_init(machine.x2apic);
	timer_init(VECTOR_TIMER, machine.tsc_khz, machine.tsc_deadline);
}

/*
 * Runs at the end of an interrupt. Preempts the current thread if necessary. Before a return to a
 * program, checks whether the program may still run.
 */
static void after_interrupt(struct trap_frame *frame)
{
	dispatch_check();
	if (trap_from_user(frame))
		process_leave(frame);
}

static void init_programs(void)
{
	user_init(syscall_entry, machine.features_ebx7, machine.features_ecx7);
	space_set_hooks(let_interrupts_in, user_flush);
	program_init(&machine.boot);
}

/*
 * Returns whether the caller may use the kept memory. Only the kernel's own threads may, such as
 * the shell, which loads programs.
 */
static bool may_use_kept(void)
{
	return !thread_current()->process;
}

static void init_threads(void)
{
	threads_init(VECTOR_TIMER, boot_option(&machine.boot, "admission=exact") ?
		     ADMISSION_EXACT : ADMISSION_BOUND,
		     !boot_option(&machine.boot, "background=off"));
	trap_set_exit(after_interrupt);
	vcpus_init();
	namedvcpus_init(&machine.boot);
	init_programs();
	if ((machine.alone ? !pc_input_start() : !doorbell_start()) || !bells_start() ||
	    !keys_start() || !heartbeat_start() || !net_start(&machine.boot))
		panic("no memory for the threads of the devices");
	migration_start(&machine.boot);
	recovery_boot(&machine.boot);
	pages_keep(SHELL_PAGES, may_use_kept);
}

/* From now on this thread runs only if no other one does: programs may keep it from the CPU. */
static void init_done(void)
{
	if (!machine.alone)
		cell_set_state(QV_INMATE_RUNNING);
	if (!shell_start())
		panic("no memory for the shell");
}

static void banner(void)
{
	print("\033[92mQuest\033[0m, %s, %lu MiB free, TSC %u.%03u MHz, %s timer, %s\n",
	      machine.alone ? "alone" : cell_info()->name,
	      (unsigned long)(pages_available() * PAGE_SIZE >> 20),
	      machine.tsc_khz / 1000, machine.tsc_khz % 1000, timer_mode(),
	      apic_is_x2apic() ? "x2APIC" : "xAPIC");
}

/* If no thread is runnable and no timer is armed, the CPU sleeps until a device interrupts. */
static _Noreturn void idle(void)
{
	for (;;) {
		irq_disable();
		if (dispatch_needed())
			dispatch_check();
		else
			irq_wait();
	}
}

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address)
{
	machine.boot_tsc = rdtsc();
	trap_init();
	discover(magic, boot_address);
	init_hardware();
	banner();
	init_threads();
	init_done();
	idle();
}
