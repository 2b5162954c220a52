/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers by which a program knows its VCPUs. They are the kernel's ids, but for VCPUs that came along when the
 * program moved (move.h): these keep the numbers that the program has. Plain data.
 */
#ifndef QUEST_VCPUNAME_H
#define QUEST_VCPUNAME_H

#define VCPUNAMES	32		/* that are not ids, of one program: its own, and as many of its parent's */

struct process;

struct vcpuname {
	int name;			/* 0: none; VCPU 0 has always its own */
	int id;				/* -1: that VCPU is no more */
};

/* The id behind `name`. */
int vcpuname_id(const struct process *p, int name);

/* A name for VCPU `id`, just created: usually `id`. */
int vcpuname_of_new(struct process *p, int id);

/* VCPU `name` is gone. */
void vcpuname_drop(struct process *p, int name);

/* What was VCPU `was` is `is` now (-1: gone), by the same name. */
void vcpuname_move(struct process *p, int was, int is);

#endif
