// SPDX-License-Identifier: GPL-2.0-only
/* The RAM log: numbers only; the driver turns them into sentences. */
#include "cpu.h"
#include "log.h"

void log_event(const struct pcpu *cpu, u32 what, u64 a, u64 b)
{
	struct qv_mon_log *log = (struct qv_mon_log *)(QV_VA_BLOCK + QV_OFF_LOG);
	u64 seq = __atomic_add_fetch(&log->head[QV_MON_LOG_RING(what)], 1, __ATOMIC_RELAXED);
	struct qv_mon_log_entry *e = &log->entries[QV_MON_LOG_RING(what)][(u8)(seq - 1)];

	/* for size: accesses by @e are short, and callers need not save @cpu and @b */
	asm volatile("" : "+r"(e) : "D"(cpu), "c"(b));
	__atomic_store_n(&e->seq, 0, __ATOMIC_RELEASE);
	e->cpu = cpu->linux_cpu;
	e->what = what;
	e->a = a;
	e->b = b;
	e->tsc = rdtsc();
	__atomic_store_n(&e->seq, seq, __ATOMIC_RELEASE);
}

void log_denied(const struct pcpu *cpu, u32 what, u64 a, u64 b)
{
	cpu->status->denied++;
	log_event(cpu, what, a, b);
}

_Static_assert((u32)QV_EXIT_COUNT <= (u32)QV_EXIT_SLOTS, "counters of exits");

void count_exit(const struct pcpu *cpu, u32 reason)
{
	cpu->status->exits[reason]++;
}

void exit_account(struct pcpu *cpu, u64 *longest)
{
	u64 stay = rdtsc() - cpu->exit_tsc;

	cpu->status->cycles += stay;
	cpu->exit_tsc += stay;
	if (stay > *longest)
		*longest = stay;
}
