/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part is a kind of resource that a cell has: memory, PCI functions, ports, channels. Each part
 * is one file in parts/ and one row of the table in parts.c. create.c, start and destroy in life.c
 * name no part: they call one verb after another for the whole table, in its order. A part leaves
 * out the verbs that it has no use for. Documentation/how-to/parts.md tells how to add a part.
 *
 * Not parts:
 * - CPUs (cpus.c). They execute what all other parts rely on. They are caught at create, before the
 *   first flush. They are sent to the cell after all parts have begun, stop before all parts stop,
 *   return before the first page is given back, and are Linux's after the last. A loop would
 *   need them at both ends.
 * - The block (create.c, life.c). It is the instance, not what the instance has.
 * - An IOMMU. It belongs to the machine: linux_memory() and acts of parts change its tables.
 *
 * A resource with two owners, as a channel: its record says who uses it, and clear() of the last
 * user gives it back. A change while a cell runs is a row of its own in the table of calls.
 */
#ifndef QV_PART_H
#define QV_PART_H

#include "abi/errors.h"
#include "core/instance.h"

/* Verbs that may fail. They return QV_ME_OK or enum qv_mon_error; the first error ends the loop */
enum part_try {
	/* create: checks that @q is valid, alone and against all slots. Changes nothing */
	PART_CHECK,
	/* create: makes the front end's tables, so that acts cannot fail. Changes no permission */
	PART_PREPARE,
	/* create: puts the part into the tables and maps of the new instance, managed() */
	PART_MAP,
	/* start: checks that Linux owns it. If two cells list a page, the first to start gets it */
	PART_STILL_OURS,
	/* start, after PART_TAKE and the flush, when Linux cannot change it: checks it again */
	PART_STILL_THERE,
	PART_TRIES
};

/* Verbs that cannot fail */
enum part_act {
	/* slot->taken is 1 during PART_TAKE, and 0 during PART_UNTAKE and PART_GIVE */
	PART_TAKE,	/* start: takes the part from Linux, until PART_GIVE or PART_UNTAKE */
	PART_UNTAKE,	/* start has failed after PART_TAKE: gives the part back */
	PART_BEGIN,	/* start, past the point of no return. The cell's CPUs start afterwards */
	PART_STOP,	/* stop: the cell's CPUs have stopped, except those that do not answer */
	PART_GIVE,	/* destroy of a cell that was started: called once, after all of clear() */
	PART_ACTS
};

struct part {
	/* @inst: the front end's instance, which has the slots */
	u64 (*try[PART_TRIES])(struct pcpu *cpu, const struct instance *inst,
				const struct qv_mon_create *q);
	void (*act[PART_ACTS])(struct pcpu *cpu, struct cell_slot *slot,
			       const struct qv_mon_create *q);
	/* create: the largest number of pages of tables that PART_MAP needs */
	u64 (*tables)(const struct qv_mon_create *q);
	/*
	 * Destroy of a cell that was started; its CPUs have returned. Clears one piece, gives it
	 * back and returns true. Returns false if no piece is left.
	 */
	bool (*clear)(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q);
};

extern const struct part part_dma;	/* call_move() begins it again */

/* parts.c: the verbs for all parts */
u64 parts_try(enum part_try verb, struct pcpu *cpu, const struct instance *inst,
	      const struct qv_mon_create *q);
void parts_act(enum part_act verb, struct pcpu *cpu, struct cell_slot *slot,
	       const struct qv_mon_create *q);
u64 parts_tables(const struct qv_mon_create *q);	/* the sum */
/* one piece */
bool parts_clear(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q);

#endif
