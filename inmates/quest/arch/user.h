/* SPDX-License-Identifier: GPL-2.0-only */
/* How a CPU enters ring 3 and returns from it. Interrupts are off in every call. */
#ifndef QUEST_USER_H
#define QUEST_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/trap.h>

/* mark in struct trap_frame: the program entered the kernel by SYSCALL */
#define SYSCALL_VECTOR	0x100

#define RFLAGS_FIXED	0x002
#define RFLAGS_TRAP	0x100
#define RFLAGS_IF_ON	0x200

struct thread;

/* The FPU and SSE state of a thread: AMD64 manual volume 2, section 11.4.4. */
struct fpu_state {
	uint8_t fxsave[512];
} __attribute__((aligned(16)));

/*
 * Enables SYSCALL, which goes to `entry`, SSE, and SMEP, SMAP and UMIP where the CPU has them
 * (CPUID leaf 7: EBX, ECX).
 */
void user_init(void (*entry)(void), uint32_t ebx7, uint32_t ecx7);

/*
 * Switches to the address space, the kernel stack and the FPU state of `next`, which runs next.
 * Kernel threads have no FPU state: the registers keep a program's state until another program's
 * thread runs. The registers are saved at that switch, and not later by a trap on their first use.
 * So a program can never read the registers of another program.
 */
void user_switch(const struct thread *next);

/* Sets the state of a program's start: all exceptions masked, round to nearest. */
void user_fpu_init(struct fpu_state *f);

/* Returns the bits of MXCSR that are not reserved: FXRSTOR of others raises #GP. */
uint32_t user_mxcsr_mask(void);

/* Copies the present FPU state of `from`. */
void user_fpu_copy(struct fpu_state *to, const struct thread *from);

/* Gives the current thread the FPU state of a program's start. */
void user_fpu_reset(struct thread *t);

/* Call it when thread `t` has ended. */
void user_forget(const struct thread *t);

/* Enters ring 3. `frame` is on the current thread's kernel stack. */
_Noreturn void user_enter(struct trap_frame *frame);

/* Leaves the address space of the current thread's program permanently. */
void user_leave_space(void);

/* Pages of the current address space were unmapped: flushes the TLB. */
void user_flush(void);

#endif
