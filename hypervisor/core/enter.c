// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes all CPUs together from Linux into the monitor. Every step that can fail comes first. Then
 * one atomic verdict decides for all CPUs. After it nothing can fail (law 9).
 */
#include "abi/errors.h"
#include "apic.h"
#include "cpu.h"
#include "vendor.h"
#include "init.h"
#include "log.h"
#include "ports.h"

static u64 master_setup(struct pcpu *cpu, struct instance *inst)
{
	u64 error = guest_init(inst, QV_VA_BLOCK);

	if (!error)
		ports_front();
	if (inst->boot.ipi_direct)
		log_event(cpu, QV_LOG_IPI, 0, 0);
	my_status()->state = QV_MON_RUNNING;
	return error;
}

static bool expired(u64 start)
{
	return rdtsc() - start > (u64)me()->boot.tsc_khz * me()->boot.enter_ms;
}

/* The last CPU to arrive decides GO, unless a CPU failed or timed out; then all CPUs back out */
static bool verdict(struct instance *inst, u64 error)
{
	struct enter_state *s = &inst->front.enter;
	u64 start = rdtsc();

	if (error) {
		__atomic_store_n(&s->error, error, __ATOMIC_RELEASE);
		__atomic_store_n(&s->verdict, ENTER_BACK, __ATOMIC_RELEASE);
	}
	if (__atomic_add_fetch(&s->arrived, 1, __ATOMIC_SEQ_CST) == inst->boot.num_cpus)
		atomic_replace(&s->verdict, ENTER_UNDECIDED, ENTER_GO);
	while (load(&s->verdict) == ENTER_UNDECIDED) {
		if (expired(start))
			atomic_replace(&s->verdict, ENTER_UNDECIDED, ENTER_BACK);
		pause();
	}
	return load(&s->verdict) == ENTER_GO;
}

/*
 * Linux calls this on this CPU's stack in the block. Interrupts are held off. NMIs are held off too
 * (AMD-V), or only recorded (VT-x).
 */
void monitor_entry(struct pcpu *cpu)
{
	struct instance *inst = me();
	struct enter_state *s = &inst->front.enter;
	u64 start = rdtsc(), error = QV_ME_OK;

	if (__atomic_fetch_add(&s->tickets, 1, __ATOMIC_SEQ_CST) == 0) {
		error = master_setup(cpu, inst);
		__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	}
	while (!load(&s->ready) && !expired(start))
		pause();
	if (!error)
		error = load(&s->ready) ? vendor_enter(cpu) : QV_ME_CPU_STUCK;
	if (!verdict(inst, error))
		vendor_back(cpu, s->error ? s->error : QV_ME_CPU_STUCK);

	/* ---- the point of no return: from here on, this CPU's Linux is a guest ---- */
	icr_learn(cpu);
	log_event(cpu, QV_LOG_ENTERED, cpu->apic_id, 0);
	vendor_run(cpu);
}
