// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: a request for a cell that request_check() accepts is sound. Each of its pages is RAM of
 *	the front end, listed once, and no console page of another cell. Its console pages overlap
 *	no other page of the request. Its CPUs are the front end's own, each listed once, without
 *	the caller. No port of its list belongs to another cell
 * Bound: any request with up to 3 runs of any place and length, 3 CPUs, 2 ports; 2 other cells; RAM
 *	in up to 2 ranges below 32 MiB
 * Assumed: front_owner() gives the owner of each page (see prove_front.c); ports_claimed(),
 *	ports_never() and the checks of devices and channels are proven or tested elsewhere
 * Enough: a run is compared with the run before, with the block and with the console pages, by
 *	rules that do not depend on the number of runs; 32 MiB hold all relative positions of three
 *	runs, a block and console pages
 * Code: hypervisor/manage/request.c hypervisor/manage/pages.c hypervisor/manage/parts.c
 *	hypervisor/manage/parts/memory.c hypervisor/manage/parts/ports.c
 * Options: --unwind 6 --unwindset front_owns.0:18,any_machine.1:17
 * Seconds: 900
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RUNS		1024` ->
 *	`#define QV_MON_RUNS		3`: runs
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CPUS	64` ->
 *	`#define QV_MAX_CPUS	3`: CPUs
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CELLS	15` ->
 *	`#define QV_MAX_CELLS	2`: cells
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_PORTS	16` ->
 *	`#define QV_MAX_PORTS	2`: ports
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CHANNELS	16` ->
 *	`#define QV_MAX_CHANNELS	1`: channels, whose part has other tests
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_WITH	8` ->
 *	`#define QV_MAX_WITH	1`: not used by the proof
 * Changed: include/qv/channel.h: `#define QV_CHAN_MAX_ENDS	9u` ->
 *	`#define QV_CHAN_MAX_ENDS	2u`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_CHANNELS		32` ->
 *	`#define QV_MON_CHANNELS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RAM_RANGES	64` ->
 *	`#define QV_MON_RAM_RANGES	2`: ranges of RAM
 * Changed: hypervisor/manage/pages.c: `inst->manager.cells[i].q->console_pa` ->
 *	`({ extern u64 consoles[]; consoles[i]; })`: the console pages of other cells
 * Mutation: hypervisor/manage/parts/memory.c: `if (r->pa < after || !run_ok(inst, r) ||` ->
 *	`if (!run_ok(inst, r) ||`: a page may be listed twice
 * Mutation: hypervisor/tables/nested.h: `len <= end - pa` -> `len <= end`: a run may
 *	end beyond RAM
 * Mutation: hypervisor/manage/parts/ports.c: `if (ports_claimed(` ->
 *	`if (!i && ports_claimed(`: the second port of the list is not checked
 * Mutation: hypervisor/manage/request.c: `seen & (~inst->icr.own_cpus | 1ull << caller)` ->
 *	`seen & 1ull << caller`: a CPU of another cell is accepted
 */
#include "abi/errors.h"
#include "core/ports.h"
#include "tables/nested.h"
#include "manage/part.h"
#include "manage/request.h"
#include "prove.h"

#define PAGES	16u			/* existing pages of 2 MiB */
#define CONSOLE	(8ull * QV_PAGE)

static struct instance inst;
u64 consoles[QV_INSTANCES];
static u32 owners[PAGES];		/* enum front_owner of each page of 2 MiB */

enum front_owner front_owner(const struct paging *p, u64 pa, u32 level)
{
	(void)p;
	PROVE(level == 1 || !(pa % QV_HUGE), "a whole page is asked for");
	return pa / QV_HUGE < PAGES ? owners[pa / QV_HUGE] : FRONT_HOLE;
}

int front_prepare(const struct paging *p, u64 pa, u64 len)
{
	(void)p, (void)pa, (void)len;
	return any_bool() ? 0 : -1;
}

/*
 * The checks of ports and devices may have any result. One port, any port, belongs to another cell.
 */
static u32 claimed;
bool ports_claimed(const struct instance *i, u32 first, u32 last)
{
	(void)i;
	return (first <= claimed && claimed <= last) || any_bool();
}
bool ports_never(const struct qv_mon_boot *b, u32 first, u32 last)
{
	(void)b, (void)first, (void)last;
	return any_bool();
}
static u64 any_error(struct pcpu *c, const struct instance *i, const struct qv_mon_create *q)
{
	(void)c, (void)i, (void)q;
	return any_bool() ? 0 : QV_ME_BASE + 1;
}

const struct part part_pci = { .try = { [PART_CHECK] = any_error, [PART_PREPARE] = any_error } };
const struct part part_channels = {
	.try = { [PART_CHECK] = any_error, [PART_PREPARE] = any_error },
};
const struct part part_dma = { .try = { [PART_PREPARE] = any_error } };

static bool in_ram(u64 pa, u64 len)
{
	u32 i;

	for (i = 0; i < QV_MON_RAM_RANGES && i < inst.boot.num_ram; i++)
		if (pa >= inst.boot.ram[i].start && pa + len <= inst.boot.ram[i].end)
			return true;
	return false;
}

static bool overlap(u64 a, u64 a_len, u64 b, u64 b_len)
{
	return a + a_len > b && b + b_len > a;
}

/* Returns how often the request lists the page at @pa. */
static u32 claims(const struct qv_mon_create *q, u64 pa)
{
	u32 i, n = pa == q->block_pa;

	for (i = 0; i < QV_MON_RUNS && i < q->num_runs; i++)
		n += pa >= q->runs[i].pa && (pa - q->runs[i].pa) / QV_HUGE < q->runs[i].count;
	return n;
}

static void any_machine(void)
{
	u32 i;

	inst.boot.num_cpus = any_u32();
	inst.boot.num_ram = any_u32();
	inst.icr.own_cpus = any_u64();
	ASSUME(inst.boot.num_cpus <= QV_MAX_CPUS && inst.boot.num_ram <= QV_MON_RAM_RANGES);
	for (i = 0; i < QV_MON_RAM_RANGES; i++) {
		u64 start = any_u64(), end = any_u64();

		ASSUME(start <= end && end <= PAGES * QV_HUGE && !(start % QV_PAGE) &&
		       !(end % QV_PAGE));
		inst.boot.ram[i].start = start;
		inst.boot.ram[i].end = end;
	}
	for (i = 0; i < PAGES; i++)
		owners[i] = any_u32() % 3;
	for (i = 1; i < QV_INSTANCES; i++) {
		inst.manager.cells[i].state = any_u32() % 3;
		consoles[i] = any_u64();
		ASSUME(!inst.manager.cells[i].state || in_ram(consoles[i], CONSOLE));
	}
}

static void any_request(struct qv_mon_create *q)
{
	u32 i;

	q->block_pa = any_u64(), q->console_pa = any_u64();
	q->num_cpus = any_u32(), q->num_runs = any_u32(), q->num_ports = any_u32();
	q->doorbell_vector = any_u32();
	q->bell_rate = any_u32();
	q->entry.eip = any_u32(), q->entry.ebx = any_u32();
	for (i = 0; i < QV_MON_RUNS; i++)
		q->runs[i].pa = any_u64(), q->runs[i].count = any_u64();
	for (i = 0; i < QV_MAX_CPUS; i++)
		q->cpus[i] = any_u32();
	for (i = 0; i < QV_MAX_PORTS; i++)
		q->ports[i].first = any_u32(), q->ports[i].last = any_u32();
}

int main(void)
{
	const struct qv_mon_create *q = &inst.req;
	u64 page = any_u64() % PAGES * QV_HUGE;
	u32 caller = any_u32(), i = any_u32(), k = any_u32();

	claimed = any_u32();
	any_machine();
	any_request(&inst.req);
	ASSUME(caller < inst.boot.num_cpus);
	if (request_check(&inst, caller))
		return 0;

	PROVE(q->num_runs <= QV_MON_RUNS && q->num_cpus && q->num_cpus <= QV_MAX_CPUS &&
	      q->num_ports <= QV_MAX_PORTS, "numbers");
	if (claims(q, page)) {
		PROVE(claims(q, page) == 1, "no page is listed twice");
		PROVE(owners[page / QV_HUGE] == FRONT_OWNS, "it belongs to the front end");
		PROVE(in_ram(page, QV_HUGE), "it is RAM");
		PROVE(!overlap(page, QV_HUGE, q->console_pa, CONSOLE), "it is not the console");
		for (u32 c = 1; c < QV_INSTANCES; c++)
			PROVE(!inst.manager.cells[c].state ||
			      !overlap(page, QV_HUGE, consoles[c], CONSOLE),
			      "nor another cell's console");
	}
	for (u32 p = 0; p < QV_MAX_PORTS; p++)
		PROVE(p >= q->num_ports || claimed < q->ports[p].first ||
		      claimed > q->ports[p].last, "a port has one owner");
	ASSUME(i < q->num_runs);
	PROVE(!(q->runs[i].pa % QV_HUGE) && q->runs[i].pa < PAGES * QV_HUGE &&
	      q->runs[i].count <= PAGES - q->runs[i].pa / QV_HUGE, "all of a run is memory");
	PROVE(!(q->block_pa % QV_HUGE) && in_ram(q->console_pa, CONSOLE), "block and console page");
	ASSUME(k < q->num_cpus);
	PROVE(q->cpus[k] < inst.boot.num_cpus && (inst.icr.own_cpus >> q->cpus[k] & 1) &&
	      q->cpus[k] != caller,
	      "a CPU of the front end");
	PROVE(!k || q->cpus[k] != q->cpus[k - 1], "each once");
	PROVE(q->bell_rate >= 1 && q->bell_rate <= 1000, "a rate, and no division by zero");
	PROVE(!q->doorbell_vector || (q->doorbell_vector >= 32 && q->doorbell_vector <= 255),
	      "a vector");
	return 0;
}
