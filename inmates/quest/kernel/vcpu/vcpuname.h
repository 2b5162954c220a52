/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers (names) by which a program identifies its VCPUs. A name is normally the kernel's id.
 * When a program moves with its VCPUs (move.h), their ids change, and their names stay the same.
 * Plain data.
 */
#ifndef QUEST_VCPUNAME_H
#define QUEST_VCPUNAME_H

/* largest number of names of one program, for its own and inherited VCPUs */
#define VCPUNAMES	32

struct process;

struct vcpuname {
	/* 0: free entry, since the name of VCPU 0 is always its id */
	int name;
	int id;				/* -1: the VCPU does not exist any longer */
};

/*
 * Returns the id of the VCPU with name `name`; -1 if no VCPU has that name. After a move, the id of
 * a VCPU may equal the name that another VCPU had: that name does not identify it.
 */
int vcpuname_id(const struct process *p, int name);

/* Returns a name for VCPU `id`, which was just created: usually `id`. */
int vcpuname_of_new(struct process *p, int id);

/* Call it when VCPU `name` was destroyed. */
void vcpuname_drop(struct process *p, int name);

/*
 * Call it when the id of a VCPU changes from `was` to `is` (-1: the VCPU no longer exists). Its
 * name stays.
 */
void vcpuname_move(struct process *p, int was, int is);

#endif
