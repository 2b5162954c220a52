/* SPDX-License-Identifier: GPL-2.0-only */
/* Exits of CPU 0 by one instruction of 32-bit code at SVM_RIP, with paging off, on AMD-V. */
#ifndef SVM_EXITS_H
#define SVM_EXITS_H

#include "svm/svm.h"

#define SVM_RIP		0x5000ull

/* Access the fake RAM at this physical address */
void ram_write32(u64 pa, u32 value);
u32 ram_read32(u64 pa);

/* mov of @size bytes from eax to (edi), or from (edi) to eax; edi is @gpa */
struct vmcb *exit_store(u64 gpa, u32 size, u32 value);
struct vmcb *exit_load(u64 gpa, u32 size);
/* Runs an IN or OUT. Returns rax. */
u64 exit_port_of(u32 port, u32 size, bool in, u64 rax);

#endif
