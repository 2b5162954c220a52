/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine in a process: the monitor's own code runs here, as it is, at its
 * own addresses. A file in memory is the RAM; privileged instructions fault,
 * and the signal handler does what they would have done.
 */
#ifndef FAKE_H
#define FAKE_H

#include <setjmp.h>
#include "core/instance.h"

#define FAKE_RAM	(256u << 20)
#define FAKE_BLOCK	(64u << 20)	/* the first instance's */
#define FAKE_CPUS	4u
#define FAKE_ECAM	0xb0000000ull	/* PCI config space, of 4 buses */
#define FAKE_ECAM_LEN	(4u << 20)

#define FAKE_VECTORS	0x40001230u	/* what the image's head says */
#define FAKE_VECTOR_REST 0x40005678u

extern u8 *fake_ram;			/* all of it, as the tests see it */
extern u32 fake_levels;			/* of paging, before fake_open(): 4 or 5 */
extern u32 fake_ept;			/* nested tables are VT-x's; before fake_open() */
extern u64 fake_ram_end;		/* where the machine says its RAM ends: what is beyond FAKE_RAM
					 * may be asked for, but not touched */

/* As after enable: the front end's instance is there, its CPUs are under it */
void fake_open(bool x2apic, bool assists);
/* As a cell's instance: the id and the tables are different; nothing of Linux's */
void fake_become_cell(void);

/* An IPI on its way: x2APIC ICR writes come here. Replaced by tests that are interested. */
extern void (*fake_ipi)(u32 low, u32 apic_id);
/* CPUs (by APIC id) that do not answer commands */
extern u64 fake_stuck;
/* CMD_*: no CPU of the front end answers while it has one of these */
extern u32 fake_deaf;
/* Other CPUs take their commands as kick.c's run_commands() does; the default of fake_ipi */
void fake_answer(u32 low, u32 apic_id);

/* From now on time goes by with looks at the clock only, so that a busy host makes no CPU late */
void fake_time(void);

/* An NMI comes to a CPU of the front end, or of the cell that QV_VA_MANAGE shows; true: it is in the other instance now */
bool fake_front_nmi(struct pcpu *cpu);
bool fake_cell_nmi(struct pcpu *cpu);

/* MSRs of the machine: what msr_read_safe() finds; 0xdead....: faults */
u64 fake_msr(u32 msr);
extern u64 fake_wrmsr_value;
extern u32 fake_wrmsr_last;
/* What was written last to @msr since fake_num_wrmsrs was set to 0; FAKE_NEVER: nothing */
#define FAKE_NEVER	0xfee1deadfee1deadull
u64 fake_written(u32 msr);
void fake_note_wrmsr(u32 msr, u64 value);
extern u32 fake_num_wrmsrs;

/* I/O ports: what every read gives, where the last access was, what the last write was */
extern u32 fake_in, fake_out, fake_port;
/* Or a device behind them: what it gives is fake_in then */
extern u32 (*fake_ports)(u32 port, u32 size, bool in, u32 value);

/* Where stubs of noreturn functions go; what was called is in fake_called */
extern jmp_buf fake_back;
extern const char *fake_called;

/* Translation by an instance's own tables: host or nested. @block_pa: where its block is */
const struct instance *fake_instance(u64 block_pa);

#endif
