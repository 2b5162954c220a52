// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: create, start, stop, reclaim, and the steps of other CPUs in any call, keep the
 *	invariants of manage/manage.h. A CPU is own, caught, or with a cell. Only an own CPU runs
 *	Linux. No CPU runs Linux with a translation to hidden memory. A block is accessed only while
 *	the manager maps it. After the call each CPU is own or belongs to a cell
 * Bound: any sound state, then one create, start, stop or reclaim; any number of steps of other
 *	CPUs between two steps of the manager (rely and guarantee: prove_manager_cpus.c); 3 CPUs, 2
 *	cells of one CPU and 2 pages each
 * Assumed: the claims of prove_request.c, prove_front.c and prove_icr.c. An exit of another CPU is
 *	one step, but each IPI that it sends is a separate step. Atomic accesses have one order for
 *	all CPUs. A CPU in a cell returns at any time. A wait that fails ends at any time. No
 *	cell has channels at run time: posts_serve() and posts_nmi() do nothing
 * Enough: the watched page is any page; CPUs and cells are treated alike; the acts of two other
 *	CPUs may be done by one, in order
 * With: manager_model.h
 * Cases: 1 2 3 4
 * Mutation: hypervisor/manage/cpus.c: `me()->icr.own_cpus &= ~cpus;` -> ``: CPUs remain own while
 *	they are caught (case 1)
 * Mutation: hypervisor/manage/create.c: `if (!flush_front_end(cpu)) {` -> `if (0) {`: a block is
 *	built without a flush (case 1)
 * Mutation: hypervisor/manage/create.c: `if (!cpus_catch(cpu, cpus)) {` ->
 *	`if (!cpus_catch(cpu, cpus)) { return QV_ME_CPU_STUCK;`: a failed create forgets the CPUs
 *	that it caught (case 1)
 * Mutation: hypervisor/manage/cpus.c: `u64 rest = ~(me()->manager.away | 1ull << cpu->index);` ->
 *	`u64 rest = me()->icr.own_cpus & ~(1ull << cpu->index);`: a flush skips caught CPUs (case 2)
 * Mutation: hypervisor/manage/life.c: `if (!flush_front_end(cpu))` -> `if (0)`: a cell starts
 *	without a flush (case 2)
 * Mutation: hypervisor/manage/cpus.c: `me()->manager.away |= 1ull << q->cpus[i];` -> ``: a CPU is
 *	sent but not recorded (case 2)
 * Mutation: hypervisor/manage/cpus.c: `kick(pcpu_of(index), CMD_FLUSH);` -> ``: a CPU whose move
 *	was cancelled keeps old translations (case 3)
 * Mutation: hypervisor/manage/life.c: `slot->state = QV_MON_NONE;` ->
 *	`if (!flush_front_end(cpu)) return; slot->state = QV_MON_NONE;`: a block is given back and
 *	its cell is not (case 4)
 * Mutation: hypervisor/manage/life.c: `log_event(cpu, QV_LOG_RECLAIMED, id, 0);` ->
 *	`log_event(cpu, QV_LOG_RECLAIMED, managed()->id, 0);`: a block is read after it was given
 *	back (case 4)
 * Mutation: hypervisor/manage/life.c: `if (!cpus_return(cpu, slot, q)) {` ->
 *	`cpus_return(cpu, slot, q); if (0) {`: memory is given back while a lost CPU can access it
 *	(case 4)
 */
#include "abi/calls.h"
#include "abi/errors.h"
#include "manager_machine.h"

enum { CREATE = 1, START, STOP, RECLAIM };

/* ---- a request with the properties that prove_request.c proves ---- */

static bool well_formed(const struct qv_mon_create *q)
{
	return q->num_cpus == CELL_CPUS && q->cpus[0] < NUM && q->bell_rate &&
	       q->num_runs == QV_MON_RUNS && is_page(q->block_pa) && is_page(q->runs[0].pa) &&
	       is_page(q->runs[1].pa) && q->runs[0].pa < q->runs[1].pa && q->runs[0].count == 1 &&
	       q->runs[1].count == 1 && q->runs[0].pa != q->block_pa &&
	       q->runs[1].pa != q->block_pa;
}

bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len)
{
	struct qv_mon_create *q = &the_instance.req;
	u32 i;

	(void)cpu, (void)to, (void)gpa, (void)len;
	q->block_pa = any_u64();
	q->num_cpus = CELL_CPUS, q->num_runs = QV_MON_RUNS;
	q->bell_rate = any_u32();
	for (i = 0; i < QV_MAX_CPUS; i++)
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
	ASSUME(!(mask_of(&inst->req) & ~inst->icr.own_cpus));
	ASSUME(!(mask_of(&inst->req) >> caller & 1));
	ASSUME(!owner || (inst->req.block_pa != watched && !in_runs(&inst->req, 0)));
	return QV_ME_OK;
}

u64 request_prepare(const struct instance *inst, u32 caller)
{
	(void)inst, (void)caller;
	return failure();
}

/* ---- soundness: each proof assumes it before a call and proves it after the call ---- */

static void sound_cell(u32 id, bool given)
{
	const struct cell_slot *s = &the_instance.manager.cells[id];
	const struct qv_mon_create *q = &requests[id - 1];

	if (!s->state)
		return;
	HOLD(well_formed(q), "the request does not change");
	HOLD(s->block_pa == q->block_pa && !(s->cpus & ~mask_of(q)),
	     "block and CPUs are those of the request");
	HOLD(s->state == QV_MON_STOPPED || s->cpus == mask_of(q),
	     "it has its CPUs until it has stopped");
	HOLD(s->state == QV_MON_STOPPED || !s->reclaimed, "memory is given back only after a stop");
	HOLD(s->reclaimed <= q->num_runs, "not more pages than it has");
	HOLD(s->state != QV_MON_CREATED || !(s->cpus & the_instance.manager.away),
	     "a cell without CPUs yet");
	HOLD(!s->reclaimed || !(s->cpus & the_instance.manager.away),
	     "a cell without CPUs in it now");
}

static void sound_cpu(u32 i, bool given)
{
	const struct pcpu *c = &cpu_at(i);
	u64 cells = the_instance.manager.cells[1].cpus | the_instance.manager.cells[2].cpus;
	bool own = the_instance.icr.own_cpus >> i & 1;

	HOLD(own == !(cells >> i & 1), "no CPU is forgotten");
	HOLD(!(the_instance.manager.away >> i & 1) || there[i] || c->cmd & CMD_BECOME ||
	     c->ack & CMD_RETURN, "a CPU that is away is with a cell, or on its way");
	HOLD(own || c->phase == CPU_WAIT_SIPI, "a CPU that is not own is parked");
	HOLD(!(late[i] & ~the_instance.icr.own_cpus), "Linux sends to own CPUs");
	HOLD(!cached[i] || !hidden || there[i] ||
	     (i && c->phase == CPU_WAIT_SIPI && c->cmd & (CMD_BECOME | CMD_FLUSH)),
	     "no translation to hidden memory");
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
	HOLD(hidden == !!owner_now(), "exactly the memory of cells is hidden");
	HOLD(!mapping(QV_VA_MANAGE) && !mapping(QV_VA_SCRUB), "the mappings are removed");
	HOLD(!the_instance.locks[LOCK_MANAGER], "the call has ended");
}

static u64 call(u64 nr, u64 a)
{
	u64 result;

	owner = 0;
	sound(true);
	ASSUME(!there[0] && cpu_at(0).phase == CPU_RUNNING && !late[0]);
	ASSUME(the_instance.icr.own_cpus & 1);
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
	own = the_instance.icr.own_cpus;
	switch (CASE) {
	case CREATE:
		result = call(QV_HC_CREATE, 0);
		PROVE(result <= CELLS || the_instance.icr.own_cpus == own,
		      "a failed create returns all CPUs");
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
	}
	return 0;
}
