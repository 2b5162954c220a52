// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells come and go: the front end's hypercalls. Only here is another
 * instance's memory ever mapped, and only while one call lasts.
 */
#include "cpu.h"
#include "nested.h"
#include "request.h"
#include "setup.h"
#include "vendor.h"
#include "x86.h"

/* The page directory entry of a 2 MiB window; 0 closes it */
static void manage(u64 va, u64 pa)
{
	me()->directory[(va >> 21) & 511] = pa ? pa | PT_P | PT_W | PT_PS | PT_NX : 0;
	invlpg(va);
}

static struct instance *managed(void)
{
	return (struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);
}

static struct qv_mon_status *managed_status(void)
{
	return (struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS);
}

bool flush_front_end(struct pcpu *cpu)
{
	u64 own = me()->icr.own & ~(1ull << cpu->index);
	u64 start = rdtsc();
	bool all = true;
	u32 i;

	cpu->flush = true;
	for (i = 0; i < me()->icr.num; i++)
		if (own & 1ull << i)
			kick(pcpu_of(i), CMD_FLUSH);
	for (i = 0; i < me()->icr.num; i++)
		if ((own & 1ull << i) && !wait_ack(pcpu_of(i), CMD_FLUSH, start)) {
			log_event(cpu, QV_LOG_STUCK, pcpu_of(i)->apic_id, 0);
			all = false;
		}
	return all;
}

/* ---- the lock ---- */

/* What a lock keeps Linux from */
#define LOCKABLE	(1u << QV_HC_CREATE | 1u << QV_HC_START | 1u << QV_HC_STOP | 1u << QV_HC_RECLAIM | \
			 1u << QV_HC_LEAVE)

/*
 * Does a cell want no management? Its own instance writes .locked, which Linux can only
 * read. A cell that has failed, by its instance's own finding, can agree to nothing any more.
 */
static bool locked(void)
{
	bool any = false;
	u32 i;

	for (i = 1; i < QV_MON_CELLS && !any; i++) {
		if (me()->cells[i].state != QV_MON_RUNNING)
			continue;
		manage(QV_VA_MANAGE, me()->cells[i].block_pa);
		any = load(&managed_status()->locked) && load(&managed_status()->state) == QV_MON_RUNNING;
	}
	manage(QV_VA_MANAGE, 0);
	return any;
}

/* What was begun before the lock is carried to its end */
static bool begun(u64 nr, u64 id)
{
	return nr == QV_HC_RECLAIM && id < QV_MON_CELLS && me()->cells[id].state && me()->cells[id].reclaimed;
}

/* Only a cell that runs: else it could not unlock */
static u64 lock(u32 id)
{
	if (me()->cells[id].state != QV_MON_RUNNING || load(&managed_status()->state) != QV_MON_RUNNING)
		return QV_ME_STATE;
	if (managed()->req.lock == QV_LOCK_NEVER)	/* nor could it unlock */
		return QV_ME_MAY_NOT_LOCK;
	managed_status()->locked = 1;
	return QV_ME_OK;
}

/* ---- create ---- */

static bool catch_cpus(struct pcpu *cpu)
{
	const struct qv_mon_create *q = &me()->req;
	u64 start = rdtsc();
	u32 i;

	for (i = 0; i < q->num_cpus; i++)
		kick(pcpu_of(q->cpus[i]), CMD_CATCH);
	for (i = 0; i < q->num_cpus; i++)
		if (!wait_ack(pcpu_of(q->cpus[i]), CMD_CATCH, start)) {
			log_event(cpu, QV_LOG_STUCK, pcpu_of(q->cpus[i])->apic_id, 0);
			return false;	/* those caught wait for SIPI: Linux starts them again as usual */
		}
	return true;
}

static void fill_cpus(struct instance *cell)
{
	const struct qv_mon_create *q = &cell->req;
	struct qv_mon_status *status = managed_status();
	u32 i;

	for (i = 0; i < q->num_cpus; i++) {
		struct pcpu *home = pcpu_of(q->cpus[i]);
		struct pcpu *there = pcpu_in(QV_VA_MANAGE, i);

		there->index = i;
		there->status = &my_status()->cpus[i];	/* at the same address in every instance */
		there->linux_cpu = status->cpus[i].linux_cpu = home->linux_cpu;
		there->apic_id = status->cpus[i].apic_id = cell->icr.apic_id[i] = home->apic_id;
		there->home_cr3 = me()->host.root;
		there->home_index = home->index;
		home->next_index = i;
		home->next_cr3 = cell->host.root;
		cell->icr.own |= 1ull << i;
	}
	cell->icr.num = status->num_cpus = q->num_cpus;
	cell->icr.x2apic = me()->boot.x2apic;
}

static int map_cell(struct pcpu *cpu, struct instance *cell)
{
	const struct qv_mon_create *q = &cell->req;
	struct paging *n = &cell->nested;
	u64 gpa = 0, first = q->runs[0].pa, w = q->window_pa, shared;
	int bad = 0;
	u32 i;

	n->pool = &cell->pool;
	n->levels = cell->boot.nested_levels;
	n->ept = cell->boot.ept;
	shared = nested_bits(n, NESTED_R | NESTED_W | NESTED_WB);
	n->max_leaf = 2;
	n->root = pool_take(n->pool);
	for (i = 0; i < q->num_runs; i++) {
		bad |= paging_map(n, gpa, q->runs[i].pa, q->runs[i].count * QV_HUGE,
				  nested_bits(n, NESTED_RWX | NESTED_WB));
		gpa += q->runs[i].count * QV_HUGE;
	}
	bad |= paging_map(n, QV_SCREEN_GPA, w, QV_PAGE, shared);
	bad |= paging_map(n, QV_INFO_GPA, first + QV_INFO_GPA, QV_PAGE, nested_bits(n, NESTED_R | NESTED_WB));
	bad |= paging_map(n, QV_COMM_GPA, w + 2 * QV_PAGE, QV_PAGE, shared);
	bad |= paging_map(n, QV_STREAM_GPA, w + 4 * QV_PAGE, 4 * QV_PAGE, shared);
	if (!me()->boot.x2apic)
		bad |= paging_map(n, APIC_PAGE, APIC_PAGE, QV_PAGE, nested_bits(n, NESTED_R));
	return bad || pci_map_cell(cpu, cell);
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
	cell->boot.tsc_khz = mine->boot.tsc_khz;
	cell->boot.x2apic = mine->boot.x2apic;
	cell->boot.levels = mine->boot.levels;
	cell->boot.nested_levels = mine->boot.nested_levels;
	cell->boot.ept = mine->boot.ept;
	cell->boot.vmx = mine->boot.vmx;
	cell->boot.phys_bits = mine->boot.phys_bits;
	cell->boot.next_rip = mine->boot.next_rip;
	cell->boot.decode = mine->boot.decode;
	cell->boot.spec_ctrl = mine->boot.spec_ctrl;
	cell->boot.test_hooks = mine->boot.test_hooks;
	cell->boot.image_len = mine->boot.image_len;
	cell->boot.text_len = mine->boot.text_len;
	cell->pool.va = QV_VA_MANAGE;
	if (setup_tables(cell) || map_cell(cpu, cell))
		return QV_ME_TABLES;
	fill_cpus(cell);
	write_mark(&cell->req, id);
	managed_status()->state = QV_MON_CREATED;
	return guest_init(cell, QV_VA_MANAGE);
}

/* A request is read from RAM that is Linux's: not from a device, nor from what it must not see */
static bool in_own_ram(u64 gpa, u64 len)
{
	u64 first = gpa & ~(QV_PAGE - 1ull);

	return request_pages_ok(me(), first, (gpa - first + len + QV_PAGE - 1) & ~(QV_PAGE - 1ull), 1);
}

static u64 create(struct pcpu *cpu, u64 gpa)
{
	struct instance *inst = me();
	const struct qv_mon_create *q = &inst->req;
	u32 id = 1, i;
	u64 error;

	if (gpa & 7 || !in_own_ram(gpa, sizeof(inst->req)) || !guest_copy_phys(cpu, &inst->req, gpa, sizeof(inst->req)))
		return QV_ME_POINTER;
	while (id < QV_MON_CELLS && inst->cells[id].state)
		id++;
	if (id == QV_MON_CELLS)
		return QV_ME_SLOTS;
	error = request_check(inst, cpu->index);
	if (error)
		return error;

	/*
	 * The block is ours before anything is written there. A flush gives Linux an NMI: a CPU that is
	 * caught in the handler would for Linux be in it for ever, and get no NMI any more. So it is caught first.
	 */
	front_hole(&inst->nested, q->block_pa);
	if (!catch_cpus(cpu) || !flush_front_end(cpu)) {
		error = QV_ME_CPU_STUCK;
		goto give_back;
	}
	manage(QV_VA_MANAGE, q->block_pa);
	error = build_instance(cpu, managed(), id);
	if (error)
		goto give_back;

	/* ---- nothing below can fail ---- */
	front_open(&inst->nested, q->block_pa, inst->cells[id].open_table);
	inst->cells[id].state = QV_MON_CREATED;
	inst->cells[id].block_pa = q->block_pa;
	inst->cells[id].window_pa = q->window_pa;
	inst->cells[id].reclaimed = 0;
	inst->cells[id].bell_gap = inst->boot.tsc_khz / q->bell_rate;
	inst->cells[id].num_devices = q->num_devices;
	memcpy(inst->cells[id].devices, q->devices, sizeof(q->devices));
	inst->cells[id].num_ports = q->num_ports;
	memcpy(inst->cells[id].ports, q->ports, sizeof(q->ports));
	inst->cells[id].cpus = 0;
	for (i = 0; i < q->num_cpus; i++)
		inst->cells[id].cpus |= 1ull << q->cpus[i];
	inst->icr.own &= ~inst->cells[id].cpus;
	setup_rebase(managed());
	manage(QV_VA_MANAGE, 0);
	log_event(cpu, QV_LOG_CREATED, id, request_pages(q));
	return id;

give_back:
	manage(QV_VA_MANAGE, 0);
	front_unhole(&inst->nested, q->block_pa);
	flush_front_end(cpu);
	return error;
}

/* ---- start, stop ---- */

static void set_memory(const struct qv_mon_create *q, void (*what)(const struct paging *, u64))
{
	u32 i;
	u64 k;

	for (i = 0; i < q->num_runs; i++)
		for (k = 0; k < q->runs[i].count; k++)
			what(&me()->nested, q->runs[i].pa + k * QV_HUGE);
}

static bool memory_still_ours(const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		if (!request_run_ok(me(), &q->runs[i]))
			return false;
	return true;
}

static u64 start_cell(struct pcpu *cpu, u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = &managed()->req;
	u64 start, error = QV_ME_OK;
	u32 i;

	if (slot->state != QV_MON_CREATED)
		return QV_ME_STATE;
	if (!memory_still_ours(q))
		return QV_ME_MEMORY;
	if (!pci_still_ours(q))
		return QV_ME_DEVICE_TAKEN;
	set_memory(q, front_hole);
	slot->taken = true;
	pci_take(q, true);
	if (!flush_front_end(cpu))
		error = QV_ME_CPU_STUCK;
	else if (!pci_still_there(cpu, q))
		error = QV_ME_DEVICE_NONE;
	if (error) {
		set_memory(q, front_unhole);
		slot->taken = false;
		pci_take(q, false);
		flush_front_end(cpu);
		return error;
	}

	/* ---- from here the memory is the cell's ---- */
	slot->state = QV_MON_RUNNING;
	pci_begin(cpu, managed());
	managed_status()->locked = q->lock == QV_LOCK_START;
	log_event(cpu, QV_LOG_STARTED, id, 0);
	start = rdtsc();
	for (i = q->num_cpus; i-- > 0;) {	/* the boot CPU last: it finds the others waiting */
		kick(pcpu_of(q->cpus[i]), CMD_BECOME);
		if (!wait_ack(pcpu_in(QV_VA_MANAGE, i), CMD_BECOME, start))
			return QV_ME_CPU_STUCK;
	}
	return QV_ME_OK;
}

static u64 stop_cell(struct pcpu *cpu, u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = &managed()->req;
	u64 start = rdtsc();
	u32 i, state;

	if (slot->state != QV_MON_RUNNING)
		return QV_ME_STATE;
	for (i = 0; i < q->num_cpus; i++)
		kick(pcpu_in(QV_VA_MANAGE, i), CMD_STOP);
	for (i = 0; i < q->num_cpus; i++)
		if (!wait_ack(pcpu_in(QV_VA_MANAGE, i), CMD_STOP, start))
			return QV_ME_CPU_STUCK;
	slot->state = QV_MON_STOPPED;
	pci_quiet(cpu, managed());
	state = QV_MON_RUNNING;		/* a failure stays what it is */
	__atomic_compare_exchange_n(&managed_status()->state, &state, QV_MON_STOPPED, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	log_event(cpu, QV_LOG_STOPPED, id, 0);
	return QV_ME_OK;
}

/* ---- destroy, in small pieces so that no CPU is away for long ---- */

static u64 nth_page(const struct qv_mon_create *q, u64 n)
{
	u32 i;

	for (i = 0; n >= q->runs[i].count; i++)
		n -= q->runs[i].count;
	return q->runs[i].pa + n * QV_HUGE;
}

static void scrub(u64 pa)
{
	manage(QV_VA_SCRUB, pa);
	memset((void *)QV_VA_SCRUB, 0, QV_HUGE);
	manage(QV_VA_SCRUB, 0);
}

static u64 cpus_home(struct pcpu *cpu, const struct cell_slot *slot)
{
	const struct qv_mon_create *q = &managed()->req;
	u64 start = rdtsc();
	u32 i;

	if (slot->state == QV_MON_STOPPED)	/* they run, or are parked, in the cell's instance */
		for (i = 0; i < q->num_cpus; i++) {
			struct pcpu *home = pcpu_of(q->cpus[i]);

			if (load(&home->ack) & CMD_HOME)
				continue;
			kick(pcpu_in(QV_VA_MANAGE, i), CMD_HOME);
			if (!wait_ack(home, CMD_HOME, start)) {
				log_event(cpu, QV_LOG_STUCK, home->apic_id, 0);
				return QV_ME_CPU_STUCK;
			}
		}
	return QV_ME_OK;
}

static u64 reclaim(struct pcpu *cpu, u32 id)
{
	struct instance *inst = me();
	struct cell_slot *slot = &inst->cells[id];
	const struct qv_mon_create *q = &managed()->req;
	u64 error, pa, pages = request_pages(q);
	u32 i;

	if (slot->state != QV_MON_CREATED && slot->state != QV_MON_STOPPED)
		return QV_ME_STATE;
	if (slot->state == QV_MON_STOPPED && slot->reclaimed < pages) {
		if (slot->reclaimed == 0) {
			error = cpus_home(cpu, slot);
			if (error)
				return error;
		}
		pa = nth_page(q, slot->reclaimed++);
		scrub(pa);
		front_unhole(&inst->nested, pa);
		return 1;
	}
	for (i = 0; i < q->num_cpus; i++)
		__atomic_fetch_and(&pcpu_of(q->cpus[i])->ack, ~CMD_HOME, __ATOMIC_SEQ_CST);
	inst->icr.own |= slot->cpus;
	if (slot->taken) {
		slot->taken = false;
		pci_take(q, false);
	}
	pa = slot->block_pa;
	manage(QV_VA_MANAGE, 0);
	scrub(pa);
	front_unhole(&inst->nested, pa);
	if (!flush_front_end(cpu))		/* somebody may still see it as it was: once more, later */
		return QV_ME_CPU_STUCK;
	slot->state = QV_MON_NONE;
	log_event(cpu, QV_LOG_RECLAIMED, id, 0);
	return QV_ME_OK;
}

/*
 * Each bell is an interrupt of the cell's, so Linux may ring only so often. Nothing is remembered here, since
 * nothing here has a timer: who is refused rings again. A Linux that does not only waits longer for its cell.
 */
static u64 doorbell(u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	u64 now = rdtsc();

	if (slot->state != QV_MON_RUNNING || !managed()->req.doorbell_vector)
		return QV_ME_STATE;
	if (now - slot->bell_tsc < slot->bell_gap)
		return QV_ME_RATE;
	slot->bell_tsc = now;
	apic_send(1 << 14 | managed()->req.doorbell_vector, managed()->icr.apic_id[0]);
	return QV_ME_OK;
}

static u64 on_cell(struct pcpu *cpu, u64 nr, u64 id)
{
	u64 result = QV_ME_CALL;

	if (!id || id >= QV_MON_CELLS || !me()->cells[id].state)
		return QV_ME_INSTANCE;
	manage(QV_VA_MANAGE, me()->cells[id].block_pa);
	switch (nr) {
	case QV_HC_START:
		result = start_cell(cpu, id);
		break;
	case QV_HC_STOP:
		result = stop_cell(cpu, id);
		break;
	case QV_HC_RECLAIM:
		result = reclaim(cpu, id);
		break;
	case QV_HC_DOORBELL:
		result = doorbell(id);
		break;
	case QV_HC_LOCK:
		result = lock(id);
		break;
	}
	manage(QV_VA_MANAGE, 0);
	return result;
}

/* A CPU outside the monitor could touch everything: none leaves while there are cells */
static u64 may_leave(const struct pcpu *cpu)
{
	u32 i;

	for (i = 1; i < QV_MON_CELLS; i++)
		if (me()->cells[i].state)
			return QV_ME_STATE;
	me()->left |= 1ull << cpu->index;	/* and no cell comes after it */
	return QV_ME_OK;
}

static u64 note(struct pcpu *cpu, u64 what)
{
	if (what < QV_NOTE_PANIC || what > QV_NOTE_POWER_OFF)
		return QV_ME_CALL;
	log_event(cpu, QV_LOG_LINUX_ENDS, what, 0);
	return QV_ME_OK;
}

static void reset_held(void)
{
	u32 i;

	for (i = 0; i < me()->boot.num_cpus; i++)
		my_status()->cpus[i].held_max = my_status()->cpus[i].call_max = 0;
}

u64 hypercall(struct pcpu *cpu, u64 nr, u64 a)
{
	u64 result = QV_ME_OK;
	u32 nobody = 0;

	if (nr == QV_HC_NOP)
		return QV_ME_OK;
	if (nr >= QV_HC_COUNT)
		return QV_ME_CALL;
	if (nr == QV_HC_NOTE)			/* Linux may be in its last throes: wait for nobody */
		return note(cpu, a);
	if (!__atomic_compare_exchange_n(&me()->busy, &nobody, cpu->index + 1, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return QV_ME_BUSY;
	if ((LOCKABLE & 1u << nr) && !begun(nr, a) && locked())
		result = QV_ME_LOCKED;
	else if (nr == QV_HC_CREATE)
		result = me()->left ? QV_ME_STATE : create(cpu, a);
	else if (nr == QV_HC_LEAVE)
		result = may_leave(cpu);
	else if (nr == QV_HC_RESET_HELD)
		reset_held();
	else
		result = on_cell(cpu, nr, a);
	__atomic_store_n(&me()->busy, 0, __ATOMIC_RELEASE);
	return result;
}
