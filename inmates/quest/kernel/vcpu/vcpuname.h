/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers by which a program knows its VCPUs: the kernel's ids, except for VCPUs that came
 * along when the program moved (move.h), which keep the numbers that the program has. Plain data.
 */
#ifndef QUEST_VCPUNAME_H
#define QUEST_VCPUNAME_H

#define VCPUNAMES	32		/* of one program: for its own and inherited VCPUs */

struct process;

struct vcpuname {
	int name;			/* 0: free entry; VCPU 0 always has its id */
	int id;				/* -1: the VCPU does not exist any longer */
};

/* Returns the id behind `name`. */
int vcpuname_id(const struct process *p, int name);

/* Returns a name for VCPU `id`, which was just created: usually `id`. */
int vcpuname_of_new(struct process *p, int id);

/* VCPU `name` was destroyed. */
void vcpuname_drop(struct process *p, int name);

/* VCPU `was` has id `is` now (-1: it is gone), and keeps its name. */
void vcpuname_move(struct process *p, int was, int is);

#endif
