/* SPDX-License-Identifier: GPL-2.0-only */
/* Ring 3: how a CPU enters it and comes back. Interrupts are off in every call. */
#ifndef QUEST_USER_H
#define QUEST_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/trap.h>

#define SYSCALL_VECTOR	0x100		/* in struct trap_frame: came by SYSCALL */

#define RFLAGS_FIXED	0x002
#define RFLAGS_TRAP	0x100
#define RFLAGS_IF_ON	0x200

struct thread;

/* What the FPU and SSE hold of a thread: AMD64 manual volume 2, section 11.4.4. */
struct fpu_state {
	uint8_t fxsave[512];
} __attribute__((aligned(16)));

/*
 * Enables SYSCALL, which goes to `entry`, SSE, and SMEP, SMAP and UMIP where the CPU has them
 * (CPUID leaf 7: EBX, ECX).
 */
void user_init(void (*entry)(void), uint32_t ebx7, uint32_t ecx7);

/*
 * `next` is about to run instead of `prev`: its address space, its stack for what comes from ring 3,
 * its FPU state. Kernel threads have no FPU state: what is in the registers stays there until another
 * program's thread runs, and is then saved at once (never later, by a trap on its first use: the
 * registers of one program are at no time within reach of another).
 */
void user_switch(const struct thread *next);

/* As at the start of a program: all masked, round to nearest. */
void user_fpu_init(struct fpu_state *f);

/* What the FPU holds of `from`, now. */
void user_fpu_copy(struct fpu_state *to, const struct thread *from);

/* As at the start of a program, for the current thread. */
void user_fpu_reset(struct thread *t);

/* The thread is no more. */
void user_forget(const struct thread *t);

/* Go to ring 3; `frame` is on the current thread's kernel stack. */
_Noreturn void user_enter(struct trap_frame *frame);

/* The current thread runs without a program from here on. */
void user_leave_space(void);

/* The current space has lost pages. */
void user_flush(void);

#endif
