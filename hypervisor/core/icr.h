/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ICR filter: which of an instance's own CPUs an interrupt command
 * reaches. Pure. Manuals: AMD APM vol. 2, 16.5 and 16.13; Intel SDM vol. 3, 11.6.
 */
#ifndef QV_ICR_H
#define QV_ICR_H

#include "abi/types.h"

#define ICR_CPUS	64

enum icr_action {
	ICR_DROP,		/* nothing to do, or no own CPU is named */
	ICR_SEND,		/* each target gets .low as a physical interrupt */
	ICR_INIT,		/* each target goes to wait-for-SIPI */
	ICR_SIPI,		/* each target that waits starts at .vector */
};

struct icr_map {
	u32 num;
	u32 x2apic;
	u32 remapped;		/* entries of IOAPICs may be in remapped format */
	u64 own_cpus;		/* bit i: the sender may reach CPU i */
	/* bit i: CPU i is in x2APIC mode, or will be, though this map is of xAPIC mode */
	u64 x2;
	u32 apic_id[ICR_CPUS];
	/* xAPIC: the CPU's logical destination register, shifted right by 24 */
	u32 ldr[ICR_CPUS];
	u32 cluster;		/* xAPIC: logical ids are cluster:member nibbles */
};

/*
 * The logical id to which a CPU in x2APIC mode answers if a message has an 8-bit destination, or 0.
 * It is derived from the physical id k < 16: cluster 0, bit k. No write changes it. Intel SDM vol.
 * 3, 11.12.10.2; AMD APM vol. 2, 16.14.
 */
static inline u32 icr_x2_id(u32 apic_id)
{
	return apic_id < 8 ? 1u << apic_id : 0;
}

struct icr_verdict {
	enum icr_action action;
	u64 targets;		/* targets of the command, always a subset of map->own_cpus */
	/* ICR value to write for each target, with a physical destination */
	u32 low;
	u32 vector;
	/* the command named one physical destination, which is not an own CPU */
	bool foreign;
};

/*
 * @dest: 32-bit (x2APIC) or 8-bit (xAPIC) destination; @low: ICR bits 31..0; @self: sender's index.
 */
struct icr_verdict icr_filter(const struct icr_map *map, u32 low, u32 dest, u32 self);

#endif
