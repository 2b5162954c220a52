/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of qvrace share: main.c says what it is for. */
#ifndef QVRACE_H
#define QVRACE_H

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <asm/asm.h>
#include "core/instance.h"

#define KICK		0x6b63696b	/* what the kicker stores */
#define SECRET		0x5ec2e75e	/* what a cell has in its memory */
#define CODE		0x100000	/* where its code lies there */
#define STORES		0x180000	/* in its first 2 MiB: from here on the kicker stores */
#define CANARY_LEN	0x10000		/* of its second 2 MiB, full of SECRET */
#define PATIENCE_S	30
#define VECTOR_KICKER	0x10		/* pages below 1 MiB that no other part of Linux uses */
#define VECTOR_CHECK	0x11
#define RAN		0x100		/* in such a page: counts up while a CPU runs there */
#define INIT		0x4500
#define SIPI		0x4600
#define LOGICAL		0x800

/* main.c: parameters, and what was taken from Linux */
extern u64 block;
extern unsigned int cpus[4], num_cpus, meddling_lives;
extern struct qv_mon_create *req, *other;	/* what the runner asks for, and the kicker */
extern struct page *huge[4], *window;	/* ascending: block, memory, memory, the kicker's block */
extern char __iomem *apic_page;		/* NULL in x2APIC mode */
extern unsigned long away;		/* Linux's CPUs that are offline, and not about to come */

u64 hypercall(u64 nr, u64 a);
u64 manage(u64 nr, u64 a);		/* the same until the monitor has time */
void good(struct qv_mon_create *q, u32 block_page);	/* a request without flaws */
u32 rnd(u64 *s, u32 below);
__printf(1, 2) void wrong(const char *fmt, ...);	/* only the first one is kept */
extern unsigned long complained;

/* kicker.c */
extern struct mutex acting;		/* held for each act of the kicker's */
extern bool meddle;			/* under acting: the kicker may manage the runner's cell */
extern u32 kicks;
struct task_struct *kicker_start(u64 seed);
void send(u32 dest, u32 low);		/* an interrupt, past all that Linux would check */
void end_cell(u64 id);

/* lives.c */
extern const char qvrace_started[], qvrace_started_end[];	/* what a CPU runs after a SIPI */
extern u32 lives, meddled, refused, log_lost;
void forget(void);			/* what was counted, and what the log says so far */
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
