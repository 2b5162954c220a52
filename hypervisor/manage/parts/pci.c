// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part pci: PCI functions, with the I/O ports of their BARs. Checks come first. They protect
 * Linux and the other cells: a cell gets no range of another cell, no RAM, no interrupt controller
 * and no config space except its own.
 */
#include "core/cpu.h"
#include "core/log.h"
#include "core/pci.h"
#include "core/ports.h"
#include "core/x86.h"
#include "manage/manage.h"
#include "manage/part.h"
#include "manage/request.h"
#include "channels.h"
#include "pci_function.h"

#define BAR_MAX		(1ull << 36)
/* number of pages of tables for config space and both ends of six BARs */
#define TABLES_OF_DEVICE 36
/* Capability of SR-IOV: PCI Express Base 5.0, 9.3.3. Upper half of the offset: the stride */
enum { SRIOV_CONTROL = 0x08, SRIOV_COUNT = 0x10, SRIOV_OFFSET = 0x14, SRIOV_BARS = 0x24 };
#define SRIOV_ON	0x9		/* in its control: functions exist, their memory answers */

/* ---- checks ---- */

static bool bar_ok(const struct instance *inst, const struct qv_mon_bar *bar, bool heir)
{
	const struct qv_mon_boot *b = &inst->boot;

	if (!bar->len)
		return true;
	if (bar->ports)
		return bar->base < 0x10000 && bar->len <= 0x10000 - bar->base &&
		       !ports_never(b, bar->base, bar->base + bar->len - 1);
	return !((bar->base | bar->len) & (QV_PAGE - 1)) && bar->len <= BAR_MAX &&
	       !(bar->base >> b->phys_bits) && !((bar->base + bar->len - 1) >> b->phys_bits) &&
	       bar->base >= request_pages(&inst->req) * QV_HUGE &&
	       !overlaps(bar->base, bar->len, b->ecam_pa, b->ecam_len) &&
	       !overlaps(bar->base, bar->len, MESSAGES, MESSAGES_LEN) &&
	       !overlaps(bar->base, bar->len, QV_CHANNEL_GPA, QV_CHANNEL_LEN) &&
	       !ram_has(b, bar->base, bar->len, false) &&
	       (heir || front_owns(&inst->nested, bar->base, bar->len));
}

/*
 * Returns the address of the registers that place the function: its own, or those of its physical
 * function. 0: there is no such function
 */
static u64 bars_of(struct pcpu *cpu, const struct qv_mon_device *d)
{
	u32 cap = d->physical ? pci_extended(cpu, d->physical, CAP_SRIOV) : 0;
	u32 at = pci_config_get(cpu, d->physical, cap + SRIOV_OFFSET);

	if (!d->physical)	/* the ids of a virtual function are ones */
		return d->number || device_read(cpu, config_of(d->bdf)) == ~0u ? 0 :
		       config_of(d->bdf) + CFG_BARS;
	return cap && d->bdf == d->physical + (at & 0xffff) + d->number * (at >> 16) &&
	       (pci_config_get(cpu, d->physical, cap + SRIOV_CONTROL) & SRIOV_ON) == SRIOV_ON &&
	       d->number < (pci_config_get(cpu, d->physical, cap + SRIOV_COUNT) & 0xffff) ?
	       config_of(d->physical) + cap + SRIOV_BARS : 0;
}

/* Checks BAR @i by the registers at @at: those of virtual functions lie one after another */
static bool bar_true(struct pcpu *cpu, u64 at, const struct qv_mon_device *d, u32 i)
{
	const struct qv_mon_bar *bar = &d->bars[i];
	u64 base = bar->base - d->number * bar->len;
	u32 raw = device_read(cpu, at + 4 * i);

	if (bar->ports)
		return (raw & 1) && (raw & ~3u) == base;
	return !(raw & 1) && (raw & ~0xfu) == (u32)base &&
	       ((raw & 6) != 4 ? !(base >> 32) : i + 1 < QV_MON_BARS &&
		device_read(cpu, at + 4 * i + 4) == base >> 32);
}

/* Returns true if both are one function, have one pin, or @a is the physical function of @b */
static bool same(const struct qv_mon_device *a, const struct qv_mon_device *b)
{
	return a->bdf == b->bdf || (b->physical && a->bdf == b->physical) ||
	       (a->ioapic != QV_MON_NO_PIN && a->ioapic == b->ioapic && a->pin == b->pin);
}

static bool taken(const struct instance *inst, const struct qv_mon_device *d)
{
	const struct qv_mon_device *other;

	for (other = inst->req.devices; other < d; other++)
		if (same(other, d) || same(d, other))
			return true;
	FOR_EACH_DEVICE(other, state)
		if (same(other, d) || same(d, other))
			return true;
	return false;
}

/*
 * Returns the function that @d waits for, in the request of the cell that has it, and stores that
 * cell's number. It was checked for that cell, and agrees with @d in all but the vector. NULL: none
 */
static struct qv_mon_device *holds(const struct qv_mon_device *d, u32 *id)
{
	struct qv_mon_device *other, same = *d;

	same.flags &= ~QV_MON_DEVICE_HEIR;
	for (*id = 1; *id < QV_INSTANCES; ++*id)
		if (me()->manager.cells[*id].state)
			FOR_EACH_HELD(other, slot_request(*id)) {
				same.vector = other->vector;
				if (channel_same(&same, other, sizeof(same)))
					return other;
			}
	return NULL;
}

/* Calls @what for each range of the functions. Returns false as soon as a call does */
static bool each_range(const struct qv_mon_create *q,
		       bool (*what)(const struct qv_mon_bar *r, bool taken), bool taken)
{
	const struct qv_mon_device *d;
	u32 b;

	FOR_EACH_HELD(d, q) {
		const struct qv_mon_bar config = { config_of(d->bdf), QV_PAGE, 0, 0 };

		if (!what(&config, taken))
			return false;
		for (b = 0; b < QV_MON_BARS; b++)
			if (d->bars[b].len && !what(&d->bars[b], taken))
				return false;
	}
	return true;
}

static bool ports_range(const struct qv_mon_bar *r, bool unused)
{
	return !r->ports || !ports_claimed(me(), r->base, r->base + r->len - 1);
}

static u64 check_device(const struct instance *inst, const struct qv_mon_device *d)
{
	bool heir = d->flags & QV_MON_DEVICE_HEIR;
	u32 i;

	if (d->flags & ~(QV_MON_DEVICE_MASTER | QV_MON_DEVICE_HIGH | QV_MON_DEVICE_HEIR))
		return QV_ME_DEVICES;
	if (d->bdf >= inst->boot.ecam_len >> 12)
		return QV_ME_DEVICE_NONE;
	if (heir && !holds(d, &i))
		return QV_ME_HEIR;
	if (!heir && (taken(inst, d) || !front_owns(&inst->nested, config_of(d->bdf), QV_PAGE)))
		return QV_ME_DEVICE_TAKEN;
	if (d->ioapic != QV_MON_NO_PIN && (d->ioapic >= inst->boot.num_ioapics ||
	    d->pin >= 120 || d->vector < 32 || d->vector > 254))
		return QV_ME_DEVICE_PIN;
	for (i = 0; i < QV_MON_BARS; i++)
		if (!bar_ok(inst, &d->bars[i], heir))
			return QV_ME_DEVICE_BAR;
	return QV_ME_OK;
}

/* Checks the function's own registers. Its config space is known to belong to Linux */
static u64 check_function(struct pcpu *cpu, const struct qv_mon_device *d)
{
	u64 at = bars_of(cpu, d);
	u32 i = 0;

	/* where no function is, the header is ones */
	if (!at || (device_read(cpu, config_of(d->bdf) + CFG_HEADER) >> 16 & 0x7f) ||
	    device_read(cpu, config_of(d->bdf) + CFG_CLASS) >> 24 == CLASS_BRIDGE)
		return QV_ME_DEVICE_NONE;
	while (i < QV_MON_BARS && (!d->bars[i].len || bar_true(cpu, at, d, i)))
		i++;
	return i < QV_MON_BARS ? QV_ME_DEVICE_BAR : QV_ME_OK;
}

static u64 check(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u64 error = QV_ME_OK;
	u32 i;

	if (q->num_devices > QV_MAX_DEVICES)
		return QV_ME_DEVICES;
	if (q->num_devices && inst->boot.ecam_pa < request_pages(q) * QV_HUGE)
		return QV_ME_DEVICE_NONE;
	for (i = 0; i < q->num_devices && !error; i++)
		error = check_device(inst, &q->devices[i]) ?: check_function(cpu, &q->devices[i]);
	return error ?: each_range(q, ports_range, false) ? QV_ME_OK : QV_ME_PORT_TAKEN;
}

/* ---- the front end's tables ---- */

static bool prepare_range(const struct qv_mon_bar *r, bool unused)
{
	return r->ports || !front_prepare(&me()->nested, r->base, r->len);
}

static u64 prepare(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	return each_range(q, prepare_range, false) ? QV_ME_OK : QV_ME_TABLES;
}

static bool memory_range(const struct qv_mon_bar *r, bool unused)
{
	return r->ports || front_owns(&me()->nested, r->base, r->len);
}

static u64 still_ours(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	return !each_range(q, memory_range, false) ? QV_ME_DEVICE_TAKEN :
	       !each_range(q, ports_range, false) ? QV_ME_PORT_TAKEN : QV_ME_OK;
}

static u64 still_there(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	const struct qv_mon_device *d;

	FOR_EACH_HELD(d, q)
		if (check_function(cpu, d))
			return QV_ME_DEVICE_NONE;
	return QV_ME_OK;
}

static bool take_range(const struct qv_mon_bar *r, bool taken)
{
	if (r->ports)
		ports_stop(me(), r->base, r->base + r->len - 1, taken);
	else
		linux_memory(r->base, r->len, taken ? LINUX_NONE : LINUX_ALL);
	return true;
}

static void take(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	each_range(q, take_range, slot->taken);
}

/* ---- the cell's tables and rules ---- */

/*
 * All of config space is ones, by one table and one page. Functions of the cell, and those that it
 * may inherit, get a table of their own
 */
static int map_config(struct instance *cell)
{
	const struct qv_mon_boot *b = &me()->boot;
	struct paging *n = &cell->nested;
	u64 table = pt_take(n->pt_pool), ones = pt_take(n->pt_pool), pa;
	u64 end = (b->ecam_pa + b->ecam_len + QV_HUGE - 1) & -(u64)QV_HUGE;
	u32 i;

	if (!table || !ones)
		return -1;
	memset(pt_table(n->pt_pool, ones), 0xff, QV_PAGE);
	for (i = 0; i < PT_ENTRIES; i++)
		pt_table(n->pt_pool, table)[i] = ones | nested_bits(n, NESTED_R | NESTED_WB);
	for (pa = b->ecam_pa; pa < end; pa += QV_HUGE) {
		u64 *entry = paging_entry(n, pa, 2);

		if (!entry)
			return -1;
		*entry = table | PT_TABLE;
	}
	for (i = 0; i < cell->req.num_devices; i++) {
		u64 page = config_of(cell->req.devices[i].bdf), *entry = paging_entry(n, page, 2);

		if (*entry == (table | PT_TABLE)) {
			pa = pt_take(n->pt_pool);
			if (!pa)
				return -1;
			memcpy(pt_table(n->pt_pool, pa), pt_table(n->pt_pool, table), QV_PAGE);
			*entry = pa | PT_TABLE;
		}
	}
	return 0;
}

/* Maps function @d of the cell, by its tables @n, and makes its rules. Returns 0, or -1 */
static int map_function(struct pcpu *cpu, struct instance *cell, const struct paging *n,
			const struct qv_mon_device *d, struct pci_table *t)
{
	const struct qv_mon_bar *bar;
	int bad = 0;

	pci_make_rules(cpu, &cell->cell.pci, d, t);
	for (bar = d->bars; bar < d->bars + QV_MON_BARS; bar++)
		if (bar->ports && bar->len)
			ports_stop(cell, bar->base, bar->base + bar->len - 1, false);
		else
			bad |= paging_map(n, bar->base, bar->base, bar->len,
					  nested_bits(n, NESTED_R | NESTED_W));
	return bad | paging_map(n, t->pages, t->pages, t->pages_len, nested_bits(n, NESTED_R));
}

/* Maps the function's config space. A running cell that sees it may use the function at once */
static int map_page(const struct paging *n, const struct qv_mon_device *d)
{
	u64 page = config_of(d->bdf);

	return paging_map(n, page, page, QV_PAGE, nested_bits(n, NESTED_R));
}

static u64 map(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	struct instance *cell = managed();
	const struct qv_mon_device *d;

	if (!q->num_devices)
		return QV_ME_OK;
	cell->boot.ecam_pa = me()->boot.ecam_pa;
	cell->boot.ecam_len = me()->boot.ecam_len;
	if (map_config(cell))
		return QV_ME_TABLES;
	FOR_EACH_HELD(d, q)
		if (map_function(cpu, cell, &cell->nested, d,
				 &cell->cell.pci.tables[d - q->devices]) ||
		    map_page(&cell->nested, d))
			return QV_ME_TABLES;
	return QV_ME_OK;
}

static u64 tables(const struct qv_mon_create *q)
{
	u64 pages = q->num_devices * TABLES_OF_DEVICE;
	u32 i, b;

	for (i = 0; i < q->num_devices; i++)
		for (b = 0; b < QV_MON_BARS; b++)	/* one for each GiB between the ends */
			pages += q->devices[i].bars[b].len >> 30;
	return pages;
}

/* ---- its life ---- */

/* The function, which is quiet, can be used by the cell when the cell's rules are in force */
static void begin_function(struct pcpu *cpu, const struct qv_mon_device *d, struct pci_table *t)
{
	struct instance *cell = managed();
	u32 first = cell->icr.apic_id[0], address = MESSAGES | (first & 0xff) << 12;

	pci_valid_messages(cpu, &cell->cell.pci, address);
	pci_valid_table(cpu, t, d->bdf, t->remap ?: address);
	ioapic_route(cpu, d, true, first);
	__atomic_store_n(&cell->cell.pci.num_rules, cell->cell.pci.made, __ATOMIC_RELEASE);
}

static void begin(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	const struct qv_mon_device *d;

	ioapic_sweep(cpu);
	FOR_EACH_HELD(d, q)
		pci_quiet(cpu, d->bdf);
	FOR_EACH_HELD(d, q) {
		begin_function(cpu, d, &managed()->cell.pci.tables[d - q->devices]);
		log_event(cpu, QV_LOG_DEVICE, d->bdf, d->flags & QV_MON_DEVICE_MASTER);
	}
}

static void stop(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	const struct qv_mon_device *d;

	FOR_EACH_HELD(d, q) {
		ioapic_route(cpu, d, false, 0);
		pci_quiet(cpu, d->bdf);
	}
}

/* ---- a function moves from a cell that has stopped to its heir ---- */

/*
 * The function is quiet, its DMA and its messages are blocked, and Linux has none of its ranges:
 * that stays so until the heir's tables, at last its rules, lead to it. The heir's pool has pages
 * for them since it was created. The heir's CPUs may have cached a BAR's page as writable before it
 * became that of a table, and the page of ones in place of the config space.
 */
u64 call_move(struct pcpu *cpu, u64 id, u64 index)
{
	struct cell_slot *slots = me()->manager.cells;
	struct qv_mon_create *q = slot_request(id);
	struct qv_mon_device *d = &q->devices[index % QV_MAX_DEVICES], *from;
	struct pci_table *t = &managed()->cell.pci.tables[index % QV_MAX_DEVICES];
	struct pt_pool pool;
	struct paging nested = cell_paging(&managed()->nested, &pool);
	u32 old;

	from = index < q->num_devices && !is_held(d) ? holds(d, &old) : NULL;
	if (!from)
		return QV_ME_HEIR;
	if (slots[id].state != QV_MON_RUNNING || slots[old].state != QV_MON_STOPPED ||
	    load(&managed_status()->state) != QV_MON_RUNNING)
		return QV_ME_STATE;
	if (slots[old].lost)
		return QV_ME_CPU_LOST;
	if (!iommu_settled(cpu, old) || (me()->iommu.owned && !iommu_look(cpu)))
		return QV_ME_IOMMU;

	/* ---- nothing below can fail. In this order: at no time Linux may have it ---- */
	__atomic_store_n(&d->flags, d->flags & ~QV_MON_DEVICE_HEIR, __ATOMIC_SEQ_CST);
	__atomic_store_n(&from->flags, from->flags | QV_MON_DEVICE_HEIR, __ATOMIC_SEQ_CST);
	map_function(cpu, managed(), &nested, d, t);
	managed()->pt_pool.next = pool.next;
	cell_flush(cpu, q);
	me()->iommu.unsettled |= me()->iommu.owned << id;
	part_dma.act[PART_BEGIN](cpu, &slots[id], q);
	begin_function(cpu, d, t);
	map_page(&nested, d);
	cell_flush(cpu, q);
	log_event(cpu, QV_LOG_MOVED, d->bdf, id);
	return me()->iommu.unsettled >> id & 1 ? QV_ME_SILENT : QV_ME_OK;
}

const struct part part_pci = {
	.try[PART_CHECK] = check,
	.try[PART_PREPARE] = prepare,
	.try[PART_MAP] = map,
	.try[PART_STILL_OURS] = still_ours,
	.try[PART_STILL_THERE] = still_there,
	.act[PART_TAKE] = take,
	.act[PART_UNTAKE] = take,
	.act[PART_BEGIN] = begin,
	.act[PART_STOP] = stop,
	.act[PART_GIVE] = take,
	.tables = tables,
};
