// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part dma: it confines the PCI functions of a cell while the monitor owns the IOMMU. A
 * function that may be bus master reaches the cell's RAM at the cell's addresses, and nothing else.
 * No other function of a cell reaches anything.
 *
 * From PART_TAKE until PART_GIVE none of them reaches memory of Linux. A function is blocked, and
 * the units are flushed, whenever it changes between the tables of Linux and of the cell. This part
 * comes after the part pci, which has switched bus mastering off by then.
 */
#include "abi/errors.h"
#include "core/cpu.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "manage/part.h"
#include "manage/request.h"
#include "manage/mapping.h"

/* Pages of the cell's RAM that the CPUs of the cell do not reach, or may only read */
#define SPECIAL		QV_SCREEN_GPA
#define SPECIAL_LEN	(QV_STREAM_GPA + 4 * QV_PAGE - SPECIAL)

static u64 prepare(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; inst->iommu.owned && i < q->num_devices; i++)
		if (!iommu_own(cpu, q->devices[i].bdf))
			return QV_ME_TABLES;
	return QV_ME_OK;
}

/* Six tables for the first 2 MiB, and one for each GiB and each 512 GiB that follows */
static u64 tables(const struct qv_mon_create *q)
{
	u64 pages = request_pages(q);

	return q->num_devices ? 6 + (pages >> 9) + (pages >> 18) : 0;
}

/* ---- messages (MSI, MSI-X) ---- */

static bool is_master(const struct qv_mon_device *d)
{
	return d->flags & QV_MON_DEVICE_MASTER;
}

/* Returns true if no cell has one of these entries */
static bool are_free(u32 first, u32 num)
{
	const struct iommu_state *io = &me()->iommu;
	u32 i;

	for (i = 1; i < QV_INSTANCES; i++)
		if (me()->manager.cells[i].state && io->messages[i].num &&
		    overlaps(first, num, io->messages[i].first, io->messages[i].num))
			return false;
	return true;
}

/*
 * From now on the monitor writes messages of the functions in the form that the table remaps. With
 * AMD-Vi a function has its own table, and the data of an ordinary message is the entry's number.
 * A function that the cell may inherit has its entries from the start, and later its rules
 */
static void remap(struct instance *cell)
{
	u32 address = REMAP_ADDRESS(me()->iommu.messages[cell->id].first), i;
	const struct qv_mon_create *q = &cell->req;
	struct pci_cell *p = &cell->cell.pci;
	struct pci_rule *r;

	for (i = 0; me()->iommu.messages[cell->id].num && i < q->num_devices; i++) {
		if (me()->boot.iommus.amd || !is_master(&q->devices[i]))
			continue;
		p->tables[i].remap = address;
		for (r = p->rules; r < p->rules + p->made; r++)
			if (r->at >> 12 == q->devices[i].bdf && r->check != PCI_ANY) {
				r->remap = address;
				r->keep = 0;	/* the register holds another value */
			}
		address += q->num_cpus * (REMAP_ENTRIES << 5);
	}
}

/* Reserves entries for each function that may be bus master and each CPU of the cell */
static u64 map_messages(struct instance *cell)
{
	const struct qv_mon_create *q = &cell->req;
	u32 first = QV_MON_IRTES, each = q->num_cpus * REMAP_ENTRIES, num = 0, i;

	for (i = 0; me()->iommu.remaps && i < q->num_devices; i++)
		num += is_master(&q->devices[i]) ? each : 0;
	while (num && first + num <= me()->iommu.irtes && !are_free(first, num))
		first += REMAP_ENTRIES;
	me()->iommu.messages[cell->id].first = first;
	me()->iommu.messages[cell->id].num = num;
	if (num && first + num > me()->iommu.irtes)
		return QV_ME_MESSAGES;
	remap(cell);
	return QV_ME_OK;
}

/* Makes the entries of the functions that the cell @id has, or clears them */
static void set_messages(const struct qv_mon_create *q, u32 id, bool on)
{
	u32 at = me()->iommu.messages[id].first, i, c, u;

	for (i = 0; me()->iommu.messages[id].num && i < q->num_devices; i++)
		for (c = 0; is_master(&q->devices[i]) && c < q->num_cpus; c++) {
			for (u = 0; is_held(&q->devices[i]) && u < iommu_units(); u++)
				me()->iommu.ops->messages(&me()->iommu.units[u], at,
							  q->devices[i].bdf,
							  pcpu_of(q->cpus[c])->apic_id, on);
			at += REMAP_ENTRIES;
		}
}

/* ---- DMA ---- */

static u64 map(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	struct instance *cell = managed();
	struct paging io = { .pt_pool = &cell->pt_pool, .levels = 4, .max_leaf = 2,
			     .amdvi = me()->boot.iommus.amd };
	u32 first = cell->pt_pool.next, stage = me()->boot.iommus.stage, i;
	u64 gpa = 0;
	int bad = 0;

	me()->iommu.messages[cell->id].num = 0;
	if (!me()->iommu.owned || !q->num_devices)
		return QV_ME_OK;
	io.root = pt_take(io.pt_pool);
	if (!io.root)
		return QV_ME_TABLES;
	for (i = 0; i < q->num_runs - q->rom_runs; i++) {
		bad |= paging_map(&io, gpa, q->runs[i].pa, q->runs[i].count * QV_HUGE,
				  me()->iommu.open);
		gpa += q->runs[i].count * QV_HUGE;
	}
	bad |= paging_map(&io, SPECIAL, 0, SPECIAL_LEN, 0);
	cell->iommu.table.root = !stage ? io.root :
		iommu_pasids(io.pt_pool, stage, io.root, me()->boot.iommus.domain + cell->id);
	table_write_back((const void *)(QV_VA_MANAGE + first), cell->pt_pool.next - first);
	return bad || !cell->iommu.table.root ? QV_ME_TABLES : map_messages(cell);
}

/*
 * The functions that the cell @id has and that may be bus master use the table @root. The others
 * reach nothing, nor does any with 0. With the id 0 they are Linux's again.
 */
static void send(struct pcpu *cpu, const struct qv_mon_create *q, u32 id, u64 root)
{
	u32 i, u;

	for (i = 0; me()->iommu.owned && i < q->num_devices; i++)
		for (u = 0; is_held(&q->devices[i]) && u < iommu_units(); u++)
			me()->iommu.ops->set(cpu, &me()->iommu.units[u], q->devices[i].bdf,
					     is_master(&q->devices[i]) ? root : 0,
					     me()->boot.iommus.domain + id);
}

static void take(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	send(cpu, q, slot - me()->manager.cells, 0);
}

static void give(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	send(cpu, q, 0, 0);
	if (me()->iommu.owned && q->num_devices && iommu_look(cpu))	/* follows Linux again */
		iommu_flush(cpu);
}

/* Also when the running cell inherits a function: for its other functions, this changes nothing */
static void begin(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	struct instance *cell = managed();

	/* No CPU follows Linux's entries of these functions after this: it takes the lock */
	if (!me()->iommu.owned || !q->num_devices || !iommu_look(cpu))
		return;			/* they stay blocked */
	remap(cell);
	set_messages(q, cell->id, true);
	send(cpu, q, cell->id, cell->iommu.table.root);
	me()->iommu.unsettled &= ~((u32)iommu_flush(cpu) << cell->id);
}

bool iommu_settled(struct pcpu *cpu, u64 id)
{
	if ((me()->iommu.unsettled & 1u << id) && iommu_flush(cpu))
		me()->iommu.unsettled &= ~(1u << id);
	return !(me()->iommu.unsettled & 1u << id);
}

static void stop(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	send(cpu, q, managed()->id, 0);
	set_messages(q, managed()->id, false);
	if (me()->iommu.owned && q->num_devices)
		me()->iommu.unsettled |= 1u << managed()->id;
	iommu_settled(cpu, managed()->id);
}

const struct part part_dma = {
	.try[PART_PREPARE] = prepare,
	.try[PART_MAP] = map,
	.act[PART_TAKE] = take,
	.act[PART_UNTAKE] = give,
	.act[PART_BEGIN] = begin,
	.act[PART_STOP] = stop,
	.act[PART_GIVE] = give,
	.tables = tables,
};
