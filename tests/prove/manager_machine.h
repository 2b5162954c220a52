/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions in place of hardware, and of code with separate proofs, for the proofs of manage/. */
#ifndef MANAGER_MACHINE_H
#define MANAGER_MACHINE_H

#include "abi/errors.h"
#include "manager_model.h"

/* ---- replacements of hardware ---- */

/* In place of vendor_move() in commands.c: the CPU leaves the front end. */
void a_move(void)
{
	PROVE(the_instance.manager.away >> acting & 1, "only a CPU that was sent leaves");
	PROVE(cpu_at(acting).phase == CPU_WAIT_SIPI && !(the_instance.icr.own_cpus >> acting & 1),
	      "and only a caught CPU");
	there[acting] = true;
	cached[acting] = false;	/* on arrival */
}

u64 *a_mapping(u64 va)
{
	PROVE(va == QV_VA_MANAGE || va == QV_VA_SCRUB, "an existing mapping");
	step();
	return va == QV_VA_MANAGE ? &manage_entry : &scrub_entry;
}

struct pcpu *a_pcpu(u64 block, u32 index)
{
	if (block == QV_VA_MANAGE) {
		PROVE(mapping(QV_VA_MANAGE), "the block is mapped");
		PROVE(index < CELL_CPUS, "a CPU of the cell");
		return index ? &block_cpu1 : &block_cpu0;
	}
	PROVE(index < NUM, "an existing CPU");
	return &cpu_at(index);
}

static bool in_block(const void *p)
{
	return __CPROVER_same_object(p, &block_cpu0) || __CPROVER_same_object(p, &block_cpu1) ||
	       __CPROVER_same_object(p, &block_status) ||
	       __CPROVER_same_object(p, &block_instance);
}

void a_step(const void *p)
{
	PROVE(!in_block(p) || mapping(QV_VA_MANAGE),
	      "a block is not accessed after it is given back");
	step();
}

u32 a_load(const u32 *p)
{
	a_step(p);
	return *p;
}

u32 a_fetch_or(u32 *p, u32 v)
{
	u32 old;

	a_step(p);
	old = *p;
	*p |= v;
	return old;
}

u32 a_fetch_and(u32 *p, u32 v)
{
	u32 old;

	a_step(p);
	old = *p;
	*p &= v;
	return old;
}

u32 a_clock(void)
{
	return any_u32();
}

struct instance *a_managed(void)
{
	PROVE(mapping(QV_VA_MANAGE), "the block is mapped");
	return &block_instance;
}

struct qv_mon_status *a_managed_status(void)
{
	PROVE(mapping(QV_VA_MANAGE), "the block is mapped");
	block_status.locked = any_bool();
	block_status.state = any_u32();
	return &block_status;
}

void a_clear(void)
{
	PROVE(mapping(QV_VA_MANAGE), "the block is mapped");
	step();
	block_instance.icr.own_cpus = 0;
}

void a_scrub(void)
{
	step();
}

static void hole(u64 pa)
{
	if (pa == watched) {
		PROVE(!owner_now(), "memory of a cell is not taken");
		taken = hidden = true;
	}
}

static void unhole(u64 pa)
{
	if (pa == watched) {
		PROVE(taken || owner == 1, "only the cell's own memory is given back");
		PROVE(watched != mapping(QV_VA_MANAGE) && watched != mapping(QV_VA_SCRUB),
		      "no mapping shows it");
		hidden = false;
	}
}

/* For other lengths: pages of a block, next to its open part or in it */
void linux_memory(u64 pa, u64 len, enum linux_access access)
{
	step();
	if (len != QV_HUGE)
		PROVE((pa & ~(QV_HUGE - 1ull)) != watched || hidden, "a hole is opened");
	else if (access == LINUX_NONE)
		hole(pa);
	else
		unhole(pa);
}

/* The units of the IOMMU may answer or not */
bool iommu_flush(struct pcpu *cpu)
{
	(void)cpu;
	step();
	return any_bool();
}

void front_split(const struct paging *p, u64 pa, u64 table)
{
	(void)p, (void)table;
	step();
	PROVE(pa != watched || hidden, "a hole is split");
}

void apic_send(u32 low, u32 apic_id)
{
	(void)low, (void)apic_id;
}

/* It changes a word that no other function reads: test_bell_rate.c */
u64 bell_turn(u64 *next, u32 rate, bool wait)
{
	(void)next;
	PROVE(rate && !wait, "a rate, and a call that does not wait");
	return any_u32();
}

/* It changes targets of interrupts only: test_channel_bells.c */
void bells_shut(struct pcpu *cpu, u64 cpus)
{
	(void)cpu, (void)cpus;
	step();
}

bool posts_serve(struct pcpu *cpu)
{
	(void)cpu;
	return false;
}

void log_event(const struct pcpu *cpu, u32 what, u64 a, u64 b)
{
	(void)cpu, (void)what, (void)a, (void)b;
}

void apic_drain(void) { }
void apic_hand_over(const struct pcpu *cpu) { (void)cpu; }
void clear_registers(void) { }
void vendor_set_park(struct pcpu *cpu, enum cpu_phase phase) { cpu->phase = phase; }
void vendor_set_sipi(struct pcpu *cpu, u32 vector) { (void)cpu, (void)vector; }
void vendor_set_entry(struct pcpu *cpu, const struct qv_mon_entry *e) { (void)cpu, (void)e; }
void vendor_inject_nmi(struct pcpu *cpu) { (void)cpu; }
u64 vendor_idt_base(const struct pcpu *cpu) { (void)cpu; return any_u64(); }
void vendor_arrive(struct pcpu *cpu) { (void)cpu; }

bool vendor_msr_stop(u8 *map, u32 msr, u32 stop)
{
	(void)map, (void)msr, (void)stop;
	return any_bool();
}

bool cell_record(struct pcpu *cpu, u32 reason, u64 a)
{
	(void)cpu, (void)reason, (void)a;
	return any_bool();
}

/* ---- functions with separate proofs; if a function may fail, it fails at random ---- */

static u64 failure(void)
{
	return any_bool() ? 0 : QV_ME_TABLES;
}

u64 pt_take(struct pt_pool *pool) { (void)pool; return any_u64(); }
int paging_map(const struct paging *p, u64 a, u64 pa, u64 len, u64 f)
{
	(void)p, (void)a, (void)pa, (void)len, (void)f;
	return failure();
}
int setup_tables(struct instance *inst) { (void)inst; return failure(); }
void setup_rebase(struct instance *inst) { (void)inst; }
u64 guest_init(struct instance *inst, u64 va) { (void)inst, (void)va; return failure(); }

/* ---- The parts pci, ports, channels, dma: their functions may fail and have no effect ---- */

static u64 any_error(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	(void)cpu, (void)inst, (void)q;
	return failure();
}

const struct part part_pci = {
	.try = {
		[PART_MAP]		= any_error,
		[PART_STILL_OURS]	= any_error,
		[PART_STILL_THERE]	= any_error,
	},
};

const struct part part_ports = {
	.try = { [PART_MAP] = any_error, [PART_STILL_OURS] = any_error },
};

/* Returns true if a channel of the cell is not cleared yet */
static bool any_piece(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	(void)cpu, (void)slot, (void)q;
	return any_bool();
}

const struct part part_channels = {
	.try = { [PART_MAP] = any_error, [PART_STILL_OURS] = any_error },
	.clear = any_piece,
};

const struct part part_dma = { .try = { [PART_MAP] = any_error } };

bool iommu_settled(struct pcpu *cpu, u64 id)
{
	(void)cpu, (void)id;
	return any_bool();
}

bool request_has_console(const struct instance *inst, u64 pa, u64 len)
{
	(void)inst, (void)pa, (void)len;
	return any_bool();
}

bool request_takable(const struct instance *inst, u64 pa, u64 len)
{
	(void)inst, (void)len;
	return (!owner || pa != watched) && any_bool();
}

bool request_pages_ok(const struct instance *inst, u64 pa, u64 len, u32 level)
{
	(void)inst, (void)len, (void)level;
	return (!owner || pa != watched) && any_bool();
}

#endif
