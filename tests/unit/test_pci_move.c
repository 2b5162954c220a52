// SPDX-License-Identifier: GPL-2.0-only
/* A PCI function moves from a cell that has stopped to its heir. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/cpu.h"
#include "core/pci.h"
#include "fake.h"
#include "manage/calls.h"
#include "pci_world.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

#define FUNCTION	0x28u			/* 00:05.0 */
#define OTHER		0x30u			/* 00:06.0, a function of the heir from the start */
#define BAR		0xfe000000ull
#define OTHER_BAR	0xfe010000ull
#define MASTER		QV_MON_DEVICE_MASTER
#define HEIR		QV_MON_DEVICE_HEIR
#define FIRST		1u			/* numbers of the cells */
#define SECOND		2u
#define MOVE(id, index)	world_call(QV_HC_MOVE, (id) | (u64)(index) << 8)

static struct world w;
static struct qv_mon_create a, b;

static u32 config_get(u32 bdf, u32 reg)
{
	return device_read(pcpu_of(0), FAKE_ECAM + (bdf << 12) + reg);
}

static void config_set(u32 bdf, u32 reg, u32 value)
{
	device_write(pcpu_of(0), FAKE_ECAM + (bdf << 12) + reg, value);
}

static void request(struct qv_mon_create *q, u64 page, u32 cpu, u32 port)
{
	memset(q, 0, sizeof(*q));
	q->block_pa = page * QV_HUGE;
	q->console_pa = (page + 1) * QV_HUGE;
	q->num_cpus = 1;
	q->bell_rate = 10;
	q->cpus[0] = cpu;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ (page + 2) * QV_HUGE, 2 };
	q->entry.eip = 0x100000;
	q->num_ports = 1;
	q->ports[0] = (struct qv_mon_ports){ port, port };
	q->num_devices = 1;
	q->devices[0] = pci_world_device(FUNCTION, BAR);
}

/* The first cell, and its heir, which has another function. Its vector may differ */
static void open_world(void)
{
	memset(&w, 0, sizeof(w));
	world_open(&w);
	pci_world_function(FUNCTION, BAR);
	pci_world_function(OTHER, OTHER_BAR);
	config_set(OTHER, 0x18, 0xd001);
	request(&a, 40, 2, 0x2f8);
	request(&b, 50, 3, 0x3f8);
	b.num_devices = 2;
	b.devices[0] = pci_world_device(OTHER, OTHER_BAR);
	b.devices[0].bars[2].base = 0xd000;
	b.devices[1] = a.devices[0];
	b.devices[1].flags |= HEIR;
	b.devices[1].vector = 0x41;
}

static void both_run(void)
{
	open_world();
	CHECK_EQ(world_create(&w, &a), FIRST);
	CHECK_EQ(world_start(&w, FIRST), 0);
	CHECK_EQ(world_create(&w, &b), SECOND);
	CHECK_EQ(world_start(&w, SECOND), 0);
}

static struct leaf front(u64 pa)
{
	return tables_walk(&me()->nested, pa);
}

static struct leaf leaf_of(const struct qv_mon_create *q, u64 pa)
{
	return tables_walk(&fake_instance(q->block_pa)->nested, pa);
}

static const struct pci_cell *rules_of(const struct qv_mon_create *q)
{
	return &fake_instance(q->block_pa)->cell.pci;
}

/* Linux reaches no part of the function */
static void check_hidden(void)
{
	CHECK(!front(BAR).present && !front(BAR + 0x3000).present);
	CHECK(!front(FAKE_ECAM + (FUNCTION << 12)).present);
	CHECK_EQ(me()->port_map[0xc000 / 8], 0xff);
	CHECK(pci_given(FUNCTION));
}

static void check_linux_has_it(void)
{
	CHECK(front(BAR).present && front(BAR).write);
	CHECK(front(FAKE_ECAM + (FUNCTION << 12)).present);
	CHECK_EQ(me()->port_map[0xc000 / 8], 0);
	CHECK(!pci_given(FUNCTION));
}

/* The function is in the cell's tables as if the cell had had it from its start, or not at all */
static void check_cell(const struct qv_mon_create *q, bool has)
{
	struct leaf config = leaf_of(q, FAKE_ECAM + (FUNCTION << 12));
	bool found = false;
	u64 pa;
	u32 i;

	CHECK(config.present && !config.write && !config.execute);
	if (has)
		CHECK_EQ(config.pa, FAKE_ECAM + (FUNCTION << 12));
	else
		CHECK_EQ(*(u64 *)(fake_ram + config.pa), ~0ull);
	for (pa = BAR; pa < BAR + 0x4000; pa += QV_PAGE) {
		struct leaf l = leaf_of(q, pa);

		CHECK_EQ(l.present, has);
		CHECK(!has || (l.pa == pa && l.write == (pa != BAR + 0x1000) && !l.execute));
	}
	CHECK(!leaf_of(q, BAR + 0x4000).present);
	CHECK_EQ(fake_instance(q->block_pa)->port_map[0xc000 / 8], has ? 0 : 0xff);
	for (i = 0; i < rules_of(q)->num_rules; i++)
		found |= rules_of(q)->rules[i].at >> 12 == FUNCTION;
	CHECK_EQ(found, has);
}

/* In a device the upper half of the command is read-only */
static void stop(u32 id)
{
	CHECK_EQ(world_stop(&w, id), 0);
	config_set(FUNCTION, 4, config_get(FUNCTION, 4) | 1u << 20);
}

static void destroy(u32 id)
{
	if (w.state[id] == QV_MON_RUNNING)
		stop(id);
	while (world_reclaim(&w, id) == 1)
		;
	CHECK_EQ(w.state[id], QV_MON_NONE);
}

static void one_move(void)
{
	u32 other;

	both_run();
	check_hidden();
	check_cell(&a, true);
	check_cell(&b, false);
	/* as if both cells had used their functions */
	config_set(FUNCTION, 4, 1u << 20 | 7);
	config_set(FUNCTION, 0x40, 0x00816005);
	config_set(OTHER, 4, 1u << 20 | 7);
	config_set(OTHER, 0x44, 0xfee06000);
	config_set(OTHER, 0x4c, 0x51);
	other = rules_of(&b)->num_rules;
	stop(FIRST);
	check_hidden();
	check_cell(&b, false);
	CHECK_EQ(config_get(FUNCTION, 4) & 0xffff, 0x400);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_OK);
	check_hidden();
	check_cell(&b, true);
	CHECK_EQ(rules_of(&b)->num_rules, 2 * other);
	CHECK(pcpu_in((u64)(size_t)(fake_ram + b.block_pa), 0)->flush);
	/* its messages interrupt the heir's CPU, whose id is 6, and it is quiet */
	CHECK_EQ(config_get(FUNCTION, 0x44), 0xfee06000);
	CHECK_EQ(config_get(FUNCTION, 0x4c) & 0xffff, 0xff);
	CHECK_EQ(device_read(pcpu_of(0), BAR + 0x1830), 0xfee06000);
	CHECK_EQ(device_read(pcpu_of(0), BAR + 0x183c), 1);
	CHECK_EQ(config_get(FUNCTION, 4) & 0xffff, 0x400);
	/* the heir's other function is not disturbed */
	CHECK_EQ(config_get(OTHER, 4) & 0xffff, 7);
	CHECK_EQ(config_get(OTHER, 0x4c), 0x51);

	destroy(FIRST);
	check_hidden();
	check_cell(&b, true);
	destroy(SECOND);
	check_linux_has_it();
	CHECK_EQ(config_get(FUNCTION, 4) & 0xffff, 0x400);
}

static void moved(void)
{
	for (fake_ept = 0; fake_ept < 2; fake_ept++)
		one_move();
	fake_ept = 0;
}

/* The heir is destroyed first: Linux has the function, and the first cell gives nothing back */
static void heir_first(void)
{
	both_run();
	stop(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_OK);
	destroy(SECOND);
	check_linux_has_it();
	config_set(FUNCTION, 4, 1u << 20 | 7);		/* Linux uses it */
	destroy(FIRST);
	CHECK_EQ(config_get(FUNCTION, 4) & 0xffff, 7);
	check_linux_has_it();
}

/* An heir that has inherited nothing ends without an effect on the function */
static void nothing_inherited(void)
{
	both_run();
	config_set(FUNCTION, 4, 1u << 20 | 7);
	destroy(SECOND);
	CHECK_EQ(config_get(FUNCTION, 4) & 0xffff, 7);
	check_hidden();
	check_cell(&a, true);
	destroy(FIRST);
	check_linux_has_it();
}

/* The first cell begins again and waits; then it gets the function back */
static void there_and_back(void)
{
	both_run();
	stop(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_OK);
	destroy(FIRST);
	CHECK_EQ(world_create(&w, &a), QV_ME_DEVICE_TAKEN);
	a.devices[0].flags |= HEIR;
	CHECK_EQ(world_create(&w, &a), FIRST);
	CHECK_EQ(world_start(&w, FIRST), 0);
	check_cell(&a, false);
	CHECK_EQ(MOVE(FIRST, 0), QV_ME_STATE);
	stop(SECOND);
	CHECK_EQ(MOVE(FIRST, 0), QV_ME_OK);
	check_hidden();
	check_cell(&a, true);
	destroy(SECOND);
	check_hidden();
	CHECK(!pci_given(OTHER));
	destroy(FIRST);
	check_linux_has_it();
}

static void check_unchanged(void)
{
	check_hidden();
	check_cell(&b, false);
}

static void refused(void)
{
	both_run();
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_STATE);		/* the first cell runs */
	check_cell(&a, true);
	CHECK_EQ(MOVE(3, 1), QV_ME_INSTANCE);
	CHECK_EQ(MOVE(0, 1), QV_ME_INSTANCE);
	CHECK_EQ(MOVE(FIRST, 0), QV_ME_HEIR);		/* the cell has it */
	CHECK_EQ(MOVE(SECOND, 0), QV_ME_HEIR);
	CHECK_EQ(MOVE(SECOND, 2), QV_ME_HEIR);
	CHECK_EQ(MOVE(SECOND, 1 | 1ull << 40), QV_ME_HEIR);
	CHECK_EQ(MOVE(SECOND, QV_MAX_DEVICES + 1), QV_ME_HEIR);
	stop(FIRST);
	me()->locks[LOCK_MANAGER] = 2;			/* another CPU makes a call */
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_BUSY);
	me()->locks[LOCK_MANAGER] = 0;
	((struct qv_mon_status *)(fake_ram + b.block_pa + QV_OFF_STATUS))->locked = 1;
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_LOCKED);
	((struct qv_mon_status *)(fake_ram + b.block_pa + QV_OFF_STATUS))->locked = 0;
	me()->manager.cells[FIRST].lost = 1;		/* a CPU of the first cell may still run */
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_CPU_LOST);
	me()->manager.cells[FIRST].lost = 0;
	((struct qv_mon_status *)(fake_ram + b.block_pa + QV_OFF_STATUS))->state = QV_MON_FAILED;
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_STATE);
	((struct qv_mon_status *)(fake_ram + b.block_pa + QV_OFF_STATUS))->state = QV_MON_RUNNING;
	check_unchanged();
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_OK);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_HEIR);		/* twice */
	check_cell(&b, true);

	open_world();		/* the heir does not run yet, or no longer */
	CHECK_EQ(world_create(&w, &a), FIRST);
	CHECK_EQ(world_create(&w, &b), SECOND);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_STATE);
	CHECK_EQ(world_start(&w, FIRST), 0);
	stop(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_STATE);
	CHECK_EQ(world_start(&w, SECOND), 0);
	stop(SECOND);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_STATE);
	check_unchanged();
	destroy(FIRST);
	check_linux_has_it();
	destroy(SECOND);
	check_linux_has_it();
}

#define CHANGES(X) \
	X(nothing, SECOND, (void)0) \
	X(other_function, QV_ME_HEIR, d->bdf = OTHER + 8) \
	X(own_function, QV_ME_HEIR, (b.devices[0].flags |= HEIR)) \
	X(twice, QV_ME_DEVICE_TAKEN, (b.devices[0] = *d, b.devices[0].flags &= ~HEIR)) \
	X(not_master, QV_ME_HEIR, d->flags &= ~MASTER) \
	X(active_high, QV_ME_HEIR, d->flags |= QV_MON_DEVICE_HIGH) \
	X(unknown_flag, QV_ME_DEVICES, d->flags |= 8) \
	X(fewer_registers, QV_ME_HEIR, d->bars[0].len = 0) \
	X(longer, QV_ME_HEIR, d->bars[0].len += QV_PAGE) \
	X(other_place, QV_ME_HEIR, d->bars[0].base += QV_PAGE) \
	X(other_ports, QV_ME_HEIR, d->bars[2].base += 8) \
	X(more_registers, QV_ME_HEIR, d->bars[5].len = QV_PAGE) \
	X(with_a_pin, QV_ME_HEIR, (d->ioapic = 0, d->vector = 64)) \
	X(virtual, QV_ME_HEIR, d->physical = OTHER) \
	X(number, QV_ME_HEIR, d->number = 1) \
	X(reserved_word, QV_ME_HEIR, d->bars[1].reserved = 1) \
	X(beyond_config_space, QV_ME_DEVICE_NONE, d->bdf = 0x400)

/* The heir must describe the function as the cell that has it does */
static void unequal(void)
{
	struct qv_mon_device *d = &b.devices[1];

#define X(name, want, change) \
	open_world(); \
	CHECK_EQ(world_create(&w, &a), FIRST); \
	CHECK_EQ(world_start(&w, FIRST), 0); \
	change; \
	unit_case("%s", #name ":"); \
	CHECK_EQ(world_create(&w, &b), want); \
	check_hidden();
	CHANGES(X)
#undef X
	open_world();			/* no cell has it */
	CHECK_EQ(world_create(&w, &b), QV_ME_HEIR);
	/* it had the function when the heir was created, and another cell has it otherwise now */
	CHECK_EQ(world_create(&w, &a), FIRST);
	CHECK_EQ(world_create(&w, &b), SECOND);
	CHECK_EQ(world_start(&w, SECOND), 0);
	destroy(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_HEIR);
	a.devices[0].flags = 0;
	CHECK_EQ(world_create(&w, &a), FIRST);
	CHECK_EQ(world_start(&w, FIRST), 0);
	stop(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_HEIR);
	check_unchanged();
}

/* The heir's pool has all pages that a move needs: nothing is taken beyond what was reserved */
static void enough_pages(void)
{
	const struct pt_pool *pool;
	u32 before;

	both_run();
	pool = &fake_instance(b.block_pa)->pt_pool;
	before = pool->next;
	stop(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_OK);
	CHECK(pool->next >= before && pool->next - before <= 36 * QV_PAGE);
	CHECK(pool->next < pool->end);
}

/*
 * Linux's other CPUs look for the cell of a function while it moves. Here it goes back to the first
 * cell when the look has passed that cell
 */
static void moves_during_a_look(void)
{
	struct qv_mon_device *first, *second;
	const struct qv_mon_device *d;
	u32 found = 0;

	both_run();
	stop(FIRST);
	CHECK_EQ(MOVE(SECOND, 1), QV_ME_OK);
	first = (struct qv_mon_device *)&me()->manager.cells[FIRST].q->devices[0];
	second = (struct qv_mon_device *)&me()->manager.cells[SECOND].q->devices[1];
	FOR_EACH_DEVICE(d, taken) {
		if (d->bdf == OTHER) {
			first->flags &= ~HEIR;
			second->flags |= HEIR;
		}
		found += d->bdf == FUNCTION;
	}
	CHECK_EQ(found, 1);
}

UNIT_SUITE(pci_move) = {
	{ "pci move: the heir has the function as if from its start", moved },
	{ "pci move: the heir gives it back to Linux", heir_first },
	{ "pci move: an heir that inherits nothing leaves it alone", nothing_inherited },
	{ "pci move: a cell that waits gets it back", there_and_back },
	{ "pci move: refused unless the one has stopped and the other runs", refused },
	{ "pci move: refused if the two describe it differently", unequal },
	{ "pci move: a look meanwhile finds the function", moves_during_a_look },
	{ "pci move: pages were reserved at create", enough_pages },
	{ 0 }
};
