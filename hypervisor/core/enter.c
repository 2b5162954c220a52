// SPDX-License-Identifier: GPL-2.0-only
/*
 * From Linux into the monitor, all CPUs together. What may fail comes first;
 * one atomic verdict decides for all; after it nothing can fail.
 */
#include "cpu.h"
#include "nested.h"
#include "vendor.h"
#include "enter.h"

/* RAM and the devices below 4 GiB now, so that Linux's first touches need no exits later */
static void map_known(const struct paging *n)
{
	u64 pa = 0, top = 1ull << 32;
	u32 i, level;

	for (i = 0; i < n->ram->num_ram && i < QV_MON_RAM_RANGES; i++)
		if (n->ram->ram[i].end > top)
			top = n->ram->ram[i].end;
	while (pa < top) {
		front_fill(n, pa);
		paging_find(n, pa, 1, &level);
		pa = (pa & ~(level_size(level) - 1)) + level_size(level);
	}
}

static u64 front_end_tables(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	struct paging *n = &inst->nested;
	u64 *ones = NULL, *sink = NULL, ones_page, sink_page, pa;
	u32 i;

	n->pool = &inst->pool;
	n->ram = b;
	n->levels = b->levels;
	n->max_leaf = b->page1g ? 3 : 2;
	n->root = pool_take(n->pool);
	inst->ones_table = pool_take(n->pool);
	inst->sink_table = pool_take(n->pool);
	ones_page = pool_take(n->pool);
	sink_page = pool_take(n->pool);
	if (!sink_page)
		return QV_ME_TABLES;
	ones = pool_table(n->pool, inst->ones_table);
	sink = pool_table(n->pool, inst->sink_table);
	for (i = 0; i < 512; i++) {
		ones[i] = ones_page | PT_P | PT_U;
		sink[i] = sink_page | NESTED_RWX;
	}
	memset(pool_table(n->pool, ones_page), 0xff, QV_PAGE);

	for (pa = b->block_pa; pa < b->block_pa + b->block_len; pa += QV_HUGE) {
		if (front_prepare(n, pa))
			return QV_ME_TABLES;
		front_hole(n, pa);
	}
	for (i = 0; i < QV_MON_CELLS; i++) {
		inst->cells[i].open_table = pool_take(n->pool);
		if (!inst->cells[i].open_table)
			return QV_ME_TABLES;
	}
	front_open(n, b->block_pa, inst->cells[0].open_table);
	map_known(n);
	/* xAPIC: reads are direct, writes come to us */
	if (!b->x2apic && paging_map(n, 0xfee00000, 0xfee00000, QV_PAGE, PT_P | PT_U))
		return QV_ME_TABLES;
	return QV_ME_OK;
}

static void init_cpus(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	u32 i;

	inst->icr.num = b->num_cpus;
	inst->icr.x2apic = b->x2apic;
	for (i = 0; i < b->num_cpus; i++) {
		struct pcpu *cpu = pcpu_of(i);

		cpu->index = i;
		cpu->linux_cpu = b->cpus[i].linux_cpu;
		cpu->apic_id = inst->icr.apic_id[i] = b->cpus[i].apic_id;
		my_status()->cpus[i].linux_cpu = cpu->linux_cpu;
		my_status()->cpus[i].apic_id = cpu->apic_id;
		inst->icr.own |= 1ull << i;
	}
	my_status()->num_cpus = b->num_cpus;
}

static u64 master_setup(struct instance *inst)
{
	u64 error;

	init_cpus(inst);
	error = front_end_tables(inst);
	if (!error)
		error = vendor_init_instance(inst, QV_VA_BLOCK);
	my_status()->state = QV_MON_RUNNING;
	return error;
}

static bool expired(u64 start)
{
	return rdtsc() - start > (u64)me()->boot.tsc_khz * me()->boot.enter_ms;
}

/* The last to arrive says go, unless somebody met an error or lost patience: then none goes */
static bool verdict(struct instance *inst, u64 error)
{
	struct enter_state *s = &inst->enter;
	u64 start = rdtsc();
	u32 undecided = ENTER_UNDECIDED;

	if (error) {
		__atomic_store_n(&s->error, error, __ATOMIC_RELEASE);
		__atomic_store_n(&s->verdict, ENTER_BACK, __ATOMIC_RELEASE);
	}
	if (__atomic_add_fetch(&s->arrived, 1, __ATOMIC_SEQ_CST) == inst->boot.num_cpus)
		__atomic_compare_exchange_n(&s->verdict, &undecided, ENTER_GO, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	while (load(&s->verdict) == ENTER_UNDECIDED) {
		undecided = ENTER_UNDECIDED;
		if (expired(start))
			__atomic_compare_exchange_n(&s->verdict, &undecided, ENTER_BACK, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		pause();
	}
	return load(&s->verdict) == ENTER_GO;
}

/* From the trampoline, on this CPU's stack in the block, interrupts and NMIs held off */
void monitor_entry(struct pcpu *cpu)
{
	struct instance *inst = me();
	struct enter_state *s = &inst->enter;
	u64 start = rdtsc(), error = QV_ME_OK;

	if (__atomic_fetch_add(&s->tickets, 1, __ATOMIC_SEQ_CST) == 0) {
		error = master_setup(inst);
		__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	}
	while (!load(&s->ready) && !expired(start))
		pause();
	if (!error)
		error = load(&s->ready) ? vendor_enter(cpu) : QV_ME_CPU_STUCK;
	if (!verdict(inst, error))
		vendor_back(cpu, s->error ? s->error : QV_ME_CPU_STUCK);

	/* ---- the point of no return: from here on, this CPU's Linux is a guest ---- */
	icr_learn(cpu);
	log_event(cpu, QV_LOG_ENTERED, cpu->apic_id, 0);
	vendor_run(cpu);
}
