// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands between CPUs: how they are sent, and waited for. commands.c carries them out. A command
 * is a bit in pcpu.cmd. The sender also sends an NMI. A CPU takes commands only at an NMI exit, so
 * an NMI exit without a command is an NMI of the guest. (The CPU latches a single NMI, so an NMI of
 * the guest may merge with an NMI of QV, and is then lost.)
 *
 * command  sender                     target                      who sets ack, where
 * FLUSH    the manager                the front end's CPUs        the target, its own
 *                                     a cell's CPUs; the manager
 *                                     sets their .flush before
 * CATCH    the manager at create      a CPU that left Linux       the target, its own
 * BECOME   the manager at start       a caught CPU                the CPU, in its pcpu in the cell
 * STOP     the manager; a CPU of a    a cell's CPUs               the target, its own
 *          cell that has failed
 * RETURN   the manager at destroy     a cell's CPUs, stopped      the CPU, in its front-end pcpu
 * SAMPLE   the manager                a cell's CPUs               the target; Linux reads
 *                                                                 qv_mon_status.samples
 * INIT     the ICR filter             a CPU of the same instance  the target; no CPU waits
 * SIPI     the ICR filter             a CPU that waits for it     the target; no CPU waits
 *                                     and is own (manage.h)
 */
#include "apic.h"
#include "kick.h"

#define AGAIN_MS	200

/*
 * The NMI for a command that is still pending may have been lost, since two NMIs may merge into
 * one. So each command has an NMI of its own: no CPU waits for INIT and SIPI and would send it
 * later.
 */
void kick(struct pcpu *target, u32 cmd)
{
	__atomic_fetch_and(&target->ack, ~cmd, __ATOMIC_SEQ_CST);
	/* this order pairs with take_commands() */
	__atomic_fetch_add(&target->kicks, 1, __ATOMIC_SEQ_CST);
	if (atomic_or(&target->cmd, cmd))
		expect_stray(target, STRAY_MS);
	apic_send(APIC_NMI, target->apic_id);
	__atomic_fetch_sub(&target->kicks, 1, __ATOMIC_SEQ_CST);
}

/*
 * A CPU may find a command by another NMI, or without an NMI, before the NMI for it has been sent.
 * So wait until it has been sent, as long as for any answer of the sender's CPU. That NMI must not
 * come much later, to a guest that this command has started.
 */
u32 take_commands(struct pcpu *cpu)
{
	u32 cmd = __atomic_exchange_n(&cpu->cmd, 0, __ATOMIC_SEQ_CST);
	u64 start = rdtsc(), longest = (u64)me()->boot.tsc_khz * ACK_DEADLINE_MS;

	while (load(&cpu->kicks) && rdtsc() - start < longest)
		pause();
	return cmd;
}

/* As kick(), for a command that @target may not have seen. Sends nothing if it has taken @cmd */
static void kick_again(struct pcpu *target, u32 cmd)
{
	__atomic_fetch_add(&target->kicks, 1, __ATOMIC_SEQ_CST);
	if (load(&target->cmd) & cmd) {
		expect_stray(target, STRAY_MS);
		apic_send(APIC_NMI, target->apic_id);
	}
	__atomic_fetch_sub(&target->kicks, 1, __ATOMIC_SEQ_CST);
}

bool wait_ack(struct pcpu *asked, const struct pcpu *answers, u32 cmd, u64 start)
{
	u64 ms = me()->boot.tsc_khz, again = AGAIN_MS * ms;

	for (;;) {
		/* The clock before the answer: this CPU may have been held up itself */
		u64 waited = rdtsc() - start;

		if (load(&answers->ack) & cmd)
			return true;
		if (waited > ACK_DEADLINE_MS * ms)
			return false;
		/* Two NMIs may merge into one */
		if (waited > again) {
			kick_again(asked, cmd);
			again += AGAIN_MS * ms;
		}
		pause();
	}
}
