// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carries out commands (kick.c), of a cell's CPUs and of Linux's CPUs. Both are in one file because
 * this is where a CPU goes from one instance to the other.
 */
#include "apic.h"
#include "cell/cell.h"
#include "manage/calls.h"
#include "init.h"
#include "kick.h"
#include "log.h"
#include "vendor.h"

static bool is_own(const struct pcpu *cpu)
{
	return me()->icr.own_cpus >> cpu->index & 1;
}

/* There was no command at an NMI exit. Returns true if the NMI is for the guest */
static bool is_for_guest(struct pcpu *cpu)
{
	bool stray = rdtsc() < cpu->stray_until;	/* for a command that was found earlier */

	cpu->stray_until = 0;
	return !stray && cpu->phase == CPU_RUNNING;
}

/* Like take_commands(), but the NMI that announces the commands may still come */
static u32 take_late(struct pcpu *cpu)
{
	u32 cmd = take_commands(cpu);

	if (cmd)
		expect_stray(cpu, STRAY_MS);
	return cmd;
}

/*
 * Carries out the commands that are the same for CPUs of cells and of Linux. Acknowledges @cmd,
 * except a move: the CPU acknowledges that when it arrives.
 */
static void shared_commands(struct pcpu *cpu, u32 cmd)
{
	if (cmd & (CMD_INIT | CMD_CATCH) && cpu->phase != CPU_STOPPED) {
		apic_drain();		/* drop pending interrupts: INIT resets the APIC, too */
		vendor_set_park(cpu, CPU_WAIT_SIPI);
	}
	if (cmd & CMD_SIPI && cpu->phase == CPU_WAIT_SIPI && is_own(cpu)) {
		vendor_set_sipi(cpu, load(&cpu->sipi));
		cpu->phase = CPU_RUNNING;
		/*
		 * An NMI sent before this guest began is not for this guest, which has no IDT yet
		 */
		expect_stray(cpu, START_MS);
	}
	__atomic_fetch_or(&cpu->ack, cmd & ~(CMD_BECOME | CMD_RETURN), __ATOMIC_SEQ_CST);
}

static void move(u64 cr3, u32 index, void (*to)(struct pcpu *))
{
	/* All instances have CPU areas at the same addresses, so this is the new stack's top */
	vendor_move(cr3, (u64)pcpu_of(index + 1), to, pcpu_of(index));
}

/* ---- a cell's CPUs ---- */

static void arrive_in_front(struct pcpu *cpu);
static void arrive_cell(struct pcpu *cpu);

/* Moves this CPU from the cell's instance to that of the front end. Does not return */
static __attribute__((noinline)) void return_to_front(struct pcpu *cpu)
{
	move(cpu->next_cr3, cpu->next_index, arrive_in_front);
}

/*
 * The cell begins again. The boot CPU waits until the others run the inmate no longer, since its
 * entry restores the memory. A CPU that does not answer executes nothing; if it comes back, it
 * takes this command first. A CPU that Linux has stopped stays so.
 */
static __attribute__((noinline)) void cell_again(struct pcpu *cpu)
{
	u64 start = rdtsc();
	u32 i;

	atomic_or(&cpu->ack, CMD_BECOME);
	if (cpu->phase == CPU_STOPPED)
		return;
	for (i = 1; i < me()->boot.num_cpus && !cpu->index; i++)
		wait_ack(pcpu_of(i), pcpu_of(i), CMD_BECOME, start);
	if (!cpu->index && me()->req.num_channels)
		cell_channels_failed(cpu);
	move(me()->host.root, cpu->index, arrive_cell);
}

static void cell_commands(struct pcpu *cpu, u32 cmd)
{
	if (cmd & CMD_SAMPLE)
		cell_sample(cpu);
	if (cmd & CMD_STOP) {
		/* the state of the boot CPU shows where a hung cell was executing */
		if (!cpu->index)
			cell_record(cpu, QV_FAIL_NONE, 0);
		vendor_set_park(cpu, CPU_STOPPED);
	}
	shared_commands(cpu, cmd);
	if (cmd & CMD_BECOME)
		cell_again(cpu);
	if (cmd & CMD_RETURN)
		return_to_front(cpu);
}

void cell_late_commands(struct pcpu *cpu)
{
	cell_commands(cpu, take_late(cpu));
}

void cell_nmi(struct pcpu *cpu)
{
	u32 cmd = take_commands(cpu);

	if (cmd) {
		cell_commands(cpu, cmd);	/* does not return after CMD_RETURN */
		cell_late_commands(cpu);
	} else if (is_for_guest(cpu)) {
		vendor_inject_nmi(cpu);
	}
}

static void __attribute__((noreturn)) arrive_cell(struct pcpu *cpu)
{
	vendor_arrive(cpu);
	apic_hand_over(cpu);
	clear_registers();
	if (cpu->index == 0) {
		vendor_set_entry(cpu, &me()->req.entry);
		cpu->phase = CPU_RUNNING;
		my_status()->first_entry_tsc = rdtsc();
		__atomic_store_n(&my_status()->state, QV_MON_RUNNING, __ATOMIC_RELEASE);
	} else {
		vendor_set_park(cpu, CPU_WAIT_SIPI);
	}
	atomic_or(&cpu->ack, CMD_BECOME);
	if (cpu->index == 0)
		cell_channels_begin(cpu);	/* this may take long */
	/* The new guest has no IDT yet. By now an NMI that was sent for its start is pending */
	vendor_take_interrupts();
	expect_stray(cpu, START_MS);
	cell_late_commands(cpu);
	vendor_run(cpu);
}

/* ---- Linux's CPUs ---- */

/*
 * A CPU that Linux has started has no handler for NMIs until it loads the IDT of Linux, which is
 * the same for all CPUs. Until then an NMI would be a triple fault.
 */
static bool has_idt(const struct pcpu *cpu)
{
	return cpu->phase == CPU_RUNNING && vendor_idt_base(cpu) == cpu->linux_state.idt_base;
}

/*
 * The CPU latches a single NMI, so an NMI of Linux may have merged with the NMI of this exit. Linux
 * gets an NMI in case of doubt. The driver's handler claims as many NMIs as are counted here. So an
 * NMI that waits already is not counted again.
 */
static void front_flush(struct pcpu *cpu, u32 cmd)
{
	cpu->flush = true;
	if (cmd != CMD_FLUSH || cpu->nmi_pending || !has_idt(cpu))
		return;
	cpu->status->nmis_in_doubt++;
	vendor_inject_nmi(cpu);
}

/*
 * Moves this CPU to a cell's instance, and then does not return. Only a caught and parked CPU moves
 * to a cell: manage.h
 */
static void front_become(struct pcpu *cpu)
{
	if (!is_own(cpu) && cpu->phase == CPU_WAIT_SIPI)
		move(cpu->next_cr3, cpu->next_index, arrive_cell);
	/* the command is not acknowledged, so the manager's wait times out */
	log_event(cpu, QV_LOG_NOT_CAUGHT, cpu->apic_id, cpu->phase);
}

void front_commands(struct pcpu *cpu, u32 cmd)
{
	if (cmd & CMD_FLUSH)
		front_flush(cpu, cmd);
	shared_commands(cpu, cmd);
	if (cmd & CMD_BECOME)
		front_become(cpu);
}

static void front_late_commands(struct pcpu *cpu)
{
	front_commands(cpu, take_late(cpu));
}

void front_nmi(struct pcpu *cpu)
{
	u32 cmd = take_commands(cpu);
	bool posts = posts_nmi(cpu);	/* first, since a CPU that moves does not return */

	if (cmd) {
		front_commands(cpu, cmd);	/* does not return if the CPU moves to a cell */
		front_late_commands(cpu);
	} else if (posts) {
		front_flush(cpu, CMD_FLUSH);	/* Linux gets an NMI in case of doubt */
	} else if (is_for_guest(cpu) && has_idt(cpu)) {
		vendor_inject_nmi(cpu);
	}
}

static void __attribute__((noreturn)) arrive_in_front(struct pcpu *cpu)
{
	vendor_arrive(cpu);
	apic_hand_over(cpu);
	clear_registers();
	vendor_set_park(cpu, CPU_WAIT_SIPI);
	atomic_or(&cpu->ack, CMD_RETURN);
	front_late_commands(cpu);
	vendor_run(cpu);
}
