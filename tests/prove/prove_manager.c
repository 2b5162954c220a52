// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: the invariants of manage/manage.h, of create, start, stop, reclaim and what other CPUs do in any call: a CPU is own, caught, or
 *	with a cell; one that is not own does not run Linux; no CPU runs Linux with a translation to what is hidden;
 *	no block is touched unless the manager's window shows it; after the call each CPU is own or a cell's
 * Bound: any sound state, then one create, start, stop or reclaim; any number of steps of other CPUs between two of the manager's (rely and
 *	guarantee: cases 5 and 6); 3 CPUs, 2 cells of one CPU and 2 pages each
 * Assumed: what prove_request.c, prove_front.c and prove_icr.c prove; an exit of another CPU is one step, but
 *	each IPI that it sends is a step of its own; atomic accesses in one order for all; a CPU in a cell comes home at
 *	any time; a wait that ends without an answer ends at any time
 * Enough: the page that is looked at is any page; CPUs and cells are treated alike; what two other CPUs do, one may
 *	do after the other
 * Code: hypervisor/manage/bell.c hypervisor/manage/calls.c hypervisor/manage/cpus.c hypervisor/manage/create.c hypervisor/manage/life.c
 *	hypervisor/manage/lock.c hypervisor/manage/window.c hypervisor/core/kick.c
 * Options: --unwind 5 --object-bits 12
 * Seconds: 3600
 * Cases: 1 2 3 4 5 6
 * Changed: include/qv/monitor.h: `#define QV_MON_RUNS		1024` -> `#define QV_MON_RUNS		2`: runs
 * Changed: include/qv/monitor.h: `#define QV_MON_CPUS		64` -> `#define QV_MON_CPUS		3`: CPUs
 * Changed: include/qv/monitor.h: `#define QV_MON_CELLS		16` -> `#define QV_MON_CELLS		3`: cells, the front end one of them
 * Changed: include/qv/monitor.h: `#define QV_MON_PORTS		16` -> `#define QV_MON_PORTS		1`: ports
 * Changed: include/qv/monitor.h: `#define QV_MON_DEVICES		8` -> `#define QV_MON_DEVICES		1`: devices
 * Changed: include/qv/monitor.h: `#define QV_MON_RAM_RANGES	64` -> `#define QV_MON_RAM_RANGES	1`: what is not looked at
 * Changed: include/qv/monitor.h: `#define QV_MON_EXITS		16` -> `#define QV_MON_EXITS		1`: the same
 * Changed: include/qv/monitor.h: `#define QV_MON_GUARDS		16` -> `#define QV_MON_GUARDS		1`: the same
 * Changed: include/qv/monitor.h: `#define QV_MON_FIRMWARE_PORTS	16` -> `#define QV_MON_FIRMWARE_PORTS	1`: the same
 * Changed: hypervisor/core/instance.h: `return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);` -> `extern struct instance the_instance; return &the_instance;`: the instance is the proof's
 * Changed: hypervisor/core/instance.h: `return (struct qv_mon_status *)(QV_VA_BLOCK + QV_OFF_STATUS);` -> `extern struct qv_mon_status the_status; return &the_status;`: so is its status
 * Changed: hypervisor/core/instance.h: `return (struct pcpu *)(block + QV_OFF_CPUS + index * QV_CPU_LEN);` -> `extern struct pcpu *a_pcpu(u64, u32); return a_pcpu(block, index);`: so are the CPUs' areas
 * Changed: hypervisor/manage/window.h: `return (struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);` -> `extern struct instance *a_managed(void); return a_managed();`: what the window shows
 * Changed: hypervisor/manage/window.h: `return (struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS);` -> `extern struct qv_mon_status *a_managed_status(void); return a_managed_status();`: what the window shows
 * Changed: hypervisor/manage/manage.h: `return (struct qv_mon_create *)(QV_VA_BLOCK + QV_OFF_REQUESTS + (id - 1) * QV_REQUEST_LEN);` -> `extern struct qv_mon_create requests[]; return &requests[id - 1];`: the requests
 * Changed: hypervisor/manage/window.c: `me()->directory[(va >> 21) & 511] =` -> `extern u64 *a_window(u64); *a_window(va) =`: a window's entry
 * Changed: hypervisor/manage/window.c: `memset((void *)QV_VA_SCRUB, 0, QV_HUGE);` -> `extern void a_scrub(void); a_scrub();`: 2 MiB
 * Changed: hypervisor/manage/create.c: `memset((void *)QV_VA_MANAGE, 0, QV_BLOCK_CELL);` -> `extern void a_clear(void); a_clear();`: a new block
 * Changed: hypervisor/manage/create.c: `memcpy((void *)(QV_VA_MANAGE + QV_OFF_IMAGE), (void *)QV_VA_IMAGE, QV_IMAGE_MAX);` -> ``: the image
 * Changed: hypervisor/manage/create.c: `write_mark(&cell->req, id);` -> ``: the mark
 * Changed: hypervisor/core/kick.c: `vendor_move(cr3, (u64)pcpu_of(index + 1), to, pcpu_of(index));` -> `extern void a_move(void); (void)cr3, (void)index, (void)to; a_move();`: to another instance
 * Changed: hypervisor/core/kick.c: `u64 waited = rdtsc() - start;` -> `u64 waited = ACK_DEADLINE_MS * ms + 1; (void)start;`: each look finds the deadline over: what others do between two looks is one step
 * Changed: hypervisor/core/kick.c: `#define SEND_PATIENCE	10000000` -> `#define SEND_PATIENCE	1`: rounds
 * Changed: hypervisor/core/cpu.h: `asm volatile("rdtsc" : "=a"(lo), "=d"(hi));` -> `extern u32 a_clock(void); lo = a_clock(), hi = 0;`: time
 * Changed: hypervisor/core/kick.c: `__atomic_fetch_and(&target->ack, ~cmd, __ATOMIC_SEQ_CST);` -> `extern void a_step(const void *); a_step(target); target->ack &= ~cmd;`: a step
 * Changed: hypervisor/manage/cpus.c: `__atomic_store_n(&me()->icr.own, own, __ATOMIC_SEQ_CST);` -> `extern void a_step(const void *); a_step(me()); me()->icr.own = own;`: a step
 * Changed: hypervisor/manage/cpus.c: `if (__atomic_fetch_and(&pcpu_of(index)->cmd, ~CMD_BECOME, __ATOMIC_SEQ_CST) & CMD_BECOME)` -> `extern u32 a_fetch_and(u32 *, u32); if (a_fetch_and(&pcpu_of(index)->cmd, ~CMD_BECOME) & CMD_BECOME)`: a step
 * Changed: hypervisor/manage/cpus.c: `__atomic_fetch_and(&home->ack, ~CMD_HOME, __ATOMIC_SEQ_CST);` -> `extern u32 a_fetch_and(u32 *, u32); a_fetch_and(&home->ack, ~CMD_HOME);`: a step
 * Changed: hypervisor/core/cpu.h: `return __atomic_load_n(p, __ATOMIC_ACQUIRE);` -> `extern u32 a_load(const u32 *); return a_load(p);`: a step
 * Changed: hypervisor/core/cpu.h: `return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);` -> `extern u32 a_fetch_or(u32 *, u32); return a_fetch_or(p, v);`: a step
 * Twin: hypervisor/manage/cpus.c: `own_write(me()->icr.own & ~cpus);` -> ``: CPUs stay Linux's while they are caught (case 1)
 * Twin: hypervisor/manage/create.c: `if (!flush_front_end(cpu)) {` -> `if (0) {`: a block is built without a flush (case 1)
 * Twin: hypervisor/manage/create.c: `if (!cpus_catch(cpu, cpus)) {` -> `if (!cpus_catch(cpu, cpus)) { return QV_ME_CPU_STUCK;`: CPUs that a failed create has caught are forgotten (case 1)
 * Twin: hypervisor/manage/cpus.c: `u64 rest = ~(me()->away | 1ull << cpu->index);` -> `u64 rest = me()->icr.own & ~(1ull << cpu->index);`: a flush leaves out caught CPUs (case 2)
 * Twin: hypervisor/manage/life.c: `if (!flush_front_end(cpu))` -> `if (0)`: a cell starts without a flush (case 2)
 * Twin: hypervisor/manage/cpus.c: `me()->away |= 1ull << q->cpus[i];` -> ``: a CPU is sent, and not known to be (case 2)
 * Twin: hypervisor/manage/cpus.c: `kick(pcpu_of(index), CMD_FLUSH);` -> ``: a CPU that was not sent after all keeps old translations (case 3)
 * Twin: hypervisor/manage/life.c: `slot->state = QV_MON_NONE;` -> `if (!flush_front_end(cpu)) return; slot->state = QV_MON_NONE;`: a block is given up, and its cell is not (case 4)
 * Twin: hypervisor/manage/life.c: `log_event(cpu, QV_LOG_RECLAIMED, id, 0);` -> `log_event(cpu, QV_LOG_RECLAIMED, managed()->id, 0);`: a block is read after it was given up (case 4)
 * Twin: hypervisor/manage/life.c: `if (!cpus_home(cpu, slot, q)) {` -> `cpus_home(cpu, slot, q); if (0) {`: memory is given back that a lost CPU reaches (case 4)
 * Twin: hypervisor/core/kick.c: `if (cmd & CMD_SIPI && cpu->phase == CPU_WAIT_SIPI && is_own(cpu)) {` -> `if (cmd & CMD_SIPI && cpu->phase == CPU_WAIT_SIPI) {`: a SIPI starts a caught CPU (case 5)
 * Twin: hypervisor/core/kick.c: `if (cmd & CMD_FLUSH)` -> `if (0)`: a flush is answered and not done (case 5)
 */
#include "manage/manage.h"
#include "cell/cell.h"
#include "core/apic.h"
#include "core/nested.h"
#include "manage/request.h"
#include "core/setup.h"
#include "core/vendor.h"
#include "manage/calls.h"
#include "prove.h"

#pragma CPROVER check push
#pragma CPROVER check disable "pointer"
#pragma CPROVER check disable "pointer-overflow"
#pragma CPROVER check disable "bounds"
#pragma CPROVER check disable "undefined-shift"

#define NUM		QV_MON_CPUS
#define ALL		((1ull << NUM) - 1)
#define CELL_CPUS	1u
#define PAGES		5u		/* of 2 MiB */
#define CELLS		(QV_MON_CELLS - 1)

enum { CREATE = 1, START, STOP, RECLAIM, ONE_ACTS, TWO_ACT };

struct instance the_instance;
struct qv_mon_status the_status;
struct qv_mon_create requests[CELLS];
static u64 manage_entry, scrub_entry;	/* of the manager's windows */
static struct pcpu cpu0, cpu1, cpu2;	/* objects apart: an index that is not known would be one into all of them */
#define cpu_at(i)	(*((i) == 0 ? &cpu0 : (i) == 1 ? &cpu1 : &cpu2))

/* The block in the window */
static struct instance block_instance;
static struct qv_mon_status block_status;
static struct pcpu block_cpu0, block_cpu1;

/* ---- what the code does not have, and the machine does ---- */

static bool there[NUM];			/* in the instance of its cell, or on the way */
static bool cached[NUM];		/* may have a translation to the watched page */
static u64 late[NUM];			/* targets of an icr_write() that are still to be sent to */
static u64 watched;			/* any page of 2 MiB */
static bool hidden;			/* from Linux */
static bool taken;			/* by this call */
static u32 owner;			/* when the call began: cell, or 0 */
static bool alone;			/* nothing happens between steps */
static u32 acting;

static bool runs(u32 i)
{
	return !there[i] && cpu_at(i).phase == CPU_RUNNING;
}

static u64 window(u64 va)
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

/* Is the watched page memory of the cell, from the @from-th page on? */
static bool in_runs(const struct qv_mon_create *q, u32 from)
{
	return (!from && q->runs[0].pa == watched) || (from <= 1 && q->num_runs > 1 && q->runs[1].pa == watched);
}

static bool has(u32 id)
{
	const struct cell_slot *s = &the_instance.cells[id];

	return (s->state && s->block_pa == watched) || (s->state >= QV_MON_RUNNING &&
							in_runs(&requests[id - 1], s->reclaimed));
}

/* The cell that has the watched page; 0: Linux */
static u32 owner_now(void)
{
	return has(1) ? 1 : has(2) ? 2 : 0;
}

/* ---- the invariants of manage/manage.h: between any two steps ---- */

#define HOLD(condition, what) do { if (given) ASSUME(condition); else PROVE(condition, what); } while (0)

struct facts {
	u64 own, away, cells;		/* CPUs: of cells */
	u64 begun, running;		/* those of cells that have begun, and run */
	bool building, secret;
};

/* No && and || of calls, and one claim for all: each costs in every step */
static bool one_cpu(u32 i, const struct facts *f)
{
	const struct pcpu *c = &cpu_at(i);
	bool away = f->away >> i & 1, waits = c->phase == CPU_WAIT_SIPI, becomes = c->cmd & CMD_BECOME;
	bool runs = !there[i] && c->phase == CPU_RUNNING;

	return	/* with a cell: one that has begun, and the manager knows */
		(!there[i] || (away && f->begun >> i & 1)) &&
		/* a caught CPU does not run Linux; nor does one that comes back */
		(!runs || f->own >> i & 1 || !(f->cells >> i & 1 || f->building)) && (!away || waits) &&
		/* phases and commands of the front end */
		(waits || c->phase == CPU_RUNNING) &&
		!(c->cmd & ~(CMD_FLUSH | CMD_CATCH | CMD_INIT | CMD_SIPI | CMD_BECOME)) &&
		/* only a CPU that is here is sent, to a cell that has begun; one that came back is here */
		(!becomes || (away && !there[i] && f->running >> i & 1)) &&
		(!(c->ack & CMD_HOME) || (away && !there[i] && !becomes && !cached[i])) &&
		/* what sends IPIs runs Linux; none goes to a CPU with a cell, or caught for one */
		(!late[i] || (runs && !(late[i] & (f->away | f->cells)))) &&
		/* no translation to what is hidden, but the caller's, that drops it when it goes back, and that of a
		 * parked CPU that nothing starts, or that drops it before it starts */
		(!i || !cached[i] || !f->secret || (waits && (!(f->own >> i & 1) || c->cmd & CMD_FLUSH)));
}

static bool at_all_times(void)
{
	const struct cell_slot *a = &the_instance.cells[1], *b = &the_instance.cells[2];
	struct facts f = { .own = the_instance.icr.own, .away = the_instance.away, .cells = a->cpus | b->cpus };
	bool fine;
	u32 i;

	f.begun = (a->state >= QV_MON_RUNNING ? a->cpus : 0) | (b->state >= QV_MON_RUNNING ? b->cpus : 0);
	f.running = (a->state == QV_MON_RUNNING ? a->cpus : 0) | (b->state == QV_MON_RUNNING ? b->cpus : 0);
	f.building = window(QV_VA_MANAGE);
	f.secret = watched == window(QV_VA_MANAGE) || watched == window(QV_VA_SCRUB) || owner_now() || (hidden && owner);
	/* a CPU is own, or one cell's; with a cell only if it is a cell's; what is not Linux's is hidden */
	fine = !((f.own | f.cells) & ~ALL) && !(f.own & f.cells) && !(a->cpus & b->cpus) && !(f.away & ~f.cells) &&
	       (a->state || !a->cpus) && (b->state || !b->cpus) &&
	       a->state <= QV_MON_STOPPED && b->state <= QV_MON_STOPPED && (!f.secret || hidden);
	for (i = 0; i < NUM; i++)
		fine &= one_cpu(i, &f);
	return fine;
}

/* ---- what the other CPUs may do meanwhile, all of them, any number of times ---- */

struct seen {
	u32 phase, cmd, ack;
	u64 late;
	bool there, cached;
};

static struct seen see(u32 i)
{
	return (struct seen){ cpu_at(i).phase, cpu_at(i).cmd, cpu_at(i).ack, late[i], there[i], cached[i] };
}

/* Linux on other CPUs sends these alone */
#define SENT	(CMD_INIT | CMD_SIPI)

static bool may_become(u32 i, const struct seen *a, const struct seen *b)
{
	u64 own = the_instance.icr.own;
	bool mine = own >> i & 1, flushed = ((b->ack & ~a->ack) | (a->cmd & ~b->cmd)) & CMD_FLUSH;
	bool left = a->cmd & ~b->cmd & CMD_BECOME || (a->there && !b->there);

	if (b->cmd & ~a->cmd & ~SENT)			/* only the manager asks for the rest */
		return false;
	if (!i)						/* the caller: it is in its call */
		return b->phase == a->phase && b->there == a->there && b->cached == a->cached &&
		       b->late == a->late && b->cmd == (a->cmd | (b->cmd & SENT)) && b->ack == (a->ack & ~(~b->ack & SENT));
	return /* caught is caught, until it is own */
	       (mine || a->phase != CPU_WAIT_SIPI || b->phase == CPU_WAIT_SIPI) &&
	       (mine || !(b->ack & ~a->ack & CMD_CATCH) || b->phase == CPU_WAIT_SIPI) &&
	       /* it goes to a cell at the manager's word */
	       (!b->there || a->there || (!mine && a->cmd & CMD_BECOME && a->phase == CPU_WAIT_SIPI && !(b->cmd & CMD_BECOME))) &&
	       (!left || b->there || b->ack & CMD_HOME) && !(a->ack & ~b->ack & CMD_HOME) &&
	       (!(b->ack & ~a->ack & CMD_HOME) || a->there || a->cmd & CMD_BECOME) &&
	       /* what is decided is decided by what is own now, and sent before a flush is answered */
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

/* From one step of the manager's to the next */
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

/* ---- what one of them does, once: the monitor's code on that CPU ---- */

/* From run_commands(): the CPU leaves the front end */
void a_move(void)
{
	PROVE(the_instance.away >> acting & 1, "only a CPU that was sent goes");
	PROVE(cpu_at(acting).phase == CPU_WAIT_SIPI && !(the_instance.icr.own >> acting & 1), "and only one that is caught");
	there[acting] = true;
	cached[acting] = false;	/* as it arrives */
}

static void takes(u32 i)
{
	u32 cmd = take_commands(&cpu_at(i));

	acting = i;
	if (cmd)
		run_commands(&cpu_at(i), cmd);
	if (cpu_at(i).flush)			/* at its entry */
		cached[i] = false;
	cpu_at(i).flush = false;
}

static void comes_home(u32 i)
{
	there[i] = cached[i] = false;
	cpu_at(i).phase = CPU_WAIT_SIPI;
	cpu_at(i).ack |= CMD_HOME;
}

static void sends(u32 i, u32 target, bool init)
{
	late[i] &= ~(1ull << target);
	PROVE(!there[target], "nothing that Linux sends reaches a cell's CPU");
	if (any_bool())				/* an NMI, an interrupt */
		kick(&cpu_at(target), init ? CMD_INIT : CMD_SIPI);
}

enum { DECIDES, SENDS, TAKES, TOUCHES, COMES_HOME };

static void acts(u32 i, u32 what, u32 target)
{
	u32 t;

	switch (what) {
	case DECIDES:				/* icr_write(): prove_icr.c says of the targets that they are own */
		if (runs(i) && !late[i])
			late[i] = the_instance.icr.own & any_u64();
		break;
	case SENDS:
		for (t = 0; t < NUM; t++)
			if (t == target && late[i] >> t & 1)
				sends(i, t, any_bool());
		break;
	case TAKES:				/* between two exits */
		if (!there[i] && !late[i])
			takes(i);
		break;
	case TOUCHES:
		if (!runs(i) || late[i])
			break;
		cached[i] |= !hidden;
		break;
	case COMES_HOME:
		if (there[i])
			comes_home(i);
		break;
	}
}

/* Whatever it is: the invariants hold, and it is what the manager reckons with */
static void one_acts(u32 what)
{
	u32 who = any_u32(), target = any_u32(), i;
	struct seen a[NUM], b;

	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++)
		a[i] = see(i);
	for (i = 1; i < NUM; i++)
		if (who == i)
			acts(i, what, target);
	PROVE(at_all_times(), "the invariants hold between any two steps");
	for (i = 0; i < NUM; i++) {
		b = see(i);
		PROVE(may_become(i, &a[i], &b), "as the manager reckons with");
	}
}

/* Any number of them is like one */
static void two_act(void)
{
	struct seen a[NUM], b[NUM], c;
	u32 i;

	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		a[i] = see(i);
		PROVE(may_become(i, &a[i], &a[i]), "nothing may happen");
		any_cpu(i);
	}
	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		b[i] = see(i);
		ASSUME(may_become(i, &a[i], &b[i]));
		any_cpu(i);
	}
	ASSUME(at_all_times());
	for (i = 0; i < NUM; i++) {
		c = see(i);
		ASSUME(may_become(i, &b[i], &c));
		PROVE(may_become(i, &a[i], &c), "two steps are one");
	}
}

/* ---- in place of hardware ---- */

u64 *a_window(u64 va)
{
	PROVE(va == QV_VA_MANAGE || va == QV_VA_SCRUB, "a window that there is");
	step();
	return va == QV_VA_MANAGE ? &manage_entry : &scrub_entry;
}

struct pcpu *a_pcpu(u64 block, u32 index)
{
	if (block == QV_VA_MANAGE) {
		PROVE(window(QV_VA_MANAGE), "the window is open");
		PROVE(index < CELL_CPUS, "a CPU of the cell");
		return index ? &block_cpu1 : &block_cpu0;
	}
	PROVE(index < NUM, "a CPU that there is");
	return &cpu_at(index);
}

static bool in_block(const void *p)
{
	return __CPROVER_same_object(p, &block_cpu0) || __CPROVER_same_object(p, &block_cpu1) ||
	       __CPROVER_same_object(p, &block_status) ||
	       __CPROVER_same_object(p, &block_instance);
}

void a_step(const void *p)
{
	PROVE(!in_block(p) || window(QV_VA_MANAGE), "nothing of the block is touched once it is given up");
	step();
}

u32 a_load(const u32 *p)
{
	a_step(p);
	return *p;
}

u32 a_fetch_or(u32 *p, u32 v)
{
	u32 old;

	a_step(p);
	old = *p;
	*p |= v;
	return old;
}

u32 a_fetch_and(u32 *p, u32 v)
{
	u32 old;

	a_step(p);
	old = *p;
	*p &= v;
	return old;
}

u32 a_clock(void)
{
	return any_u32();
}

struct instance *a_managed(void)
{
	PROVE(window(QV_VA_MANAGE), "the window is open");
	return &block_instance;
}

struct qv_mon_status *a_managed_status(void)
{
	PROVE(window(QV_VA_MANAGE), "the window is open");
	block_status.locked = any_bool();
	block_status.state = any_u32();
	return &block_status;
}

void a_clear(void)
{
	PROVE(window(QV_VA_MANAGE), "the window is open");
	step();
	block_instance.icr.own = 0;
}

void a_scrub(void)
{
	step();
}

void front_hole(const struct paging *p, u64 pa)
{
	(void)p;
	step();
	if (pa == watched) {
		PROVE(!owner_now(), "what is another's is not taken");
		taken = hidden = true;
	}
}

void front_unhole(const struct paging *p, u64 pa)
{
	(void)p;
	step();
	if (pa == watched) {
		PROVE(taken || owner == 1, "only the cell's own is given back");
		PROVE(watched != window(QV_VA_MANAGE) && watched != window(QV_VA_SCRUB), "the monitor has done with it");
		hidden = false;
	}
}

void front_open(const struct paging *p, u64 pa, u64 table)
{
	(void)p, (void)table;
	step();
	PROVE(pa != watched || hidden, "a hole is opened");
}

void apic_send(u32 low, u32 apic_id)
{
	(void)low, (void)apic_id;
}

void log_event(const struct pcpu *cpu, u32 what, u64 a, u64 b)
{
	(void)cpu, (void)what, (void)a, (void)b;
}

void apic_drain(void) { }
void apic_hand_over(void) { }
void clear_registers(void) { }
void vendor_set_park(struct pcpu *cpu) { (void)cpu; }
void vendor_set_sipi(struct pcpu *cpu, u32 vector) { (void)cpu, (void)vector; }
void vendor_set_entry(struct pcpu *cpu, const struct qv_mon_entry *e) { (void)cpu, (void)e; }
void vendor_inject_nmi(struct pcpu *cpu) { (void)cpu; }
void vendor_arrive(struct pcpu *cpu) { (void)cpu; }
bool cell_record(struct pcpu *cpu, u32 reason, u64 a) { (void)cpu, (void)reason, (void)a; return any_bool(); }

/* ---- what other proofs say, and what may fail ---- */

static u64 failure(void)
{
	return any_bool() ? 0 : QV_ME_TABLES;
}

u64 pool_take(struct page_pool *pool) { (void)pool; return any_u64(); }
int paging_map(const struct paging *p, u64 a, u64 pa, u64 len, u64 f) { (void)p, (void)a, (void)pa, (void)len, (void)f; return failure(); }
int setup_tables(struct instance *inst) { (void)inst; return failure(); }
void setup_rebase(struct instance *inst) { (void)inst; }
u64 guest_init(struct instance *inst, u64 va) { (void)inst, (void)va; return failure(); }
int pci_map_cell(struct pcpu *cpu, struct instance *cell) { (void)cpu, (void)cell; return failure(); }
bool pci_still_ours(const struct qv_mon_create *q) { (void)q; return any_bool(); }
bool pci_still_there(struct pcpu *cpu, const struct qv_mon_create *q) { (void)cpu, (void)q; return any_bool(); }
void pci_take(const struct qv_mon_create *q, bool take) { (void)q, (void)take; }
void pci_begin(struct pcpu *cpu, const struct instance *cell) { (void)cpu, (void)cell; }
void pci_quiet(struct pcpu *cpu, const struct qv_mon_create *q) { (void)cpu, (void)q; }
bool request_pages_ok(const struct instance *i, u64 pa, u64 len, u32 level) { (void)i, (void)pa, (void)len, (void)level; return any_bool(); }

static bool is_page(u64 pa)
{
	return pa && !(pa & (QV_HUGE - 1)) && pa / QV_HUGE <= PAGES;
}

static bool well_formed(const struct qv_mon_create *q)
{
	return q->num_cpus == CELL_CPUS && q->cpus[0] < NUM && q->bell_rate && q->num_runs == QV_MON_RUNS &&
	       is_page(q->block_pa) && is_page(q->runs[0].pa) && is_page(q->runs[1].pa) &&
	       q->runs[0].pa < q->runs[1].pa && q->runs[0].count == 1 && q->runs[1].count == 1 &&
	       q->runs[0].pa != q->block_pa && q->runs[1].pa != q->block_pa;
}

bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len)
{
	struct qv_mon_create *q = &the_instance.req;
	u32 i;

	(void)cpu, (void)to, (void)gpa, (void)len;
	q->block_pa = any_u64();
	q->num_cpus = CELL_CPUS, q->num_runs = QV_MON_RUNS;
	q->bell_rate = any_u32();
	for (i = 0; i < QV_MON_CPUS; i++)
		q->cpus[i] = any_u32();
	for (i = 0; i < QV_MON_RUNS; i++)
		q->runs[i].pa = any_u64(), q->runs[i].count = 1;
	return any_bool();
}

u64 request_check(const struct instance *inst, u32 caller)
{
	if (any_bool())
		return QV_ME_CPUS;
	ASSUME(well_formed(&inst->req));
	ASSUME(!(mask_of(&inst->req) & ~inst->icr.own) && !(mask_of(&inst->req) >> caller & 1));
	ASSUME(!owner || (inst->req.block_pa != watched && !in_runs(&inst->req, 0)));
	return QV_ME_OK;
}

bool request_run_ok(const struct instance *inst, const struct qv_mon_run *r)
{
	(void)inst;
	return (!owner || r->pa != watched) && any_bool();
}

/* ---- a state between two calls: any that is sound, before; a sound one again, after ---- */

static void sound_cell(u32 id, bool given)
{
	const struct cell_slot *s = &the_instance.cells[id];
	const struct qv_mon_create *q = &requests[id - 1];

	if (!s->state)
		return;
	HOLD(well_formed(q), "the request stays");
	HOLD(s->block_pa == q->block_pa && !(s->cpus & ~mask_of(q)), "block and CPUs are those of the request");
	HOLD(s->state == QV_MON_STOPPED || s->cpus == mask_of(q), "it has its CPUs until it has stopped");
	HOLD(s->state == QV_MON_STOPPED || !s->reclaimed, "memory goes back when it was stopped");
	HOLD(s->reclaimed <= q->num_runs, "no more than there is");
	HOLD(s->state != QV_MON_CREATED || !(s->cpus & the_instance.away), "a cell without CPUs yet");
	HOLD(!s->reclaimed || !(s->cpus & the_instance.away), "nor any more");
}

static void sound_cpu(u32 i, bool given)
{
	const struct pcpu *c = &cpu_at(i);
	bool own = the_instance.icr.own >> i & 1;

	HOLD(own == !((the_instance.cells[1].cpus | the_instance.cells[2].cpus) >> i & 1), "no CPU is forgotten");
	HOLD(!(the_instance.away >> i & 1) || there[i] || c->cmd & CMD_BECOME || c->ack & CMD_HOME, "away is somewhere");
	HOLD(own || c->phase == CPU_WAIT_SIPI, "a CPU that is not own is parked");
	HOLD(!(late[i] & ~the_instance.icr.own), "Linux sends to own CPUs");
	HOLD(!cached[i] || !hidden || there[i] || (i && c->phase == CPU_WAIT_SIPI && c->cmd & (CMD_BECOME | CMD_FLUSH)),
	     "no translation to what is hidden");
}

static void sound(bool given)
{
	u32 id, i;

	HOLD(at_all_times(), "the invariants hold");
	for (id = 1; id <= CELLS; id++)
		sound_cell(id, given);
	for (i = 0; i < NUM; i++)
		sound_cpu(i, given);
	HOLD(!has(1) || !has(2), "a page has one owner");
	HOLD(hidden == !!owner_now(), "hidden is what cells have");
	HOLD(!window(QV_VA_MANAGE) && !window(QV_VA_SCRUB), "the windows are closed");
	HOLD(!the_instance.busy, "the call has ended");
}

static void any_cell(u32 id)
{
	struct cell_slot *s = &the_instance.cells[id];
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
	for (i = 0; i < QV_MON_CPUS; i++)
		q->cpus[i] = any_u32();
	for (i = 0; i < QV_MON_RUNS; i++)
		q->runs[i].pa = any_u64(), q->runs[i].count = 1;
}

static void any_state(void)
{
	u32 i;

	the_instance.boot.num_cpus = the_instance.icr.num = NUM;
	the_instance.boot.tsc_khz = 1;
	the_instance.icr.own = any_u64();
	the_instance.away = any_u64();
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

static u64 call(u64 nr, u64 a)
{
	u64 result;

	owner = 0;
	sound(true);
	ASSUME(!there[0] && cpu_at(0).phase == CPU_RUNNING && !late[0] && the_instance.icr.own & 1);
	owner = owner_now();
	result = hypercall(&cpu0, nr, a);
	if (cpu_at(0).flush)
		cached[0] = false;
	sound(false);
	return result;
}

int main(void)
{
	u64 own, result;

	any_state();
	own = the_instance.icr.own;
	switch (CASE) {
	case CREATE:
		result = call(QV_HC_CREATE, 0);
		PROVE(result <= CELLS || the_instance.icr.own == own, "what was taken is put back");
		break;
	case START:
		call(QV_HC_START, 1);
		break;
	case STOP:
		call(QV_HC_STOP, 1);
		break;
	case RECLAIM:
		call(QV_HC_RECLAIM, 1);
		break;
	case ONE_ACTS:
		alone = true;
		one_acts(any_u32());
		break;
	case TWO_ACT:
		two_act();
		break;
	}
	return 0;
}
