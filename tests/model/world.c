// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "manage/calls.h"
#include "core/cpu.h"
#include "fake_vendor.h"
#include "request_model.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

#define PATTERN	0x5a

u64 world_call(u64 nr, u64 argument)
{
	return hypercall(pcpu_of(0), nr, argument);
}

u64 world_pages(const struct qv_mon_create *q)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		pages += q->runs[i].count;
	return pages;
}

static u64 page_of(const struct qv_mon_create *q, u64 n)
{
	u32 i;

	for (i = 0; n >= q->runs[i].count; i++)
		n -= q->runs[i].count;
	return q->runs[i].pa + n * QV_HUGE;
}

void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	fake_open(true, true);
}

static void fill(const struct qv_mon_create *q, u8 value)
{
	u64 n;

	for (n = 0; n < world_pages(q); n++)
		memset(fake_ram + page_of(q, n), value, QV_HUGE);
}

static bool all_are(const u8 *p, u8 value)
{
	return p[0] == value && !memcmp(p, p + 1, QV_HUGE - 1);
}

u64 world_create(struct world *w, const struct qv_mon_create *q)
{
	u64 id;

	memcpy(fake_ram + REQUEST_PAGE * QV_HUGE + 0x1f8, q, sizeof(*q));	/* crosses pages */
	id = world_call(QV_HC_CREATE, REQUEST_PAGE * QV_HUGE + 0x1f8);
	if (id > QV_ME_BASE)
		return id;
	if (!CHECK(id && id < QV_INSTANCES && !w->state[id]))
		unit_give_up("an id that is in use");
	w->cell[id] = *q;
	w->state[id] = QV_MON_CREATED;
	w->given_back[id] = 0;
	return id;
}

u64 world_start(struct world *w, u32 id)
{
	u64 error = world_call(QV_HC_START, id);

	CHECK(error != QV_ME_OK || w->state[id] == QV_MON_CREATED);
	if (!error) {
		world_channels_started(w, id);
		w->state[id] = QV_MON_RUNNING;
		fill(&w->cell[id], PATTERN);		/* the inmate writes its secrets */
	}
	return error;
}

u64 world_stop(struct world *w, u32 id)
{
	u64 error = world_call(QV_HC_STOP, id);
	bool stopped = error == QV_ME_OK || error == QV_ME_CPU_LOST;

	CHECK_EQ(stopped, w->state[id] == QV_MON_RUNNING);
	if (stopped)
		w->state[id] = QV_MON_STOPPED;
	return error;
}

u64 world_reclaim(struct world *w, u32 id)
{
	const struct qv_mon_create *q = &w->cell[id];
	u64 result = world_call(QV_HC_RECLAIM, id);

	if (result == 1) {
		u64 n = w->given_back[id]++, pages = world_pages(q);

		CHECK_EQ(w->state[id], QV_MON_STOPPED);
		if (n < pages)
			CHECK(all_are(fake_ram + page_of(q, n), q->debug ? PATTERN : 0));
		else if (CHECK(n - pages < q->num_channels))
			world_channel_left(w, id, n - pages);
	} else if (result == 0) {
		CHECK(w->state[id] == QV_MON_CREATED ||
		      (w->state[id] == QV_MON_STOPPED &&
		       w->given_back[id] == world_pages(q) + q->num_channels));
		CHECK(all_are(fake_ram + q->block_pa, 0));
		w->state[id] = QV_MON_NONE;
	}
	return result;
}

void world_touch(struct world *w, u64 gpa, bool write)
{
	(void)w;
	fake_memory_exit(pcpu_of(0), gpa, write);
}

/* ---- the owner of each page ---- */

enum owner { LINUX, MANAGER, BLOCK, MEMORY };

static enum owner owner(const struct world *w, u64 page, u32 *cell)
{
	u64 pa = page * QV_HUGE, n;

	if (pa >= FAKE_BLOCK && pa < FAKE_BLOCK + QV_BLOCK_FRONT_END)
		return MANAGER;
	for (*cell = 1; *cell < QV_INSTANCES; ++*cell) {
		const struct qv_mon_create *q = &w->cell[*cell];

		if (!w->state[*cell])
			continue;
		if (q->block_pa == pa)
			return BLOCK;
		if (w->state[*cell] == QV_MON_CREATED)
			/* Linux still owns this memory and loads the image into it */
			continue;
		for (n = w->given_back[*cell]; n < world_pages(q); n++)
			if (page_of(q, n) == pa)
				return MEMORY;
	}
	return LINUX;
}

/* The memory type of @pa; RAM is where fake.c reports it. */
u32 world_type_of(u64 pa)
{
	bool ram = (pa >= 0x1000 && pa < 0x9f000) || (pa >= 0x100000 && pa < fake_ram_end);

	return !fake_ept ? LEAF_AS_MTRRS : ram ? LEAF_WB : LEAF_UC;
}

static bool in_own_block(u64 pa)
{
	return pa >= FAKE_BLOCK && pa < FAKE_BLOCK + QV_BLOCK_FRONT_END;
}

/*
 * Checks a translation of @pa, a page that Linux does not own. The page must not be present, or the
 * translation must lead to the page of ones or the sink.
 */
void world_check_denied(const struct leaf *l, u64 pa)
{
	if (!l->present)
		return;
	unit_case("forbidden %#lx leads to %#lx:", pa, l->pa);
	CHECK(in_own_block(l->pa) && l->pa - FAKE_BLOCK >= QV_OFF_CPUS + FAKE_CPUS * QV_CPU_LEN);
	CHECK_EQ(l->type, world_type_of(l->pa));
	CHECK(!l->write || l->pa == (*(u64 *)(fake_ram + me()->front.sink_table) & PT_ADDR));
	if (!l->write)
		CHECK_EQ(*(u64 *)(fake_ram + (l->pa & -4096)), ~0ull);
}

static void check_front_page(const struct world *w, u64 page)
{
	static const u32 offsets[] = { 0, 0x3000, 0xf000, 0x10000, 0x20000, 0x1ff000 };
	u32 cell, i;
	enum owner o = owner(w, page, &cell);

	if (world_hole(w, page * QV_HUGE)) {
		unit_case("channel at %#lx:", page * QV_HUGE);
		CHECK_EQ(o, LINUX);		/* it is no cell's memory at the same time */
		world_channel_front(w, page * QV_HUGE);
		return;
	}
	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		u64 pa = page * QV_HUGE + offsets[i];
		struct leaf l = tables_walk(&me()->nested, pa);
		bool shown = (o == BLOCK || page * QV_HUGE == FAKE_BLOCK) &&
			     offsets[i] < QV_OPEN_LEN;

		if (o == LINUX) {
			unit_case("Linux's page at %#lx:", pa);
			CHECK(!l.present || (l.pa == pa && l.write && l.execute &&
					     l.type == world_type_of(pa)));
		} else if (shown) {
			unit_case("open part at %#lx:", pa);
			CHECK(l.present && l.pa == pa && !l.write && l.type == world_type_of(pa));
		} else {
			world_check_denied(&l, pa);
		}
	}
}

/* ---- a cell's tables ---- */

/* Returns the number of pages in the runs before the ROM */
static u64 ram_pages(const struct qv_mon_create *q)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i + q->rom_runs < q->num_runs; i++)
		pages += q->runs[i].count;
	return pages;
}

static u64 expected(const struct qv_mon_create *q, u64 gpa, bool *write, bool *execute)
{
	u64 page = (gpa - QV_SCREEN_GPA) / QV_PAGE;

	*write = gpa / QV_HUGE < ram_pages(q);
	*execute = true;
	if (gpa < QV_SCREEN_GPA || page >= 8)
		return page_of(q, gpa / QV_HUGE) + gpa % QV_HUGE;
	*execute = false;
	*write = page != 1;
	return page == 1 ? q->runs[0].pa + gpa : q->console_pa + page * QV_PAGE;
}

struct cell_check {
	const struct qv_mon_create *q;
	u64 bytes;
};

static void cell_leaf(void *ctx, u64 gpa, u64 len, const struct leaf *l)
{
	struct cell_check *c = ctx;
	u64 at, step = len > QV_PAGE && gpa >= QV_HUGE ? len - QV_PAGE : QV_PAGE;
	bool write, execute;

	c->bytes += len;
	if (c->q->num_channels && gpa >= QV_CHANNEL_GPA) {
		world_channel_leaf(c->q, gpa, len, l);
		return;
	}
	/* checks all pages, or only the first and the last */
	for (at = 0; at < len; at += step) {
		if (gpa + at >= world_pages(c->q) * QV_HUGE) {
			unit_give_up("a cell reaches beyond its memory");
			return;
		}
		if (l->pa + at == expected(c->q, gpa + at, &write, &execute) && l->write == write &&
		    l->execute == execute && l->type == world_type_of(l->pa))
			continue;
		unit_case("cell's %#lx leads to %#lx:", gpa + at, l->pa + at);
		CHECK_EQ(l->pa + at, expected(c->q, gpa + at, &write, &execute));
		CHECK_EQ(l->write, write);
		CHECK_EQ(l->execute, execute);
		CHECK_EQ(l->type, world_type_of(l->pa));
		return;
	}
}

/* Host tables map only the instance's own block. No page is both writable and executable. */
static void host_leaf(void *ctx, u64 va, u64 len, const struct leaf *l)
{
	const struct instance *inst = ctx;
	u64 block = inst->boot.block_pa, off = l->pa - block;
	bool image = off >= QV_OFF_IMAGE && off < QV_OFF_IMAGE + QV_IMAGE_MAX;

	if (va >= QV_VA_GMEM && va < QV_VA_GMEM + QV_MAX_CPUS * QV_PAGE) {
		CHECK(!l->write && !l->execute && inst->id == 0); /* stays open */
		return;
	}
	unit_case("instance %u, %#lx leads to %#lx:", inst->id, va, l->pa);
	if (va >= QV_VA_LIFE && va < QV_VA_LIFE + QV_MAX_CHANNELS * QV_PAGE) {
		u64 i = (va - QV_VA_LIFE) / QV_PAGE;

		CHECK(inst->id && i < inst->req.num_channels && l->write && !l->execute);
		CHECK_EQ(l->pa, inst->req.channels[i].pa[0]);
		return;
	}
	CHECK(off < inst->boot.block_len && len <= inst->boot.block_len - off);
	CHECK(!(l->write && l->execute));
	CHECK_EQ(l->execute, image && off - QV_OFF_IMAGE < inst->boot.text_len);
	CHECK_EQ(l->write, !image);
	CHECK_EQ(va, image ? QV_VA_IMAGE + off - QV_OFF_IMAGE : QV_VA_BLOCK + off);
}

/* Entry points of interrupts, and the stack of a double fault: APM vol. 2, 8.9.1 and 12.2.5 */
static void check_entries(const struct instance *inst)
{
	const u8 *block = fake_ram + inst->boot.block_pa;
	u32 i, k, area;
	u64 rest = 0, ist;

	for (i = 0; i < 256; i++) {
		const u8 *gate = inst->idt + 16 * i;
		u64 at = gate[0] | gate[1] << 8 | gate[6] << 16 | (u64)gate[7] << 24;

		for (k = 8; k < 16; k++)
			rest |= gate[k];
		unit_case("instance %u, vector %u:", inst->id, i);
		CHECK_EQ(at, i < 32 ? FAKE_VECTORS + 4 * i : FAKE_VECTOR_REST);
		CHECK_EQ(gate[2] | gate[3] << 8, 0x10);
		CHECK_EQ(gate[4], i == 8);
		CHECK_EQ(gate[5], 0x8e);
	}
	CHECK_EQ(rest, 0);
	for (i = 0; i < inst->boot.num_cpus; i++) {
		area = QV_OFF_CPUS + i * QV_CPU_LEN;
		memcpy(&ist, block + area + CPU_OFF_TSS + 0x24, 8);
		CHECK_EQ(ist, QV_VA_BLOCK + area + 0x2000);
	}
}

/* A waiting CPU executes one read-only page of its own, with `1: hlt; jmp 1b` at 0. */
static void park_leaf(void *ctx, u64 gpa, u64 len, const struct leaf *l)
{
	const struct instance *inst = ctx;

	CHECK(gpa == 0 && len == QV_PAGE && !l->write && l->execute);
	CHECK_EQ(l->type, world_type_of(l->pa));
	CHECK_EQ(l->pa, inst->boot.block_pa + QV_OFF_INSTANCE +
		 __builtin_offsetof(struct instance, park_code));
	CHECK(!memcmp(inst->park_code, "\xf4\xeb\xfd", 3));
}

static void check_shape(const struct instance *inst)
{
	CHECK_EQ(inst->nested.ept, fake_ept);
	CHECK_EQ(inst->park.ept, fake_ept);
	CHECK_EQ(inst->host.ept, 0);
	CHECK_EQ(inst->nested.levels, inst->boot.nested_levels);
	tables_each(&inst->park, park_leaf, (void *)inst);
}

static void check_cell(const struct world *w, u32 id)
{
	const struct instance *inst = fake_instance(w->cell[id].block_pa);
	struct cell_check c = { .q = &w->cell[id] };

	unit_case("cell %u:", id);
	CHECK_EQ(inst->id, id);
	CHECK_EQ(inst->icr.own_cpus, (1ull << c.q->num_cpus) - 1);
	CHECK(tables_inside(&inst->nested, c.q->block_pa, QV_BLOCK_CELL));
	CHECK(tables_inside(&inst->host, c.q->block_pa, QV_BLOCK_CELL));
	tables_each(&inst->nested, cell_leaf, &c);
	CHECK_EQ(c.bytes, world_pages(c.q) * QV_HUGE + world_channel_bytes(c.q));
	tables_each(&inst->host, host_leaf, (void *)inst);
	check_entries(inst);
	check_shape(inst);
	CHECK(!memcmp(fake_ram + c.q->block_pa + QV_OFF_IMAGE, (void *)QV_VA_IMAGE, QV_IMAGE_MAX));
}

void world_check(const struct world *w)
{
	u64 own = (1ull << FAKE_CPUS) - 1, page;
	u32 id, k;

	for (page = 0; page < WORLD_PAGES; page++)
		check_front_page(w, page);
	for (id = 1; id < QV_INSTANCES; id++) {
		unit_case("cell %u:", id);
		CHECK_EQ(me()->manager.cells[id].state, w->state[id]);
		if (!w->state[id])
			continue;
		check_cell(w, id);
		for (k = 0; k < w->cell[id].num_cpus; k++)
			own &= ~(1ull << w->cell[id].cpus[k]);
	}
	unit_case("the manager:");
	CHECK_EQ(me()->icr.own_cpus, own);
	CHECK_EQ(me()->locks[LOCK_MANAGER], 0);
	tables_each(&me()->host, host_leaf, me());
	check_entries(me());
	check_shape(me());
}

void world_simple_request(struct qv_mon_create *q)
{
	memset(q, 0, sizeof(*q));
	q->block_pa = 10 * (u64)QV_HUGE;
	q->console_pa = 0x180000;
	q->num_cpus = 2;
	q->cpus[0] = 3;
	q->cpus[1] = 1;
	q->num_runs = 2;
	q->runs[0] = (struct qv_mon_run){ 11 * (u64)QV_HUGE, 3 };
	q->runs[1] = (struct qv_mon_run){ 40 * (u64)QV_HUGE, 2 };
	q->doorbell_vector = 0x20;
	q->bell_rate = 10;
	q->entry.eip = 0x100000;
}

void world_other_request(struct qv_mon_create *q)
{
	world_simple_request(q);
	q->block_pa = 50 * (u64)QV_HUGE;
	q->console_pa = 0x190000;
	q->num_cpus = 1;
	q->cpus[0] = 2;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ 60 * (u64)QV_HUGE, 3 };
}

void world_request(struct qv_mon_create *q, struct choices *c)
{
	u64 page = 2 + choose(c, WORLD_PAGES - 20);
	u32 i;

	memset(q, 0, sizeof(*q));
	q->block_pa = choose(c, WORLD_PAGES) * QV_HUGE;
	q->console_pa = choose(c, 4) ? choose(c, WORLD_PAGES) * QV_HUGE + choose(c, 504) * QV_PAGE :
		       0x100000 + choose(c, 8) * 8 * QV_PAGE;
	q->num_cpus = 1 + choose(c, 2);
	q->cpus[0] = 1 + choose(c, FAKE_CPUS - 1);
	q->cpus[1] = 1 + choose(c, FAKE_CPUS - 1);
	q->num_runs = 1 + choose(c, 3);
	for (i = 0; i < q->num_runs; i++) {
		q->runs[i] = (struct qv_mon_run){ page * QV_HUGE, 1 + choose(c, 3) };
		page += q->runs[i].count + choose(c, 4);
	}
	q->doorbell_vector = 0x20;
	q->bell_rate = 10;
	q->entry.eip = 0x100000;
	world_channels_request(q, c);
	q->debug = !choose(c, 4);
	q->standby = choose(c, 4);
	q->rom_runs = choose(c, q->num_runs);
}

void world_step(struct world *w, struct choices *c)
{
	static struct qv_mon_create q;
	u32 id = choose(c, 5);

	switch (choose(c, 12)) {
	case 0: case 1: case 2:
		world_request(&q, c);
		if (!choose(c, 8))
			request_spoil(&q, c);
		world_create(w, &q);
		break;
	case 3: case 4:
		world_start(w, id);
		break;
	case 5:
		world_stop(w, id);
		break;
	case 6: case 7: case 8:
		world_reclaim(w, id);
		break;
	case 9: case 10:
		world_touch(w, choose(c, FAKE_RAM), choose(c, 2));
		break;
	case 11:
		world_channel_return(w, (110 + choose(c, 4)) * (u64)QV_HUGE);
		break;
	}
	world_check(w);
}
