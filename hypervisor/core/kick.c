// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands between CPUs: bits in pcpu.cmd, and an NMI when they were clear
 * before. They are taken only at an NMI exit, so an NMI exit without work is
 * an NMI of the guest. (The CPU latches a single NMI, so an NMI of the guest
 * may merge with one of QV and is lost then.)
 *
 * command  sender                     target                      who sets ack, where
 * FLUSH    the manager                the front end's CPUs        the target, its own
 * CATCH    the manager at create      a CPU that left Linux       the target, its own
 * BECOME   the manager at start       a caught CPU                the CPU, in its pcpu in the cell
 * STOP     the manager; a CPU of a    a cell's CPUs               the target, its own
 *          cell that has failed
 * HOME     the manager at destroy     a cell's CPUs, stopped      the CPU, in its pcpu at home
 * SAMPLE   the manager                a cell's CPUs               the target; Linux reads
 *                                                                 qv_mon_status.samples
 * INIT     the ICR filter             a CPU of the same instance  the target; no CPU waits
 * SIPI     the ICR filter             a CPU that waits for it     the target; no CPU waits
 *                                     and is own (manage.h)
 */
#include "abi/log.h"
#include "apic.h"
#include "cell/cell.h"
#include "cpu.h"
#include "vendor.h"

#define ACK_DEADLINE_MS	2000
#define AGAIN_MS	200
#define NMI		(4u << 8 | 1u << 14)	/* ICR */
/* from a command that was found without its NMI, or one sent again */
#define STRAY_MS	1000
/* from a guest's start: its NMI is sent by then; a later NMI is an NMI of the guest */
#define START_MS	1
#define SEND_PATIENCE	10000000	/* rounds; far more than apic_send() ever takes */

void kick(struct pcpu *target, u32 cmd)
{
	__atomic_fetch_and(&target->ack, ~cmd, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&target->kicks, 1, __ATOMIC_SEQ_CST); /* pairs with take_commands() */
	if (!atomic_or(&target->cmd, cmd))
		apic_send(NMI, target->apic_id);
	__atomic_fetch_sub(&target->kicks, 1, __ATOMIC_SEQ_CST);
}

/*
 * Another NMI, or a look without one, may find a command before kick() has sent the NMI that
 * announces it. That NMI must not come much later, to a guest that this very command has started:
 * wait until it is sent.
 */
u32 take_commands(struct pcpu *cpu)
{
	u32 cmd = atomic_swap(&cpu->cmd, 0), patience = SEND_PATIENCE;

	if (cmd)
		while (load(&cpu->kicks) && --patience)
			pause();
	return cmd;
}

/* The next NMI without a command is the monitor's own, if it comes within @ms */
static void expect_stray(struct pcpu *cpu, u32 ms)
{
	cpu->stray_until = rdtsc() + (u64)me()->boot.tsc_khz * ms;
}

bool wait_ack(struct pcpu *asked, const struct pcpu *answers, u32 cmd, u64 start)
{
	u64 ms = me()->boot.tsc_khz, again = AGAIN_MS * ms;

	while (!(load(&answers->ack) & cmd)) {
		u64 waited = rdtsc() - start;

		if (waited > ACK_DEADLINE_MS * ms)
			return false;
		/* Two NMIs can become one, and kick() sends none where a command waits */
		if (waited > again && (load(&asked->cmd) & cmd)) {
			expect_stray(asked, STRAY_MS);
			apic_send(NMI, asked->apic_id);
			again += AGAIN_MS * ms;
		}
		pause();
	}
	return true;
}

void park(struct pcpu *cpu, enum cpu_phase phase)
{
	cpu->phase = phase;
	cpu->nmi_masked = cpu->nmi_pending = false;
	vendor_set_park(cpu);
}

static void __attribute__((noreturn)) arrive_cell(struct pcpu *cpu)
{
	vendor_arrive(cpu);
	apic_hand_over();
	clear_registers();
	if (cpu->index == 0) {
		vendor_set_entry(cpu, &me()->req.entry);
		cpu->phase = CPU_RUNNING;
		expect_stray(cpu, START_MS);	/* it has no IDT yet either */
		my_status()->first_entry_tsc = rdtsc();
		__atomic_store_n(&my_status()->state, QV_MON_RUNNING, __ATOMIC_RELEASE);
	} else {
		park(cpu, CPU_WAIT_SIPI);
	}
	atomic_or(&cpu->ack, CMD_BECOME);
	late_commands(cpu);
	vendor_run(cpu);
}

static void __attribute__((noreturn)) arrive_home(struct pcpu *cpu)
{
	vendor_arrive(cpu);
	apic_hand_over();
	clear_registers();
	park(cpu, CPU_WAIT_SIPI);
	atomic_or(&cpu->ack, CMD_HOME);
	late_commands(cpu);
	vendor_run(cpu);
}

static void move(u64 cr3, u32 index, void (*to)(struct pcpu *))
{
	/* Every instance has its CPU areas at the same addresses: the stack of the new one */
	vendor_move(cr3, (u64)pcpu_of(index + 1), to, pcpu_of(index));
}

static bool is_own(const struct pcpu *cpu)
{
	return me()->icr.own >> cpu->index & 1;
}

/* Leaves this instance permanently. Only a caught and parked CPU moves to a cell: manage.h */
static __attribute__((noinline)) void change_instance(struct pcpu *cpu, u32 cmd)
{
	if (cmd & CMD_HOME)
		move(cpu->home_cr3, cpu->home_index, arrive_home);
	if (!is_own(cpu) && cpu->phase == CPU_WAIT_SIPI)
		move(cpu->next_cr3, cpu->next_index, arrive_cell);
	/* the manager misses its answer */
	log_event(cpu, QV_LOG_NOT_CAUGHT, cpu->apic_id, cpu->phase);
}

static bool within_a_second(u64 tsc)
{
	return rdtsc() - tsc < me()->boot.tsc_khz * 1000ull;
}

/*
 * The CPU latches a single NMI, so an NMI of Linux may have merged with the NMI of this exit. Linux
 * gets an NMI in case of doubt. The driver's handler ends as many NMIs as are counted here. So an
 * NMI that waits already is not counted again. A CPU that Linux has just started may have no IDT:
 * an NMI would be a triple fault.
 */
static FRONT_END_ONLY void front_flush(struct pcpu *cpu, u32 cmd)
{
	cpu->flush = true;
	if (cmd != CMD_FLUSH || cpu->phase != CPU_RUNNING || cpu->nmi_pending || within_a_second(cpu->started_tsc))
		return;
	cpu_status(cpu)->nmis_in_doubt++;
	vendor_inject_nmi(cpu);
}

/* An NMI of QV may come after its command was found; then it is not an NMI of the guest */
bool stray_nmi(struct pcpu *cpu)
{
	bool stray = rdtsc() < cpu->stray_until;

	cpu->stray_until = 0;
	return stray;
}

void run_commands(struct pcpu *cpu, u32 cmd)
{
	if (cmd & CMD_FLUSH)
		front_flush(cpu, cmd);
	if (cmd & CMD_SAMPLE)
		cell_sample(cpu);
	if (cmd & CMD_STOP) {
		if (!cpu->index)	/* for a watchdog's finding: where it hung */
			cell_record(cpu, QV_FAIL_NONE, 0);
		park(cpu, CPU_STOPPED);
	}
	if (cmd & (CMD_INIT | CMD_CATCH) && cpu->phase != CPU_STOPPED) {
		apic_drain();		/* INIT resets the APIC too */
		park(cpu, CPU_WAIT_SIPI);
	}
	if (cmd & CMD_SIPI && cpu->phase == CPU_WAIT_SIPI && is_own(cpu)) {
		vendor_set_sipi(cpu, load(&cpu->sipi));
		cpu->phase = CPU_RUNNING;
		/*
		 * An NMI sent before this guest began is not for it, and there is no IDT to take
		 * it.
		 */
		cpu->started_tsc = rdtsc();
		expect_stray(cpu, START_MS);
	}
	atomic_or(&cpu->ack, cmd & ~(CMD_BECOME | CMD_HOME));
	if (cmd & (CMD_BECOME | CMD_HOME))
		change_instance(cpu, cmd);
}

/*
 * Looks for commands whose NMIs were forgotten. Draining the APIC lets NMIs in as well and forgets
 * them. After #DB and #AC of a cell, too, since these go back in: one of them in the delivery of
 * another may repeat forever without a single instruction, or an NMI, between (CVE-2015-5307,
 * CVE-2015-8104).
 */
void late_commands(struct pcpu *cpu)
{
	u32 cmd = take_commands(cpu);

	if (!cmd)
		return;
	expect_stray(cpu, STRAY_MS);
	run_commands(cpu, cmd);
}
