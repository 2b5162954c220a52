/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model that the proofs of manage/ share: the state, its invariants, and the acts that other
 * CPUs may do between two steps.
 *
 * Code: hypervisor/manage/bell.c hypervisor/manage/calls.c hypervisor/manage/cpus.c
 *	hypervisor/manage/create.c hypervisor/manage/ipi.c hypervisor/manage/life.c
 *	hypervisor/manage/lock.c hypervisor/manage/mapping.c hypervisor/manage/parts.c
 *	hypervisor/manage/parts/memory.c hypervisor/core/kick.c hypervisor/core/commands.c
 * Options: --unwind 6 --object-bits 12
 * Seconds: 3600
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RUNS		1024` ->
 *	`#define QV_MON_RUNS		2`: runs
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CPUS	64` ->
 *	`#define QV_MAX_CPUS	3`: CPUs
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CELLS	15` ->
 *	`#define QV_MAX_CELLS	2`: cells
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_PORTS	16` ->
 *	`#define QV_MAX_PORTS	1`: ports
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_DEVICES	8` ->
 *	`#define QV_MAX_DEVICES	1`: devices
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CHANNELS	16` ->
 *	`#define QV_MAX_CHANNELS	1`: channels, whose part has other tests
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_WITH	8` ->
 *	`#define QV_MAX_WITH	1`: not used by the proof
 * Changed: include/qv/channel.h: `#define QV_CHAN_MAX_ENDS	9u` ->
 *	`#define QV_CHAN_MAX_ENDS	2u`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_CHANNELS		32` ->
 *	`#define QV_MON_CHANNELS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RAM_RANGES	64` ->
 *	`#define QV_MON_RAM_RANGES	1`: not used by the proof
 * Changed: include/uapi/linux/qv_report.h: `QV_EXIT_SLOTS = 16,` ->
 *	`QV_EXIT_SLOTS = 1,`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_GUARDS		16` ->
 *	`#define QV_MON_GUARDS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_FIRMWARE_PORTS	16` ->
 *	`#define QV_MON_FIRMWARE_PORTS	1`: not used by the proof
 * Changed: hypervisor/core/instance.h: `return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);`
 *	-> `extern struct instance the_instance; return &the_instance;`: the instance of the proof
 * Changed: hypervisor/core/instance.h:
 *	`return (struct qv_mon_status *)(QV_VA_BLOCK + QV_OFF_STATUS);` ->
 *	`extern struct qv_mon_status the_status; return &the_status;`: the status of the proof
 * Changed: hypervisor/core/instance.h:
 *	`return (struct pcpu *)(block + QV_OFF_CPUS + index * QV_CPU_LEN);` ->
 *	`extern struct pcpu *a_pcpu(u64, u32); return a_pcpu(block, index);`: the CPU areas of the
 *	proof
 * Changed: hypervisor/manage/mapping.h:
 *	`return (struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);` ->
 *	`extern struct instance *a_managed(void); return a_managed();`: the block that is
 *	mapped
 * Changed: hypervisor/manage/mapping.h:
 *	`return (struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS);` ->
 *	`extern struct qv_mon_status *a_managed_status(void); return a_managed_status();`: the block
 *	that is mapped
 * Changed: hypervisor/manage/manage.h: `return (struct qv_mon_create *)(QV_VA_BLOCK +
 *	QV_OFF_REQUESTS + (id - 1) * QV_REQUEST_LEN);` ->
 *	`extern struct qv_mon_create requests[]; return &requests[id - 1];`: the requests
 * Changed: hypervisor/manage/mapping.c: `me()->directory[(va >> 21) & 511] =` ->
 *	`extern u64 *a_mapping(u64); *a_mapping(va) =`: the entry of a mapping
 * Changed: hypervisor/manage/mapping.c: `memset((void *)QV_VA_SCRUB, 0, QV_HUGE);` ->
 *	`extern void a_scrub(void); a_scrub();`: clearing 2 MiB
 * Changed: hypervisor/manage/create.c: `memset((void *)QV_VA_MANAGE, 0, QV_BLOCK_CELL);` ->
 *	`extern void a_clear(void); a_clear();`: clearing a new block
 * Changed: hypervisor/manage/create.c:
 *	`memcpy((void *)(QV_VA_MANAGE + QV_OFF_IMAGE), (void *)QV_VA_IMAGE, QV_IMAGE_MAX);` -> ``:
 *	copying the image
 * Changed: hypervisor/manage/create.c: `write_mark(&cell->req, id);` -> ``: writing the mark
 * Changed: hypervisor/core/commands.c:
 *	`vendor_move(cr3, (u64)pcpu_of(index + 1), to, pcpu_of(index));` ->
 * `extern void a_move(void); (void)cr3, (void)index, (void)to; a_move();`: moving to
 *	another instance
 * Changed: hypervisor/core/kick.c: `u64 waited = rdtsc() - start;` ->
 *	`u64 waited = ACK_DEADLINE_MS * ms + 1; (void)start;`: each look finds the deadline over:
 *	the acts of others between two looks are one step
 * Changed: hypervisor/core/kick.c:
 *	`u64 start = rdtsc(), longest = (u64)me()->boot.tsc_khz * ACK_DEADLINE_MS;` ->
 *	`u64 start = 0, longest = 0;`: the same, for a look at the senders of commands
 * Changed: hypervisor/core/cpu.h: `asm volatile("rdtsc" : "=a"(lo), "=d"(hi));` ->
 *	`extern u32 a_clock(void); lo = a_clock(), hi = 0;`: reading the clock
 * Changed: hypervisor/core/kick.c: `__atomic_fetch_and(&target->ack, ~cmd, __ATOMIC_SEQ_CST);` ->
 *	`extern void a_step(const void *); a_step(target); target->ack &= ~cmd;`: a step
 * Changed: hypervisor/manage/cpus.c:
 *	`__atomic_fetch_and(&me()->icr.own_cpus, ~cpus, __ATOMIC_SEQ_CST);` ->
 *	`extern void a_step(const void *); a_step(me()); me()->icr.own_cpus &= ~cpus;`: a step
 * Changed: hypervisor/manage/cpus.c:
 *	`__atomic_fetch_or(&me()->icr.own_cpus, cpus, __ATOMIC_SEQ_CST);` ->
 *	`extern void a_step(const void *); a_step(me()); me()->icr.own_cpus |= cpus;`: a step
 * Changed: hypervisor/manage/cpus.c:
 *	`if (__atomic_fetch_and(&pcpu_of(index)->cmd, ~CMD_BECOME, __ATOMIC_SEQ_CST) & CMD_BECOME)`
 *	-> `extern u32 a_fetch_and(u32 *, u32); if (a_fetch_and(&pcpu_of(index)->cmd, ~CMD_BECOME) &
 *	CMD_BECOME)`: a step
 * Changed: hypervisor/manage/cpus.c:
 *	`__atomic_fetch_and(&front->ack, ~CMD_RETURN, __ATOMIC_SEQ_CST);`
 *	-> `extern u32 a_fetch_and(u32 *, u32); a_fetch_and(&front->ack, ~CMD_RETURN);`: a step
 * Changed: hypervisor/core/cpu.h: `return __atomic_load_n(p, __ATOMIC_ACQUIRE);` ->
 *	`extern u32 a_load(const u32 *); return a_load(p);`: a step
 * Changed: hypervisor/core/cpu.h: `return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);` ->
 *	`extern u32 a_fetch_or(u32 *, u32); return a_fetch_or(p, v);`: a step
 */
#ifndef MANAGER_MODEL_H
#define MANAGER_MODEL_H

#include "manage/manage.h"
#include "cell/cell.h"
#include "core/apic.h"
#include "manage/part.h"
#include "manage/request.h"
#include "tables/setup.h"
#include "core/vendor.h"
#include "manage/calls.h"
#include "prove.h"

#pragma CPROVER check push
#pragma CPROVER check disable "pointer"
#pragma CPROVER check disable "pointer-overflow"
#pragma CPROVER check disable "bounds"
#pragma CPROVER check disable "undefined-shift"

#define NUM		QV_MAX_CPUS
#define ALL		((1ull << NUM) - 1)
#define CELL_CPUS	1u
#define PAGES		5u		/* of 2 MiB */
#define CELLS		(QV_INSTANCES - 1)

struct instance the_instance;
struct qv_mon_status the_status;
struct qv_mon_create requests[CELLS];
static u64 manage_entry, scrub_entry;	/* the entries of the manager's mappings */
/* These are separate objects: in an array, an unknown index would address all of them. */
static struct pcpu cpu0, cpu1, cpu2;
#define cpu_at(i)	(*((i) == 0 ? &cpu0 : (i) == 1 ? &cpu1 : &cpu2))

/* The mapped block */
static struct instance block_instance;
static struct qv_mon_status block_status;
static struct pcpu block_cpu0, block_cpu1;

/* ---- state of the machine that the code does not record ---- */

static bool there[NUM];		/* the CPU runs in its cell's instance, or is moving there */
static bool cached[NUM];		/* the CPU may have a translation to the watched page */
/* targets to which the CPU's icr_write() has yet to send an IPI */
static u64 late[NUM];
static u64 watched;			/* any page of 2 MiB; the claims are about this page */
static bool hidden;			/* from Linux */
static bool taken;			/* this call has taken the watched page from Linux */
static u32 owner;			/* owner at the beginning of the call: a cell, or 0 */
static bool alone;			/* no other CPU acts between steps */
static u32 acting;

static bool runs(u32 i)
{
	return !there[i] && cpu_at(i).phase == CPU_RUNNING;
}

static u64 mapping(u64 va)
{
	u64 e = va == QV_VA_MANAGE ? manage_entry : scrub_entry;

	return e & PT_P ? e & PT_ADDR & ~(QV_HUGE - 1ull) : 0;
}

static u64 mask_of(const struct qv_mon_create *q)
{
	u64 mask = 0;
	u32 k;

	for (k = 0; k < CELL_CPUS; k++)
		if (k < q->num_cpus)
			mask |= 1ull << q->cpus[k];
	return mask;
}

/* Returns true if the watched page is among the cell's pages from number @from on */
static bool in_runs(const struct qv_mon_create *q, u32 from)
{
	return (!from && q->runs[0].pa == watched) ||
	       (from <= 1 && q->num_runs > 1 && q->runs[1].pa == watched);
}

static bool has(u32 id)
{
	const struct cell_slot *s = &the_instance.manager.cells[id];

	return (s->state && s->block_pa == watched) || (s->state >= QV_MON_RUNNING &&
							in_runs(&requests[id - 1], s->reclaimed));
}

/* Returns the cell that owns the watched page; 0: Linux. */
static u32 owner_now(void)
{
	return has(1) ? 1 : has(2) ? 2 : 0;
}

/* ---- the invariants of manage/manage.h, between any two steps ---- */

#define HOLD(condition, what) \
	do { if (given) ASSUME(condition); else PROVE(condition, what); } while (0)

struct facts {
	u64 own, away, cells;	/* masks of own CPUs, of CPUs with a cell, of all CPUs of cells */
	/* masks of the CPUs of cells that have started, and of cells that run */
	u64 begun, running;
	bool building, secret;
};

/*
 * This is one claim without && or || between function calls, since each of these operators would
 * cost time in every step.
 */
static bool one_cpu(u32 i, const struct facts *f)
{
	const struct pcpu *c = &cpu_at(i);
	bool away = f->away >> i & 1;
	bool waits = c->phase == CPU_WAIT_SIPI, becomes = c->cmd & CMD_BECOME;
	bool runs = !there[i] && c->phase == CPU_RUNNING;

	return	/* if a CPU is with a cell, the cell has started and the manager knows of the CPU */
		(!there[i] || (away && f->begun >> i & 1)) &&
		/* a caught CPU and a CPU that comes back do not run Linux */
		(!runs || f->own >> i & 1 || !(f->cells >> i & 1 || f->building)) &&
		(!away || waits) &&
		/* the phases and commands that the front end uses */
		(waits || c->phase == CPU_RUNNING) &&
		!(c->cmd & ~(CMD_FLUSH | CMD_CATCH | CMD_INIT | CMD_SIPI | CMD_BECOME)) &&
		/*
		 * the manager sends a CPU only from the front end, to a running cell; a CPU that
		 * has returned is in the front end
		 */
		(!becomes || (away && !there[i] && f->running >> i & 1)) &&
		(!(c->ack & CMD_RETURN) || (away && !there[i] && !becomes && !cached[i])) &&
		/*
		 * only CPUs that run Linux send IPIs; no target of an IPI is with a cell, or caught
		 * for a cell
		 */
		(!late[i] || (runs && !(late[i] & (f->away | f->cells)))) &&
		/*
		 * no translation to hidden memory, with two exceptions: the caller drops it when it
		 * returns; a parked CPU is not started, or drops it before it starts
		 */
		(!i || !cached[i] || !f->secret ||
		 (waits && (!(f->own >> i & 1) || c->cmd & CMD_FLUSH)));
}

static bool at_all_times(void)
{
	const struct cell_slot *a = &the_instance.manager.cells[1];
	const struct cell_slot *b = &the_instance.manager.cells[2];
	struct facts f = {
		.own = the_instance.icr.own_cpus, .away = the_instance.manager.away,
		.cells = a->cpus | b->cpus
	};
	bool fine;
	u32 i;

	f.begun = (a->state >= QV_MON_RUNNING ? a->cpus : 0) |
		  (b->state >= QV_MON_RUNNING ? b->cpus : 0);
	f.running = (a->state == QV_MON_RUNNING ? a->cpus : 0) |
		    (b->state == QV_MON_RUNNING ? b->cpus : 0);
	f.building = mapping(QV_VA_MANAGE);
	f.secret = watched == mapping(QV_VA_MANAGE) || watched == mapping(QV_VA_SCRUB) ||
		   owner_now() || (hidden && owner);
	/*
	 * a CPU is own, or belongs to one cell; only CPUs of cells are with a cell; memory of cells
	 * is hidden
	 */
	fine = !((f.own | f.cells) & ~ALL) && !(f.own & f.cells) && !(a->cpus & b->cpus) &&
	       !(f.away & ~f.cells) && (a->state || !a->cpus) && (b->state || !b->cpus) &&
	       a->state <= QV_MON_STOPPED && b->state <= QV_MON_STOPPED && (!f.secret || hidden);
	for (i = 0; i < NUM; i++)
		fine &= one_cpu(i, &f);
	return fine;
}

/* ---- steps that other CPUs may take between two steps of the manager; any number of steps ---- */

struct seen {
	u32 phase, cmd, ack;
	u64 late;
	bool there, cached;
};

static struct seen see(u32 i)
{
	return (struct seen){
		cpu_at(i).phase, cpu_at(i).cmd, cpu_at(i).ack, late[i], there[i], cached[i]
	};
}

/* The only commands that Linux on other CPUs can cause */
#define SENT	(CMD_INIT | CMD_SIPI)

static bool may_become(u32 i, const struct seen *a, const struct seen *b)
{
	u64 own = the_instance.icr.own_cpus;
	bool mine = own >> i & 1, flushed = ((b->ack & ~a->ack) | (a->cmd & ~b->cmd)) & CMD_FLUSH;
	bool left = a->cmd & ~b->cmd & CMD_BECOME || (a->there && !b->there);

	if (b->cmd & ~a->cmd & ~SENT)		/* only the manager sends the other commands */
		return false;
	if (!i)			/* the caller itself is in its call and does not act */
		return b->phase == a->phase && b->there == a->there && b->cached == a->cached &&
		       b->late == a->late && b->cmd == (a->cmd | (b->cmd & SENT)) &&
		       b->ack == (a->ack & ~(~b->ack & SENT));
	return /* a CPU stays caught until it is own again */
	       (mine || a->phase != CPU_WAIT_SIPI || b->phase == CPU_WAIT_SIPI) &&
	       (mine || !(b->ack & ~a->ack & CMD_CATCH) || b->phase == CPU_WAIT_SIPI) &&
	       /* a CPU goes to a cell only by a command of the manager */
	       (!b->there || a->there ||
		(!mine && a->cmd & CMD_BECOME && a->phase == CPU_WAIT_SIPI &&
		 !(b->cmd & CMD_BECOME))) &&
	       (!left || b->there || b->ack & CMD_RETURN) && !(a->ack & ~b->ack & CMD_RETURN) &&
	       (!(b->ack & ~a->ack & CMD_RETURN) || a->there || a->cmd & CMD_BECOME) &&
	       /*
	        * an IPI goes only to CPUs that were own when the sender decided on it; a sender
	        * sends it before it acknowledges a flush
	        */
	       !(b->late & ~a->late & ~own) && !(flushed && b->late & ~own) &&
	       /* translations */
	       (!b->cached || a->cached || (!hidden && (mine || a->phase != CPU_WAIT_SIPI))) &&
	       !((flushed || left) && hidden && b->cached);
}

static void any_cpu(u32 i)
{
	cpu_at(i).phase = any_u32(), cpu_at(i).cmd = any_u32(), cpu_at(i).ack = any_u32();
	late[i] = any_u64();
	there[i] = any_bool(), cached[i] = any_bool();
}

/* Between two steps of the manager, other CPUs act. */
static void step(void)
{
	struct seen a[NUM], b;
	u32 i;

	if (alone)
		return;
	PROVE(at_all_times(), "the invariants hold between any two steps");
	for (i = 0; i < NUM; i++) {
		a[i] = see(i);
		any_cpu(i);
	}
	block_cpu0.ack = any_u32(), block_cpu1.ack = any_u32();
	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		b = see(i);
		ASSUME(may_become(i, &a[i], &b));
	}
}

/* ---- any state ---- */

static bool is_page(u64 pa)
{
	return pa && !(pa & (QV_HUGE - 1)) && pa / QV_HUGE <= PAGES;
}

static void any_cell(u32 id)
{
	struct cell_slot *s = &the_instance.manager.cells[id];
	struct qv_mon_create *q = &requests[id - 1];
	u32 i;

	s->state = any_u32();
	s->reclaimed = any_u32();
	s->block_pa = q->block_pa = any_u64();
	s->cpus = any_u64();
	s->taken = any_bool();
	q->num_cpus = CELL_CPUS, q->num_runs = QV_MON_RUNS;
	q->bell_rate = any_u32();
	q->doorbell_vector = any_u32();
	q->lock = any_u32();
	for (i = 0; i < QV_MAX_CPUS; i++)
		q->cpus[i] = any_u32();
	for (i = 0; i < QV_MON_RUNS; i++)
		q->runs[i].pa = any_u64(), q->runs[i].count = 1;
}

static void any_state(void)
{
	u32 i;

	the_instance.boot.num_cpus = the_instance.icr.num = NUM;
	the_instance.boot.tsc_khz = 1;
	the_instance.icr.own_cpus = any_u64();
	the_instance.manager.away = any_u64();
	for (i = 1; i <= CELLS; i++)
		any_cell(i);
	for (i = 0; i < NUM; i++) {
		cpu_at(i).index = cpu_at(i).apic_id = i;
		cpu_at(i).status = &the_status.cpus[i];
		any_cpu(i);
	}
	block_cpu0.ack = any_u32(), block_cpu1.ack = any_u32();
	manage_entry = any_u64(), scrub_entry = any_u64();
	watched = any_u64();
	hidden = any_bool();
	owner = any_u32();
	ASSUME(is_page(watched));
}

#endif
