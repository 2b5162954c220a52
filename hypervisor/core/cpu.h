/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions and what every part of the monitor uses of each other. */
#ifndef QV_CPU_H
#define QV_CPU_H

#include "instance.h"

/* Stays a function, so that scripts/size can leave it out of the code that a cell reaches (law 3) */
#define FRONT_END_ONLY __attribute__((noinline))

static inline u64 rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

static inline u64 rdmsr(u32 msr)
{
	u32 lo, hi;

	asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return (u64)hi << 32 | lo;
}

static inline void wrmsr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline void cpuid(u32 leaf, u32 sub, u32 r[4])
{
	asm volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
		     : "a"(leaf), "c"(sub));
}

static inline void invlpg(u64 va)
{
	asm volatile("invlpg (%0)" : : "r"(va) : "memory");
}

static inline void pause(void)
{
	asm volatile("pause" : : : "memory");
}

static inline u32 atomic_or(u32 *p, u32 v)
{
	return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
}

static inline u32 atomic_swap(u32 *p, u32 v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}

static inline u32 load(const u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

/* log.c */
void log_event(const struct pcpu *cpu, u32 what, u64 a, u64 b);
void count_exit(const struct pcpu *cpu, u32 reason);	/* enum qv_exit */

/* kick.c: commands between CPUs */
void kick(struct pcpu *target, u32 cmd);
/* @asked has @cmd, @answers (the same CPU, perhaps in another instance) tells. False: 2 s since @start (TSC) are over */
bool wait_ack(struct pcpu *asked, const struct pcpu *answers, u32 cmd, u64 start);
u32 take_commands(struct pcpu *cpu);	/* all that are asked for; their NMIs are sent */
void run_commands(struct pcpu *cpu, u32 cmd);
void late_commands(struct pcpu *cpu);
bool stray_nmi(struct pcpu *cpu);	/* an NMI without a command: is it the monitor's? */
void park(struct pcpu *cpu, enum cpu_phase phase);

/* regs.c */
void clear_registers(void);

/* gmem.c: read guest memory, only what the guest itself may reach. Bytes read */
u32 guest_code(struct pcpu *cpu, u32 back, u8 *bytes, u32 len);	/* from @back bytes before rip on */
bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len);
/* @pa's page in this CPU's window until the next call, read-only but for @flags (PT_*): where @pa is */
void *window_map(const struct pcpu *cpu, u64 pa, u64 flags);

/* mmio.c: the instruction that touched a device page. False: not one that is known */
struct decoded;
bool mmio_decode(struct pcpu *cpu, struct decoded *d);

/* init.c: permission maps and the parking page of @inst, by its creator, who has its block mapped at @va.
 * 0 or enum qv_mon_error */
u64 guest_init(struct instance *inst, u64 va);

#endif
