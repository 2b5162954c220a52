/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads guest memory: only what the guest itself may reach. */
#ifndef QV_GMEM_H
#define QV_GMEM_H

#include "decode.h"
#include "instance.h"

/* Copies code that begins @back bytes before rip. Returns the number of bytes copied */
u32 guest_code(struct pcpu *cpu, u32 back, u8 *bytes, u32 len);
bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len);
/*
 * Maps the page of @pa at this CPU's page of QV_VA_GMEM until the next call: read-only, except for
 * @flags (PT_*). Returns the address of @pa there.
 */
void *gmem_map(const struct pcpu *cpu, u64 pa, u64 flags);

/* Decodes the instruction that touched a device page. Returns false if it is unknown */
bool mmio_decode(struct pcpu *cpu, struct decoded *d);

#endif
