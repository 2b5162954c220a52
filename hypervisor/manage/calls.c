// SPDX-License-Identifier: GPL-2.0-only
/* The hypercalls of the driver, one row each. */
#include "abi/calls.h"
#include "calls.h"
#include "manage.h"

/* A CPU outside the monitor can touch all memory, so none may leave while there are cells */
static u64 call_leave(struct pcpu *cpu, u64 a, u64 b)
{
	u32 i;

	for (i = 1; i < QV_INSTANCES; i++)
		if (me()->manager.cells[i].state)
			return QV_ME_STATE;
	me()->manager.left |= 1ull << cpu->index;	/* from now on no cell is created */
	return QV_ME_OK;
}

static u64 call_note(struct pcpu *cpu, u64 what, u64 b)
{
	if (what < QV_NOTE_PANIC || what > QV_NOTE_POWER_OFF)
		return QV_ME_CALL;
	log_event(cpu, QV_LOG_LINUX_ENDS, what, 0);
	bells_shut(cpu, ~0ull);
	return QV_ME_OK;
}

static u64 call_reset_held(struct pcpu *cpu, u64 a, u64 b)
{
	u32 i;

	for (i = 0; i < me()->boot.num_cpus; i++)
		my_status()->cpus[i].held_max = my_status()->cpus[i].call_max = 0;
	return QV_ME_OK;
}

static u64 call_nop(struct pcpu *cpu, u64 a, u64 b)
{
	return QV_ME_OK;
}

enum {
	/* this call never returns QV_ME_BUSY: Linux may be going down, or hold raw locks */
	AT_ONCE		= 1 << 0,
	/* argument a is a cell, whose block is open in QV_VA_MANAGE */
	CELL		= 1 << 1,
	/* with CELL: a is a cell | a number << 8, such as the index of its CPU; this becomes b */
	CELL_AND	= 1 << 2,
	/* the call returns QV_ME_LOCKED if a running cell has locked management */
	LOCKABLE	= 1 << 3,
	/* no QV_ME_LOCKED if the cell of the call has already lost memory */
	RESUMES		= 1 << 4,
};

static const struct call {
	u32 flags;
	u64 (*run)(struct pcpu *cpu, u64 a, u64 b);
} calls[] = {
	[QV_HC_NOP]		= { AT_ONCE,			call_nop },
	[QV_HC_LEAVE]		= { LOCKABLE,			call_leave },
	[QV_HC_CREATE]		= { LOCKABLE,			call_create },
	[QV_HC_START]		= { LOCKABLE | CELL,		call_start },
	[QV_HC_STOP]		= { LOCKABLE | CELL,		call_stop },
	[QV_HC_RECLAIM]		= { LOCKABLE | CELL | RESUMES,	call_reclaim },
	[QV_HC_DOORBELL]	= { CELL,			call_doorbell },
	[QV_HC_RESET_HELD]	= { 0,				call_reset_held },
	[QV_HC_LOCK]		= { CELL,			call_lock },
	[QV_HC_NOTE]		= { AT_ONCE,			call_note },
	/* QV_HC_FAULT comes here only if tests have not enabled it: front_call() */
	[QV_HC_SAMPLE]		= { CELL | CELL_AND,		call_sample },
	[QV_HC_IPI]		= { 0,				call_ipi },
	[QV_HC_CHANNEL]		= { 0,				call_channel },
	[QV_HC_BELL]		= { AT_ONCE,			call_bell },
	[QV_HC_RING]		= { AT_ONCE,			call_ring },
	[QV_HC_KEY]		= { CELL | CELL_AND,		call_key },
	[QV_HC_IOMMU]		= { 0,				call_iommu },
	[QV_HC_MOVE]		= { LOCKABLE | CELL | CELL_AND,	call_move },
};
_Static_assert(sizeof(calls) / sizeof(calls[0]) == QV_HC_COUNT, "the last row is the last call");

static u64 call_run(const struct call *call, struct pcpu *cpu, u64 a)
{
	u64 id = call->flags & CELL_AND ? a & 0xff : a, result;
	bool exists = id && id < QV_INSTANCES && me()->manager.cells[id].state;
	bool resumes = call->flags & RESUMES && exists && me()->manager.cells[id].reclaimed;

	if (call->flags & LOCKABLE && !resumes && cells_locked())
		return QV_ME_LOCKED;
	if (!(call->flags & CELL))
		return call->run(cpu, a, 0);
	if (!exists)
		return QV_ME_INSTANCE;
	mapping_set(QV_VA_MANAGE, me()->manager.cells[id].block_pa);
	result = call->run(cpu, id, a >> 8);
	mapping_set(QV_VA_MANAGE, 0);
	return result;
}

u64 hypercall(struct pcpu *cpu, u64 nr, u64 a)
{
	u64 result;

	if (nr >= QV_HC_COUNT || !calls[nr].run)
		return QV_ME_CALL;
	if (calls[nr].flags & AT_ONCE)
		return calls[nr].run(cpu, a, 0);
	/* one CPU at a time carries out a call, or answers requests of cells: posts.c */
	if (!lock_take(cpu, LOCK_MANAGER, 1))
		return QV_ME_BUSY;
	result = call_run(&calls[nr], cpu, a);
	lock_drop(LOCK_MANAGER);
	posts_serve(cpu);
	return result;
}
