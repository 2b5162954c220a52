/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that only CPUs of Linux run: the exit table's column for the front end. */
#ifndef QV_FRONT_SIDE_H
#define QV_FRONT_SIDE_H

#include "core/cpu.h"
#include "core/log.h"
#include "core/vendor.h"

/* exits.c */
/* a triple fault: repeated outside the guest, as without a monitor */
void front_shutdown(struct pcpu *cpu);
/* the processor rejects the guest state: the CPU stops */
void front_invalid(struct pcpu *cpu);
void front_machine_check(struct pcpu *cpu);	/* of a parked CPU, or at an entry into Linux */
/* A fault of the monitor: Linux gets #GP, or its machine check */
void front_fault(struct pcpu *cpu, u64 vector, u64 rip);

void front_call(struct pcpu *cpu);		/* call.c: QV_HC_* */
void front_cpuid(struct pcpu *cpu);		/* core/cpuid.c; VT-x only */
void front_memory(struct pcpu *cpu);		/* memory.c: a nested page fault */
void front_msr(struct pcpu *cpu);		/* msr.c */
void front_port(struct pcpu *cpu);		/* pci.c */

/* touch.c: Linux touched memory that its tables do not map and that is not a device */
void front_touch(struct pcpu *cpu, u64 gpa, bool write);

#endif
