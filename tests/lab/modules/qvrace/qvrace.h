/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of qvrace. main.c describes the module. */
#ifndef QVRACE_H
#define QVRACE_H

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <asm/asm.h>
#include "core/instance.h"

#define KICK		0x6b63696b	/* the kicker stores this value */
#define SECRET		0x5ec2e75e	/* a cell fills its memory with this value */
#define CODE		0x100000	/* address of the cell's code */
#define STORES		0x180000	/* lowest address of the kicker's stores to this memory */
#define CANARY_LEN	0x10000		/* bytes of the cell's second 2 MiB that contain SECRET */
#define PATIENCE_S	30
#define VECTOR_KICKER	0x10		/* pages below 1 MiB that no other part of Linux uses */
#define VECTOR_CHECK	0x11
#define RAN		0x100		/* offset of the CPU's counter in such a page */
#define INIT		0x4500
#define SIPI		0x4600
#define LOGICAL		0x800

/* main.c: parameters, and memory that Linux allocates */
extern u64 block;
extern unsigned int cpus[4], num_cpus, meddling_lives;
extern struct qv_mon_create *req, *other;	/* requests of the runner and of the kicker */
/* huge pages in ascending order: block, memory, memory, the kicker's block, channel */
extern struct page *huge[5], *console;
extern char __iomem *apic_page;		/* the xAPIC page; NULL in x2APIC mode */
extern unsigned long away;	/* CPUs that are offline, and that Linux is not starting now */

u64 hypercall(u64 nr, u64 a);
u64 manage(u64 nr, u64 a);		/* repeats a hypercall while the monitor is busy */
void good(struct qv_mon_create *q, u32 block_page);	/* fills in a valid request for a cell */
u32 rnd(u64 *s, u32 below);
__printf(1, 2) void wrong(const char *fmt, ...);	/* records the first broken invariant */
extern unsigned long complained;

/* kicker.c */
extern struct mutex acting;		/* held during each act of the kicker */
extern bool meddle;		/* protected by `acting`: the kicker may manage the runner's cell */
extern u32 kicks;
struct task_struct *kicker_start(u64 seed);
void send(u32 dest, u32 low);		/* sends an interrupt without any check by Linux */
void end_cell(u64 id);

/* lives.c */
/* the code that a CPU executes after a SIPI */
extern const char qvrace_started[], qvrace_started_end[];
extern u32 lives, meddled, refused, log_lost;
void forget(void);			/* resets the counters and skips all present log entries */
void look_at_log(void);
int run_lives(u64 seed, u32 want_lives, u32 want_kicks);
int begin_cell(void);
void end_and_forge(void);
extern u64 answers[2];
extern u32 damage;

static inline u64 pa(u32 i)
{
	return page_to_phys(huge[i]);
}

static inline const struct qv_mon_status *front_status(void)
{
	return phys_to_virt(block + QV_OFF_STATUS);
}

static inline u32 *ran(u32 vector)
{
	return phys_to_virt(vector << 12 | RAN);
}

#endif
