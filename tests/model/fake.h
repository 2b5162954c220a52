/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine in a process. The monitor's own code runs here unchanged, at its own addresses. A file
 * in memory is the RAM. A privileged instruction faults, and the signal handler carries out the
 * instruction.
 */
#ifndef FAKE_H
#define FAKE_H

#include <setjmp.h>
#include "core/instance.h"

#define FAKE_RAM	(256u << 20)
/* physical address of the block of the front end's instance */
#define FAKE_BLOCK	(64u << 20)
#define FAKE_CPUS	4u
#define FAKE_ECAM	0xb0000000ull	/* physical address of PCI config space, for 4 buses */
#define FAKE_ECAM_LEN	(4u << 20)

#define FAKE_VECTORS	0x40001230u	/* addresses of entry points, as in the image's header */
#define FAKE_VECTOR_REST 0x40005678u

extern u8 *fake_ram;			/* the whole RAM, mapped for the tests */
u64 fake_word(u64 pa);			/* 8 bytes of it; fails the test if they are outside */
extern u32 fake_levels;			/* levels of paging, 4 or 5: set before fake_open() */
extern u32 fake_ept;			/* nested tables are EPT: set before fake_open() */
extern u64 fake_ram_end;		/* end of RAM in the boot data; may be above FAKE_RAM */
extern u32 fake_ipi_direct;		/* .ipi_direct in the boot data */

/* The state after enable: the front end's instance exists, and its CPUs run under it. */
void fake_open(bool x2apic, bool assists);
/* Calls QV_IOMMU_TAKE until it is done, as the driver does. Returns its result */
u64 fake_take(struct pcpu *cpu);
extern void (*fake_between)(void);	/* called before each of these calls; may be NULL */
/* Turns the instance into a cell, with another id, other tables, and no state of Linux. */
void fake_become_cell(void);

/* Called for each IPI that is sent (a write of the x2APIC ICR). Tests may replace it. */
extern void (*fake_ipi)(u32 low, u32 apic_id);
/* APIC ids of the CPUs that do not answer commands */
extern u64 fake_stuck;
/* CMD_* bits: while one of them is pending, a CPU of the front end does not answer. */
extern u32 fake_deaf;
/* The default of fake_ipi: the other CPUs take their commands by the code of commands.c. */
void fake_answer(u32 low, u32 apic_id);

/*
 * From now on, time advances only when the clock is read, so that no CPU seems late on a busy host.
 */
void fake_time(void);
/*
 * Called at each read of that clock. Acts for other CPUs, and returns for how many cycles more this
 * CPU was held up.
 */
extern u64 (*fake_held_up)(void);

/*
 * Delivers an NMI to a CPU of the front end, or of the cell that QV_VA_MANAGE shows. Returns true
 * if the CPU has moved to the other instance.
 */
bool fake_front_nmi(struct pcpu *cpu);
bool fake_cell_nmi(struct pcpu *cpu);

/*
 * Returns the machine's value of an MSR as msr_read_safe() reads it. For 0xdead.... the access
 * faults.
 */
extern u64 fake_apic_base;		/* IA32_APIC_BASE ... */
extern void (*fake_on_base)(u64 old, u64 value);	/* ... and a write to it; may be NULL */
u64 fake_msr(u32 msr);
extern u64 fake_wrmsr_value;
extern u32 fake_wrmsr_last;
/*
 * The value last written to @msr since fake_num_wrmsrs was set to 0; FAKE_NEVER if there was none.
 */
#define FAKE_NEVER	0xfee1deadfee1deadull
u64 fake_written(u32 msr);
void fake_note_wrmsr(u32 msr, u64 value);
extern u32 fake_num_wrmsrs;

/* I/O ports: the value that each read gives, the port of the last access, the value last written */
extern u32 fake_in, fake_out, fake_port;
/* If this is set, a device answers port accesses; fake_in is the value that it gave. */
extern u32 (*fake_ports)(u32 port, u32 size, bool in, u32 value);

/* Stubs of noreturn functions jump here, and store the function's name in fake_called. */
extern jmp_buf fake_back;
extern const char *fake_called;

/* The instance whose block is at @block_pa, as the tests see it */
const struct instance *fake_instance(u64 block_pa);

#endif
