/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that only CPUs of cells run: the exit table's column for cells, and the end of a cell. */
#ifndef QV_CELL_SIDE_H
#define QV_CELL_SIDE_H

#include "core/cpu.h"
#include "core/log.h"
#include "core/vendor.h"

/* fail.c: the cell broke a rule. Records this CPU's state, stops all CPUs of the cell */
void cell_fail(struct pcpu *cpu, u32 reason, u64 address);

/* channels.c */
/* Tells the other ends of its channels. Only for a cell with channels */
void cell_channels_failed(struct pcpu *cpu);
/*
 * QV_CALL_BELL: rings the other ends of channel @i, or answers when it may. Returns false if there
 * is no such channel
 */
bool cell_bell(struct pcpu *cpu, u32 i);
/* Begins or ends this CPU's use of targets: of bells, and of NMIs for requests */
void targets_toggle(const struct pcpu *cpu);
/* On the CPU that boots, before its guest runs */
void cell_channels_begin(struct pcpu *cpu);
/*
 * keys.c: QV_CALL_BELL and the calls after it, only for a cell with channels. Returns false if
 * there is no such call, or if this cell may not make it
 */
bool cell_channel_call(struct pcpu *cpu, u32 nr);

/* record.c */
/* Records this CPU's state at the end of the cell. Returns false if another CPU already did */
bool cell_record(struct pcpu *cpu, u32 reason, u64 address);
/* Records this CPU's state for Linux to read; the cell continues */
void cell_sample(struct pcpu *cpu);

/* exits.c */
/* An exit without a row, or a guest state that the processor rejects: the cell fails */
void cell_unknown(struct pcpu *cpu);
void cell_shutdown(struct pcpu *cpu);		/* a triple fault: the cell fails */
/* a machine check: the cell fails, unless this CPU is parked */
void cell_machine_check(struct pcpu *cpu);
void cell_fault(struct pcpu *cpu, u64 vector, u64 rip);	/* a fault of the monitor: the cell fails */

void cell_call(struct pcpu *cpu);		/* call.c: QV_CALL_* */
void cell_cpuid(struct pcpu *cpu);		/* core/cpuid.c */
void cell_memory(struct pcpu *cpu);		/* memory.c: a nested page fault */
void cell_msr(struct pcpu *cpu);		/* msr.c */
void cell_port(struct pcpu *cpu);		/* pci.c: 0xCF8 to 0xCFF, for a cell with devices */
/* pci.c: a write to config space or an MSI-X table. False: @gpa is in neither */
bool cell_pci_store(struct pcpu *cpu, u64 gpa);

#endif
