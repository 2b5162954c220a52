/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the core needs of a vendor. svm/ and vmx/ each implement them; the link chooses
 * (law 10). "The guest" is the guest of this CPU.
 */
#ifndef QV_VENDOR_H
#define QV_VENDOR_H

#include "instance.h"

struct guest_mode {		/* paging mode by which the guest translates addresses */
	u64 cr0, cr3, cr4, efer;
	bool long_code;		/* the guest executes 64-bit code: CS.L in long mode */
	bool big_code;		/* CS.D */
	u32 cpl;
	u64 cs_base;
};

/* This CPU leaves Linux: its state becomes the guest's state. Returns 0 or enum qv_mon_error */
u64 vendor_enter(struct pcpu *cpu);
/* This CPU enters the instance whose tables it has just loaded */
void vendor_arrive(struct pcpu *cpu);
/* Makes the guest's present state this CPU's own and continues in it. Only in the front end. */
void vendor_leave(struct pcpu *cpu) __attribute__((noreturn));
/* Clears the MSRs that no guest state covers, since the next guest must not see their values */
void vendor_clear_msrs(void);
/* Returns to Linux as if the trampoline had returned @error at once */
void vendor_back(struct pcpu *cpu, u64 error) __attribute__((noreturn));
/* Takes the pending interrupts, in the monitor's own handlers */
void vendor_take_interrupts(void);
/*
 * Repeats Linux's triple fault on this CPU, outside the guest. The machine goes down as without a
 * monitor.
 */
void vendor_shutdown(void) __attribute__((noreturn));
/* Runs the guest and never returns: exits are handled inside */
void vendor_run(struct pcpu *cpu) __attribute__((noreturn));

/* Functions that set up the state of a new guest, which has no NMI pending */
void vendor_set_park(struct pcpu *cpu, enum cpu_phase phase);	/* @phase: of the CPU from now on */
void vendor_set_sipi(struct pcpu *cpu, u32 vector);
void vendor_set_entry(struct pcpu *cpu, const struct qv_mon_entry *entry);

/* Details of this exit. Each function is valid for its own kind of exit only */
bool vendor_msr_write(const struct pcpu *cpu);		/* true: WRMSR; false: RDMSR */
/* guest-physical address of the nested fault */
u64 vendor_memory_access(const struct pcpu *cpu, bool *write);
struct port_access {
	u32 port, size;		/* size: 1, 2, 4 bytes */
	u32 len;		/* length of the instruction that exited, in bytes */
	bool in;
	bool plain;		/* true: the instruction is neither INS nor OUTS */
};
void vendor_port_access(const struct pcpu *cpu, struct port_access *a);

/* These functions read and change the guest during an exit */
void vendor_mode(const struct pcpu *cpu, struct guest_mode *mode);
u64 vendor_rip(const struct pcpu *cpu);
u64 vendor_idt_base(const struct pcpu *cpu);
/* code of the exit, for the log and failure records */
u64 vendor_exit_code(const struct pcpu *cpu);
void vendor_skip(struct pcpu *cpu, u32 len);
/* RFLAGS: the bits of @mask become @flags */
void vendor_set_flags(struct pcpu *cpu, u64 mask, u64 flags);
/* injects an NMI, which stays pending while the guest handles another one */
void vendor_inject_nmi(struct pcpu *cpu);
void vendor_inject_fault(struct pcpu *cpu, u32 vector);	/* 6: #UD, 13: #GP(0) */
/* Copies the instruction bytes that the processor saved at this exit. Returns how many, or 0 */
u32 vendor_bytes(const struct pcpu *cpu, u8 *bytes);
void vendor_record(const struct pcpu *cpu, struct qv_mon_failure *f);

/* Continues in @to with another instance's tables and stack */
void vendor_move(u64 cr3, u64 stack, void (*to)(struct pcpu *), struct pcpu *cpu)
	__attribute__((noreturn));

#endif
