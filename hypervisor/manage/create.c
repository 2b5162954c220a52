// SPDX-License-Identifier: GPL-2.0-only
/* Creates a cell: checks its request, takes its block and CPUs, builds its instance there. */
#include "abi/mark.h"
#include "core/cpu.h"
#include "core/gmem.h"
#include "core/init.h"
#include "tables/setup.h"
#include "core/x86.h"
#include "manage.h"
#include "part.h"
#include "request.h"

/* Each CPU's way to the cell's instance, and back */
static void link_cpus(struct instance *cell)
{
	const struct qv_mon_create *q = &cell->req;
	u32 i;

	for (i = 0; i < q->num_cpus; i++) {
		struct pcpu *front = pcpu_of(q->cpus[i]);
		struct pcpu *there = pcpu_in(QV_VA_MANAGE, i);

		cell->boot.cpus[i] = me()->boot.cpus[q->cpus[i]];
		there->next_cr3 = me()->host.root;
		there->next_index = front->index;
		front->next_cr3 = cell->host.root;
		front->next_index = i;
	}
}

/* The xAPIC's page replaces the page that a part may have mapped there */
static u64 map_cell(struct pcpu *cpu, struct instance *cell)
{
	struct paging *n = &cell->nested;
	u64 error = parts_try(PART_MAP, cpu, me(), &cell->req);

	if (!error && !cell->boot.x2apic &&
	    paging_map(n, APIC_PAGE, APIC_PAGE, QV_PAGE,
		       nested_bits(n, NESTED_R | (cell->req.ipi_direct ? NESTED_W : 0))))
		error = QV_ME_TABLES;
	return error;
}

static void write_mark(const struct qv_mon_create *q, u32 id)
{
	struct qv_mon_mark *mark = (struct qv_mon_mark *)(QV_VA_MANAGE + QV_OFF_MARK);

	*mark = *(const struct qv_mon_mark *)(QV_VA_BLOCK + QV_OFF_MARK);
	mark->block_pa = q->block_pa;
	mark->id = id;
	memcpy(mark->name, q->name, sizeof(mark->name));
	mark->sum = qv_mark_sum(mark);
}

static u64 build_instance(struct pcpu *cpu, struct instance *cell, u32 id)
{
	const struct instance *mine = me();

	memset((void *)QV_VA_MANAGE, 0, QV_BLOCK_CELL);
	memcpy((void *)(QV_VA_MANAGE + QV_OFF_IMAGE), (void *)QV_VA_IMAGE, QV_IMAGE_MAX);
	cell->req = mine->req;
	cell->id = id;
	cell->boot.block_pa = mine->req.block_pa;
	cell->boot.block_len = QV_BLOCK_CELL;
	cell->boot.num_cpus = mine->req.num_cpus;
	memcpy((u8 *)&cell->boot + QV_BOOT_COMMON, (const u8 *)&mine->boot + QV_BOOT_COMMON,
	       QV_BOOT_OWN - QV_BOOT_COMMON);
	cell->boot.x2apic |= mine->req.x2apic;
	cell->pt_pool.va = QV_VA_MANAGE;
	if (setup_tables(cell))
		return QV_ME_TABLES;
	link_cpus(cell);
	write_mark(&cell->req, id);
	managed_status()->state = QV_MON_CREATED;
	return guest_init(cell, QV_VA_MANAGE) ?: map_cell(cpu, cell);
}

/* A request must be in RAM of Linux, not in a device or in memory hidden from Linux */
static bool in_own_ram(u64 gpa, u64 len)
{
	u64 mask = ~(QV_PAGE - 1ull), first = gpa & mask;

	return request_pages_ok(me(), first, (gpa - first + len + QV_PAGE - 1) & mask, 1);
}

static u64 read_request(struct pcpu *cpu, u64 gpa)
{
	struct qv_mon_create *q = &me()->req;

	if (gpa & 7 || !in_own_ram(gpa, sizeof(*q)) || !guest_copy_phys(cpu, q, gpa, sizeof(*q)))
		return QV_ME_POINTER;
	return request_check(me(), cpu->index) ?:
	       ipi_voids(false, q->ipi_direct, q->lock) ? QV_ME_IPI :
	       request_prepare(me(), cpu->index);
}

/* Undoes the first steps of call_create(). The block holds no data of the monitor yet */
static void give_back(struct pcpu *cpu, u64 block_pa, u64 cpus)
{
	mapping_set(QV_VA_MANAGE, 0);
	linux_memory(block_pa, QV_BLOCK_CELL, LINUX_ALL);
	flush_front_end(cpu);
	cpus_release(cpus);
}

/* Takes CPUs and block from Linux and builds the instance. After an error all is as before */
static u64 take_and_build(struct pcpu *cpu, u32 id, u64 cpus)
{
	const struct qv_mon_create *q = &me()->req;
	u64 error;

	/*
	 * A flush gives Linux an NMI. If a CPU were caught in the NMI handler, Linux would stay in
	 * that handler forever there, and get no NMI again. So CPUs are caught first.
	 */
	if (!cpus_catch(cpu, cpus)) {
		cpus_release(cpus);
		return QV_ME_CPU_STUCK;
	}
	linux_memory(q->block_pa, QV_BLOCK_CELL, LINUX_NONE);
	if (!flush_front_end(cpu)) {
		give_back(cpu, q->block_pa, cpus);
		return QV_ME_CPU_STUCK;
	}
	mapping_set(QV_VA_MANAGE, q->block_pa);
	error = build_instance(cpu, managed(), id);
	if (error) {
		scrub(q->block_pa);
		give_back(cpu, q->block_pa, cpus);
	}
	return error;
}

u64 call_create(struct pcpu *cpu, u64 gpa, u64 unused)
{
	struct instance *inst = me();
	const struct qv_mon_create *q = &inst->req;
	struct cell_slot *slot;
	u64 error, cpus = 0;
	u32 id = 1, i;

	if (inst->manager.left)			/* a CPU outside the monitor can touch all memory */
		return QV_ME_STATE;
	while (id < QV_INSTANCES && inst->manager.cells[id].state)
		id++;
	if (id == QV_INSTANCES)
		return QV_ME_SLOTS;
	error = read_request(cpu, gpa);
	if (error)
		return error;
	for (i = 0; i < q->num_cpus; i++)
		cpus |= 1ull << q->cpus[i];

	error = take_and_build(cpu, id, cpus);
	if (error)
		return error;

	/* ---- nothing below can fail ---- */
	slot = &inst->manager.cells[id];
	*slot_request(id) = *q;
	front_split(&inst->nested, q->block_pa, slot->open_table);
	linux_memory(q->block_pa, QV_OPEN_LEN, LINUX_READ);
	slot->block_pa = q->block_pa;
	slot->q = slot_request(id);
	slot->reclaimed = slot->detached = 0;
	slot->cpus = cpus;
	if (q->x2apic)		/* any CPU may read this meanwhile, in ioapic_entry_ok() */
		__atomic_fetch_or(&inst->icr.x2, cpus, __ATOMIC_SEQ_CST);
	slot->state = QV_MON_CREATED;
	setup_rebase(managed());
	mapping_set(QV_VA_MANAGE, 0);
	log_event(cpu, QV_LOG_CREATED, id, request_pages(q));
	return id;
}
