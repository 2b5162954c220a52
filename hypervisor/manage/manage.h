/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manager. Two invariants hold between any two steps of any call, whatever the front end's
 * other CPUs do meanwhile (tests/prove/prove_manager.c, tests/unit/test_steps.c):
 *
 * 1. Each CPU of the front end is in exactly one of three states:
 *
 *    own     bit set in icr.own_cpus. Linux runs there, and the ICR filter reaches it.
 *    caught  in neither mask. It is parked in the front end's instance. Only CMD_BECOME changes
 *            this. A SIPI does not start it, not even a late SIPI that was sent while the CPU was
 *            own: shared_commands() checks icr.own_cpus itself.
 *    cell    bit set in .away. It was sent to a cell's instance and has not been seen to come back.
 *
 *    A flush covers every CPU that is own or caught. A CPU that comes back drops its translations
 *    when it arrives. So no CPU of the front end's instance ever has a translation to a page that
 *    was taken away before the last flush that succeeded. A CPU acknowledges a flush only between
 *    two exits: after the flush, no CPU still uses a value that it read from icr.own_cpus before.
 *
 * 2. Nothing is read from memory that has been given up: all data of a cell that the manager needs
 *    is in its slot and in slot_request(), both in the manager's own block. Whatever may fail comes
 *    before a page is given up; after that only the slot is written.
 */
#ifndef QV_MANAGE_H
#define QV_MANAGE_H

#include "abi/errors.h"
#include "core/kick.h"
#include "core/lock.h"
#include "core/log.h"
#include "iommu/iommu.h"
#include "mapping.h"
#include "tables/nested.h"

/* The request that created cell @id: the manager's own copy */
static inline struct qv_mon_create *slot_request(u32 id)
{
	return (struct qv_mon_create *)(QV_VA_BLOCK + QV_OFF_REQUESTS + (id - 1) * QV_REQUEST_LEN);
}

/*
 * Calls: rows of the table in calls.c. @id: an existing cell, whose block is open in QV_VA_MANAGE.
 * They return enum qv_mon_error, or a value.
 */
u64 call_create(struct pcpu *cpu, u64 gpa, u64 unused);	/* create.c: the new cell's number */
u64 call_start(struct pcpu *cpu, u64 id, u64 unused);	/* life.c */
u64 call_stop(struct pcpu *cpu, u64 id, u64 unused);
u64 call_reclaim(struct pcpu *cpu, u64 id, u64 unused);	/* clears one piece; 1: call again */
u64 call_lock(struct pcpu *cpu, u64 id, u64 unused);	/* lock.c */
u64 call_doorbell(struct pcpu *cpu, u64 id, u64 unused);	/* bell.c */
u64 call_sample(struct pcpu *cpu, u64 id, u64 index);	/* records a sample of CPU @index */
u64 call_ipi(struct pcpu *cpu, u64 direct, u64 unused);	/* ipi.c */
u64 call_channel(struct pcpu *cpu, u64 pa, u64 unused);	/* parts/channels.c */
u64 call_bell(struct pcpu *cpu, u64 target, u64 unused);	/* channel_bells.c */
u64 call_ring(struct pcpu *cpu, u64 pa, u64 unused);
u64 call_key(struct pcpu *cpu, u64 id, u64 key);	/* parts/channel_keys.c */
u64 call_move(struct pcpu *cpu, u64 id, u64 index);	/* parts/pci.c */

/*
 * Answers the requests of cells for channels at run time, if there may be any and no other CPU is
 * in the manager. Returns false if nothing was posted or another CPU is there, which then answers.
 */
bool posts_serve(struct pcpu *cpu);

/*
 * Returns true if direct IPIs, of Linux or a cell, would void the lock that a cell has or may have.
 * Also true if those of a new cell would reach a cell without direct IPIs. @of_linux, @of_cell,
 * @lock: the request, in addition to the direct IPIs and locks that exist
 */
bool ipi_voids(bool of_linux, bool of_cell, bool lock);	/* ipi.c */
bool cells_locked(void);	/* lock.c: true if a running cell has locked management */

/* channel_records.c */
/* The records in use: those of channels, and of memory that was set aside for one */
#define FOR_EACH_CHANNEL(r) \
	for (r = me()->manager.channels; r < me()->manager.channels + QV_MON_CHANNELS; r++) \
		if (r->is.pa[0])
void channels_lock(const struct pcpu *cpu);	/* until lock_drop(LOCK_CHANNELS) */
/* Returns the record of the channel that begins at @pa, or NULL */
struct channel *channel_at(u64 pa);
/* Returns the index of the end that Linux has, or QV_CHAN_MAX_ENDS without one */
u32 channel_linux(const struct channel *r);
/* Fills the record, which may be @c itself. @page: the description in place of that of @c */
void channel_fill(const struct pcpu *cpu, struct channel *r, const struct qv_mon_channel *c,
		  const struct qv_chan_page *page);
/* No channel is at @pa from now on. 0 frees the record */
void channel_empty(const struct pcpu *cpu, struct channel *r, u64 pa);

/* channel_bells.c. A bell is shut when no CPU can ring it again */
/*
 * The bells of end @end go to @target (0: nowhere) from now on, and the other ends get one each.
 * Waits for the turn of each cell. Only in the manager
 */
void bells_set(struct pcpu *cpu, struct channel *r, u32 end, u64 target);
void bells_shut(struct pcpu *cpu, u64 cpus);	/* shuts all bells to these CPUs of Linux */
/* Cells send their NMIs for requests (posts.c) to this CPU from now on */
void posts_retarget(const struct pcpu *cpu);
void posts_end(u32 id);			/* the cell stops: it has no requests from now on */
/* Another NMI for a request that has been answered comes within this time */
#define POSTS_LATE	((u64)me()->boot.tsc_khz * 1000)

/*
 * cpus.c. @cpus: a mask of the front end's indices; @q: the request of the cell that is being
 * managed. A CPU that does not answer is logged.
 */
/*
 * Sends @cmd to each of @cpus, here a mask of indices in the instance at @block, and waits. Returns
 * those that did not answer, or that are not parked after CMD_CATCH.
 */
u64 cpus_ask(struct pcpu *cpu, u64 block, u64 cpus, u32 cmd);
/* Drops cached translations on every own or caught CPU. Returns false if one did not answer */
bool flush_front_end(struct pcpu *cpu);
/* The same on the CPUs of the managed cell, whose request is @q */
bool cell_flush(struct pcpu *cpu, const struct qv_mon_create *q);
/* own -> caught. False: a CPU did not answer; then call cpus_release() for all of @cpus */
bool cpus_catch(struct pcpu *cpu, u64 cpus);
void cpus_release(u64 cpus);			/* caught -> own */
bool cpus_send(const struct qv_mon_create *q);	/* caught -> cell, the boot CPU last */
/*
 * Stops the cell's CPUs. A CPU that never arrived stays caught. Returns false if a CPU did not
 * answer; it may still run.
 */
bool cpus_stop(struct pcpu *cpu, const struct qv_mon_create *q);
/* cell -> caught. Returns false if a CPU is lost */
bool cpus_return(struct pcpu *cpu, const struct cell_slot *slot, const struct qv_mon_create *q);

#endif
