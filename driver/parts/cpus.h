/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_PARTS_CPUS_H
#define QV_PARTS_CPUS_H

#include <linux/types.h>

struct qv_cell;
struct qv_reply;

bool qv_cpu_in_cell(u32 linux_cpu);		/* callable without qv_lock */
/*
 * Gives all CPUs of @cell to Linux, except lost CPUs. Returns a CPU that Linux refused to bring
 * online, or -1.
 */
int qv_cpus_give(struct qv_cell *cell);

/* Returns whether a program has a SCHED_DEADLINE thread */
bool qv_cpus_have_deadlines(void);

/* ---- cpu_refusal.c ---- */

#define QV_CPU_REMEDY	128
/*
 * Refuses since remove_cpu() returned @error. @has_deadlines: a program has a SCHED_DEADLINE
 * thread. Returns an errno
 */
int qv_refuse_cpu(struct qv_reply *r, u32 cpu, int error, bool has_deadlines);
/* Refuses since the CPU is offline; @more ends the sentence. Returns an errno */
int qv_refuse_offline(struct qv_reply *r, u32 cpu, const char *more);
/* Writes @first and the command that brings a CPU online, which has QV_CPU_REMEDY characters */
void qv_cpu_remedy(char *to, size_t size, const char *first, u32 cpu);

#endif
