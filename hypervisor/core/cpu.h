/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions, and the functions that the parts of the monitor call in each other. */
#ifndef QV_CPU_H
#define QV_CPU_H

#include "instance.h"

/* Stays a function, so that scripts/size can leave it out of a cell's reachable code (law 3) */
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

/* regs.c */
void clear_registers(void);

/* gmem.c: read guest memory, only what the guest itself may reach. Bytes read */
u32 guest_code(struct pcpu *cpu, u32 back, u8 *bytes, u32 len);	/* from @back bytes before rip on */
bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len);
/*
 * Maps the page of @pa in this CPU's window until the next call: read-only, except for @flags
 * (PT_*). Returns the address of @pa there.
 */
void *window_map(const struct pcpu *cpu, u64 pa, u64 flags);

/* mmio.c: decodes the instruction that touched a device page. False: unknown instruction */
struct decoded;
bool mmio_decode(struct pcpu *cpu, struct decoded *d);

/*
 * init.c: fills the permission maps and the parking page of @inst. Its creator calls it and has its
 * block mapped at @va. Returns 0 or enum qv_mon_error.
 */
u64 guest_init(struct instance *inst, u64 va);

#endif
