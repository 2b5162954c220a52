// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "core/ports.h"
#include "request_model.h"
#include "unit.h"

#define K4	0x1000ull
#define M2	FRONT_M2
#define G4	0x100000000ull

enum {				/* numbers of 2 MiB pages */
	OWN_BLOCK = 100,	/* the front end's block: two pages */
	CELL_BLOCK = 110, CELL_CONSOLE = 112, CELL_MEMORY = 300, CELL_END = 310,
	ONES = 320,
};

/* The ports that no cell gets, one by one, as in Documentation/reference/ports.md */
static bool never_port(u32 port)
{
	switch (port) {
	case 0x00 ... 0x1f: case 0x20: case 0x21: case 0x2e: case 0x2f: case 0x40 ... 0x43:
	case 0x4e: case 0x4f: case 0x60: case 0x61: case 0x62: case 0x64: case 0x66:
	case 0x70 ... 0x77: case 0x81 ... 0x8f: case 0x92: case 0xa0: case 0xa1:
	case 0xb2: case 0xb3: case 0x604: case 0x605:
	case 0xc0 ... 0xdf: case 0x4d0: case 0x4d1: case 0xcd4 ... 0xcd7: case 0xcf8 ... 0xcff:
		return true;
	}
	return false;
}

/* True for a port of the running cell. The cell lists two ranges, its device has eight ports. */
static bool others_port(u32 port)
{
	return port == 0x80 || (port >= 0x7f8 && port <= 0x7ff) || (port & ~7u) == 0xc000;
}

static bool all_ram(const struct qv_mon_boot *b, u64 pa, u64 len)
{
	u64 end = pa + len;
	u32 i;

	for (; pa < end; pa += K4) {
		for (i = 0; i < b->num_ram; i++)
			if (b->ram[i].start <= pa && pa + K4 <= b->ram[i].end)
				break;
		if (i == b->num_ram)
			return false;
	}
	return true;
}

/* Requests of cell 3, which runs, and of cell 4, which was destroyed */
static struct qv_mon_create running, gone;

static bool in_other_console(const struct instance *inst, u64 pa, u64 len)
{
	u64 at, end = pa + len;
	u32 i;

	for (i = 1; i < QV_INSTANCES; i++)
		for (at = pa; inst->manager.cells[i].state && at < end; at += K4)
			if (at - inst->manager.cells[i].q->console_pa < 8 * K4)
				return true;
	return false;
}

static void machine_tables(struct machine *m)
{
	struct front_model *f = &m->front;
	u32 i;

	front_model_take(f, OWN_BLOCK);
	front_model_take(f, OWN_BLOCK + 1);
	front_model_show(f, OWN_BLOCK);
	front_model_take(f, CELL_BLOCK);
	front_model_show(f, CELL_BLOCK);
	for (i = CELL_MEMORY; i < CELL_END; i++)
		front_model_take(f, i);
	front_model_take(f, ONES);
	front_model_answer(f, ONES);
	/* Linux has touched some places and has not touched others. */
	front_model_touch(f, 0x1234);
	front_model_touch(f, G4 + 5 * M2);
}

void machine_open(struct machine *m, u32 max_leaf)
{
	struct qv_mon_boot *b;
	u32 i;

	m->inst = aligned_alloc(4096, sizeof(*m->inst));
	if (!m->inst)
		unit_give_up("no memory");
	memset(m->inst, 0, sizeof(*m->inst));
	front_model_open(&m->front, 4, max_leaf, max_leaf & 1);
	machine_tables(m);
	b = &m->inst->boot;
	b->num_cpus = m->inst->icr.num = MACHINE_CPUS;
	b->num_ram = 4;
	b->num_firmware_ports = 1;
	b->firmware_ports[0].first = 0x604, b->firmware_ports[0].last = 0x605;
	b->ram[0].start = K4, b->ram[0].end = 0x9f000;
	b->ram[1].start = 0x100000, b->ram[1].end = 0x7ff05000;
	b->ram[2].start = 0x7ff0a000, b->ram[2].end = 0x80000000;
	b->ram[3].start = G4, b->ram[3].end = 5 * G4 / 4 - 0x7000;
	for (i = 0; i < MACHINE_CPUS; i++)
		m->inst->icr.apic_id[i] = 2 * i;
	m->inst->boot.offers_x2apic = 1;
	m->inst->icr.ldr[6] = 0x04;		/* the logical id of CPU 1 in x2APIC mode */
	m->inst->icr.own_cpus = 0xff & ~(1u << 5);	/* CPU 5 belongs to the running cell */
	m->inst->nested = m->front.s.p;
	m->inst->manager.cells[3].state = QV_MON_RUNNING;
	m->inst->manager.cells[3].block_pa = CELL_BLOCK * M2;
	m->inst->manager.cells[3].q = &running;
	running.console_pa = CELL_CONSOLE * M2 + 0x10000;
	ports_stop(m->inst, 0x80, 0x80, true);
	ports_stop(m->inst, 0x7f8, 0x7ff, true);
	ports_stop(m->inst, 0xc000, 0xc007, true);
	/* the slot is free, so its console page has no effect */
	m->inst->manager.cells[4].q = &gone;
	gone.console_pa = 205 * M2;
	for (i = 0; i < FRONT_PAGES; i++)
		m->plain[i] = all_ram(b, i * M2, M2) && !in_other_console(m->inst, i * M2, M2);
	request_good(&m->inst->req);
}

void machine_close(struct machine *m)
{
	front_model_close(&m->front);
	free(m->inst);
}

void request_good(struct qv_mon_create *q)
{
	u32 i;

	memset(q, 0, sizeof(*q));
	q->block_pa = 200 * M2;
	q->console_pa = 201 * M2 + 3 * K4;
	q->num_cpus = 2;
	q->cpus[0] = 3;
	q->cpus[1] = 2;
	q->num_runs = 3;
	q->runs[0] = (struct qv_mon_run){ 202 * M2, 8 };
	q->runs[1] = (struct qv_mon_run){ 400 * M2, 32 };
	q->runs[2] = (struct qv_mon_run){ G4 + 50 * M2, 1 };
	q->num_ports = 2;
	for (i = 0; i < QV_MAX_PORTS; i++)
		q->ports[i].first = q->ports[i].last = 0x2f8;
	q->ports[1].first = 0x3f8, q->ports[1].last = 0x3ff;
	q->doorbell_vector = 0x20;
	q->bell_rate = 10;
	q->entry = (struct qv_mon_entry){ .eip = 0x100000, .eax = 0x36d76289, .ebx = 0x9000 };
}

/* ---- the judge ---- */

/*
 * True if an interrupt for an 8-bit logical id of another CPU would reach a CPU of the cell in
 * x2APIC mode.
 */
static bool judge_names(const struct machine *m, const struct qv_mon_create *q)
{
	u32 bit, i, k, cells = 0, others = 0;

	for (bit = 0; bit < 8; bit++)
		for (i = 0; i < MACHINE_CPUS; i++) {
			bool mine = false;

			for (k = 0; k < q->num_cpus; k++)
				mine |= q->cpus[k] == i;
			if (mine && m->inst->icr.apic_id[i] == bit)
				cells |= 1 << bit;
			if (!mine)
				others |= m->inst->icr.ldr[i];
		}
	return cells & others;
}

/* Marks a 2 MiB page as taken if Linux may give it; @claimed: the pages that are already taken. */
static const char *claim(const struct machine *m, u8 *claimed, u64 page)
{
	if (page >= FRONT_PAGES)
		return "not memory";
	if (m->front.page[page] != PAGE_LINUX)
		return "not Linux's";
	if (!m->plain[page])
		return "not RAM, or the console page of another cell";
	if (claimed[page]++)
		return "given twice";
	return NULL;
}

static const char *judge_console(const struct machine *m, const u8 *claimed, u64 console)
{
	u64 at;

	if (console % K4 || console >= FRONT_PAGES * M2)
		return "console page misplaced";
	for (at = console; at < console + 8 * K4; at += K4) {
		u64 page = at / M2;

		if (page >= FRONT_PAGES || m->front.page[page] != PAGE_LINUX)
			return "console page not Linux's";
		if (claimed[page])
			return "console page in the cell's memory";
	}
	if (!all_ram(&m->inst->boot, console, 8 * K4))
		return "console page not RAM";
	if (in_other_console(m->inst, console, 8 * K4))
		return "console page of another cell";
	return NULL;
}

static const char *judge_memory(const struct machine *m, const struct qv_mon_create *q, u64 *pages)
{
	u8 claimed[FRONT_PAGES] = { 0 };
	const char *why;
	u64 last = 0, k;
	u32 i;

	*pages = 0;
	if (q->block_pa % M2)
		return "block misaligned";
	why = claim(m, claimed, q->block_pa / M2);
	if (why)
		return why;
	if (!q->num_runs || q->num_runs > QV_MON_RUNS)
		return "number of runs";
	for (i = 0; i < q->num_runs; i++) {
		u64 first = q->runs[i].pa / M2;

		if (q->runs[i].pa % M2 || !q->runs[i].count || q->runs[i].count > FRONT_PAGES)
			return "run malformed";
		if (i && first <= last)
			return "runs not ascending";
		for (k = 0; k < q->runs[i].count; k++) {
			why = claim(m, claimed, first + k);
			if (why)
				return why;
		}
		last = first + q->runs[i].count - 1;
		*pages += q->runs[i].count;
	}
	return judge_console(m, claimed, q->console_pa);
}

const char *request_unsound(const struct machine *m, const struct qv_mon_create *q)
{
	const char *why;
	u64 pages;
	u32 i, k;

	if (!q->num_cpus || q->num_cpus > QV_MAX_CPUS)
		return "number of CPUs";
	for (i = 0; i < q->num_cpus; i++) {
		if (q->cpus[i] >= MACHINE_CPUS || q->cpus[i] == MACHINE_CALLER)
			return "CPU does not exist, or is the caller";
		if (!(m->inst->icr.own_cpus >> q->cpus[i] & 1))
			return "CPU foreign";
		for (k = 0; k < i; k++)
			if (q->cpus[k] == q->cpus[i])
				return "CPU twice";
	}
	why = judge_memory(m, q, &pages);
	if (why)
		return why;
	if (q->num_ports > QV_MAX_PORTS)
		return "number of ports";
	for (i = 0; i < q->num_ports; i++)
		if (q->ports[i].first > q->ports[i].last)
			return "ports reversed";
	for (i = 0; i < q->num_ports; i++)
		for (k = q->ports[i].first; k <= q->ports[i].last; k++)
			if (never_port(k) || others_port(k))
				return "a port for no cell, or of another cell";
	if (q->x2apic > 1)
		return "mode of the APICs";
	if (q->x2apic && !m->inst->boot.x2apic &&
	    (!m->inst->boot.offers_x2apic || m->inst->icr.cluster || judge_names(m, q)))
		return "x2APIC mode";
	if (q->bell_rate < 1 || q->bell_rate > 1000)
		return "doorbell rate out of range";
	if (q->standby > 16)
		return "too many restarts";
	if (q->rom_runs >= q->num_runs)
		return "no RAM but a ROM";
	if (q->doorbell_vector && (q->doorbell_vector < 32 || q->doorbell_vector > 255))
		return "doorbell";
	if (q->entry.eip >= pages * M2 || q->entry.ebx >= pages * M2)
		return "entry outside";
	return NULL;
}

void request_model_check(struct machine *m)
{
	const struct qv_mon_create *q = &m->inst->req;
	u32 i, found, next = m->front.s.pool.next;
	u64 error = request_check(m->inst, MACHINE_CALLER), k;
	const char *wrong = request_unsound(m, q);

	CHECK_EQ(m->front.s.pool.next, next);	/* no table is made */
	if (!CHECK_EQ(error != 0, wrong != NULL))
		unit_give_up(wrong ? wrong : "the judge finds no fault");
	if (!error)
		error = request_prepare(m->inst, MACHINE_CALLER);
	for (i = 0; !error && i < q->num_runs; i++)
		for (k = 0; k < q->runs[i].count; k++) {
			u64 pa = q->runs[i].pa + k * M2;

			paging_find(&m->inst->nested, pa, 2, &found);
			CHECK_EQ(found, 2);	/* after that, taking the page cannot fail */
			front_model_check(&m->front, pa + 5);
		}
}

/* ---- random changes ---- */

static u64 some_address(struct choices *c)
{
	static const u64 corners[] = {
		0, K4, 0x9f000 - 8 * K4, 0x9e000, M2, 0x7fe00000,
		0x7fd00000, 0x80000000, G4 - M2, G4, G4 + M2,
		5 * G4 / 4 - M2, 5 * G4 / 4 - 2 * M2, 5 * G4 / 4,
		~0ull, 1ull << 63, -M2, 1ull << 52, 1ull << 47,
		OWN_BLOCK * M2, (OWN_BLOCK - 1) * M2, (OWN_BLOCK + 2) * M2, CELL_BLOCK * M2,
		CELL_CONSOLE * M2, CELL_CONSOLE * M2 + 0x9000, CELL_CONSOLE * M2 + 0x18000,
		CELL_MEMORY * M2, (CELL_MEMORY - 1) * M2,
		(CELL_END - 1) * M2, CELL_END * M2, ONES * M2,
		200 * M2, 201 * M2, 202 * M2, 205 * M2, 209 * M2, 210 * M2, 400 * M2, G4 + 50 * M2,
	};
	u64 at = corners[choose(c, sizeof(corners) / sizeof(corners[0]))];

	switch (choose(c, 6)) {
	case 0: return at + K4 * choose(c, 16);
	case 1: return at - K4 * choose(c, 16);
	case 2: return choose(c, FRONT_PAGES) * M2;
	case 3: return choose(c, FRONT_PAGES * 512) * K4;
	case 4: return at + choose(c, 4096);
	}
	return at;
}

static u64 some_number(struct choices *c)
{
	static const u64 numbers[] = {
		0, 1, 2, 3, 8, 0x80, 0x7f7, 0x800, 0xc000, 0xc008, 16, 17, 31, 32,
		63, 64, 65, 255, 256, 1024, 1025, 0x7fffffff, 0x80000000, 0xffffffff,
		1ull << 43, 1ull << 63, ~0ull,
	};

	return choose(c, 3) ? numbers[choose(c, sizeof(numbers) / sizeof(numbers[0]))] :
			      choose(c, 2000);
}

void request_spoil(struct qv_mon_create *q, struct choices *c)
{
	u32 i;

	switch (choose(c, 19)) {
	case 0: q->block_pa = some_address(c); break;
	case 1: q->console_pa = some_address(c); break;
	case 2: q->num_cpus = some_number(c); break;
	case 3: q->cpus[choose(c, 3)] = some_number(c); break;
	case 4: q->num_runs = some_number(c); break;
	case 5: q->runs[choose(c, 4)].pa = some_address(c); break;
	case 6: q->runs[choose(c, 4)].count = some_number(c); break;
	case 7: q->num_ports = some_number(c); break;
	case 8: q->ports[choose(c, 3)].first = some_number(c); break;
	case 9: q->ports[choose(c, 3)].last = some_number(c); break;
	case 10: *(choose(c, 2) ? &q->doorbell_vector : &q->bell_rate) = some_number(c); break;
	case 17: q->x2apic = choose(c, 3); break;
	case 18: *(choose(c, 2) ? &q->standby : &q->rom_runs) = some_number(c); break;
	case 11: q->entry.eip = choose(c, 2) ? some_address(c) : some_number(c); break;
	case 12: q->entry.ebx = choose(c, 2) ? some_address(c) : some_number(c); break;
	case 13: q->cpus[choose(c, 3)] = choose(c, MACHINE_CPUS + 1); break;
	case 14:	/* single pages, as in a machine with fragmented memory */
		q->num_runs = 1 + choose(c, 16);
		for (i = 0; i < q->num_runs; i++)
			q->runs[i] = (struct qv_mon_run){ (500 + 3 * i) * M2, 1 + choose(c, 3) };
		break;
	case 15:
		q->num_cpus = 1 + choose(c, MACHINE_CPUS);
		for (i = 0; i < q->num_cpus; i++)
			q->cpus[i] = choose(c, MACHINE_CPUS);
		break;
	case 16:
		q->num_runs = 1;
		q->runs[0] = (struct qv_mon_run){ choose(c, FRONT_PAGES) * M2, 1 + choose(c, 600) };
		break;
	}
}
