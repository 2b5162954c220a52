// SPDX-License-Identifier: GPL-2.0-only
/* State of each CPU of the front end: own, caught, or in a cell. manage.h has the invariants. */
#include "manage.h"

u64 cpus_ask(struct pcpu *cpu, u64 block, u64 cpus, u32 cmd)
{
	u64 start = rdtsc(), rest, late = 0;

	for (rest = cpus; rest; rest &= rest - 1)
		kick(pcpu_in(block, __builtin_ctzll(rest)), cmd);
	for (rest = cpus; rest; rest &= rest - 1) {
		struct pcpu *asked = pcpu_in(block, __builtin_ctzll(rest));

		if (!wait_ack(asked, asked, cmd, start) ||
		    (cmd == CMD_CATCH && asked->phase != CPU_WAIT_SIPI)) {
			log_event(cpu, QV_LOG_STUCK, asked->apic_id, 0);
			late |= rest & -rest;
		}
	}
	return late;
}

bool flush_front_end(struct pcpu *cpu)
{
	u64 rest = ~(me()->manager.away | 1ull << cpu->index);
	bool all = iommu_flush(cpu);

	cpu->flush = true;
	rest &= ~0ull >> (ICR_CPUS - me()->icr.num);
	return !cpus_ask(cpu, QV_VA_BLOCK, rest, CMD_FLUSH) && all;
}

bool cell_flush(struct pcpu *cpu, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_cpus; i++)
		pcpu_in(QV_VA_MANAGE, i)->flush = true;
	return !cpus_ask(cpu, QV_VA_MANAGE, ~0ull >> (ICR_CPUS - q->num_cpus), CMD_FLUSH);
}

bool cpus_catch(struct pcpu *cpu, u64 cpus)
{
	/*
	 * Clear the bits first: from here on Linux cannot start these CPUs. Any CPU may read this
	 * meanwhile, in icr_write()
	 */
	__atomic_fetch_and(&me()->icr.own_cpus, ~cpus, __ATOMIC_SEQ_CST);
	bells_shut(cpu, cpus);
	return !cpus_ask(cpu, QV_VA_BLOCK, cpus, CMD_CATCH);
}

void cpus_release(u64 cpus)
{
	/* First: they are in xAPIC mode again, and Linux may give them logical ids */
	__atomic_fetch_and(&me()->icr.x2, ~cpus, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&me()->icr.own_cpus, cpus, __ATOMIC_SEQ_CST);
}

bool cpus_send(const struct qv_mon_create *q)
{
	u64 start = rdtsc();
	u32 i;

	for (i = q->num_cpus; i-- > 0;) {	/* the boot CPU comes last, when the others wait */
		me()->manager.away |= 1ull << q->cpus[i];
		kick(pcpu_of(q->cpus[i]), CMD_BECOME);
		if (!wait_ack(pcpu_of(q->cpus[i]), pcpu_in(QV_VA_MANAGE, i), CMD_BECOME, start))
			return false;
	}
	return true;
}

/* If the CPU has not taken CMD_BECOME yet, this withdraws the command: the CPU is still caught */
static bool still_here(u32 index)
{
	if (__atomic_fetch_and(&pcpu_of(index)->cmd, ~CMD_BECOME, __ATOMIC_SEQ_CST) & CMD_BECOME) {
		me()->manager.away &= ~(1ull << index);
		/* drop translations: no flush has covered the CPU since CMD_BECOME was sent */
		kick(pcpu_of(index), CMD_FLUSH);
	}
	return !(me()->manager.away >> index & 1);
}

bool cpus_stop(struct pcpu *cpu, const struct qv_mon_create *q)
{
	u64 there = 0, late;
	u32 i;

	for (i = 0; i < q->num_cpus; i++)
		if (!still_here(q->cpus[i]))
			there |= 1ull << i;
	late = cpus_ask(cpu, QV_VA_MANAGE, there, CMD_STOP);
	for (i = 0; i < q->num_cpus; i++)
		if (late >> i & 1)
			pcpu_of(q->cpus[i])->status->lost = 1;
	return !late;
}

bool cpus_return(struct pcpu *cpu, const struct cell_slot *slot, const struct qv_mon_create *q)
{
	/* A CPU that has returned earlier may be in another cell by now */
	u64 start = rdtsc(), wanted = slot->cpus & me()->manager.away;
	bool all = true;
	u32 i;

	/* a CPU that returned late has acknowledged already */
	for (i = 0; i < q->num_cpus; i++)
		if ((wanted >> q->cpus[i] & 1) && !(load(&pcpu_of(q->cpus[i])->ack) & CMD_RETURN))
			kick(pcpu_in(QV_VA_MANAGE, i), CMD_RETURN);
	for (i = 0; i < q->num_cpus; i++) {
		struct pcpu *front = pcpu_of(q->cpus[i]);

		if (!(wanted >> front->index & 1))
			continue;
		if (!wait_ack(pcpu_in(QV_VA_MANAGE, i), front, CMD_RETURN, start)) {
			log_event(cpu, QV_LOG_STUCK, front->apic_id, 0);
			front->status->lost = 1;
			all = false;
			continue;
		}
		front->status->lost = 0;
		__atomic_fetch_and(&front->ack, ~CMD_RETURN, __ATOMIC_SEQ_CST);
		me()->manager.away &= ~(1ull << front->index);
	}
	return all;
}
