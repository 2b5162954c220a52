// SPDX-License-Identifier: GPL-2.0-only
/* request.c: requests that the manager accepts. */
#include <string.h>
#include "abi/errors.h"
#include "core/ports.h"
#include "request_model.h"
#include "unit.h"

#define K4	0x1000ull
#define M2	0x200000ull
#define G4	0x100000000ull

/* Name; expected error; change to a good request (or to the machine) */
#define CHANGES(X) \
	X(nothing, OK, (void)0) \
	X(no_cpus, CPUS, q->num_cpus = 0) \
	X(cpus_one_too_many, CPUS, q->num_cpus = 65) \
	X(cpus_huge, CPUS, q->num_cpus = ~0u) \
	X(cpu_twice, CPUS, q->cpus[1] = 3) \
	X(cpu_unknown, CPUS, q->cpus[1] = 8) \
	X(cpu_unknown_64, CPUS, q->cpus[1] = 64) \
	X(cpu_unknown_wraps, CPUS, q->cpus[0] = 0x80000000u) \
	X(cpu_of_a_cell, CPU_TAKEN, q->cpus[1] = 5) \
	X(cpu_that_calls, CPU_TAKEN, q->cpus[0] = MACHINE_CALLER) \
	X(cpu_0, OK, q->cpus[0] = 0) \
	X(cpus_past_the_number, OK, q->cpus[2] = 77) \
	X(block_at_4k, BLOCK, q->block_pa += K4) \
	X(block_at_1m, BLOCK, q->block_pa += M2 / 2) \
	X(block_at_byte, BLOCK, q->block_pa += 1) \
	X(block_in_first_page, BLOCK, q->block_pa = 0) \
	X(block_at_end_of_low_ram, BLOCK, q->block_pa = 0x7fe00000) \
	X(block_beyond_ram, BLOCK, q->block_pa = 5 * G4 / 4) \
	X(block_half_in_ram, BLOCK, q->block_pa = 5 * G4 / 4 - M2) \
	X(block_last_in_ram, OK, q->block_pa = 5 * G4 / 4 - 2 * M2) \
	X(block_in_gap, BLOCK, q->block_pa = 0xc0000000) \
	X(block_at_top, BLOCK, q->block_pa = -M2) \
	X(block_alias_high, BLOCK, q->block_pa |= 1ull << 52) \
	X(block_alias_48, BLOCK, q->block_pa |= 1ull << 48) \
	X(block_is_monitor, BLOCK, q->block_pa = 101 * M2) \
	X(block_is_open, BLOCK, q->block_pa = 100 * M2) \
	X(block_is_cell_block, BLOCK, q->block_pa = 110 * M2) \
	X(block_is_cell_memory, BLOCK, q->block_pa = 309 * M2) \
	X(block_holds_console_of_other, BLOCK, q->block_pa = 112 * M2) \
	X(block_answered_with_ones, BLOCK, q->block_pa = 320 * M2) \
	X(console_at_byte, CONSOLE, q->console_pa += 8) \
	X(console_2k, CONSOLE, q->console_pa += 0x800) \
	X(console_not_ram, CONSOLE, q->console_pa = 0xb8000) \
	X(console_past_low_ram, CONSOLE, q->console_pa = 0x9f000 - 7 * K4) \
	X(console_ends_low_ram, OK, q->console_pa = 0x9f000 - 8 * K4) \
	X(console_at_zero, CONSOLE, q->console_pa = 0) \
	X(console_across_a_gap, CONSOLE, q->console_pa = 0x7ff05000 - 4 * K4) \
	X(console_wraps, CONSOLE, q->console_pa = -4 * K4) \
	X(console_in_block, CONSOLE, q->console_pa = q->block_pa + 5 * K4) \
	X(console_runs_into_block, CONSOLE, q->console_pa = q->block_pa - 7 * K4) \
	X(console_before_block, OK, q->console_pa = q->block_pa - 8 * K4) \
	X(console_is_others, CONSOLE, q->console_pa = 112 * M2 + 0x10000) \
	X(console_touches_others_start, CONSOLE, q->console_pa = 112 * M2 + 0x9000) \
	X(console_touches_others_end, CONSOLE, q->console_pa = 112 * M2 + 0x17000) \
	X(console_before_others, OK, q->console_pa = 112 * M2 + 0x8000) \
	X(console_after_others, OK, q->console_pa = 112 * M2 + 0x18000) \
	X(console_of_monitor, CONSOLE, q->console_pa = 101 * M2) \
	X(console_open_part, CONSOLE, q->console_pa = 100 * M2) \
	X(console_into_hole, CONSOLE, q->console_pa = 300 * M2 - 4 * K4) \
	X(console_in_run, MEMORY, q->console_pa = 203 * M2) \
	X(console_runs_into_run, MEMORY, q->console_pa = 400 * M2 - 7 * K4) \
	X(console_before_run, OK, q->console_pa = 400 * M2 - 8 * K4) \
	X(console_after_run, OK, q->console_pa = 432 * M2) \
	X(no_runs, MEMORY, q->num_runs = 0) \
	X(runs_one_too_many, MEMORY, q->num_runs = 1025) \
	X(runs_huge, MEMORY, q->num_runs = ~0u) \
	X(runs_past_the_number, OK, q->runs[3].pa = 1) \
	X(run_empty, MEMORY, q->runs[1].count = 0) \
	X(run_at_4k, MEMORY, q->runs[1].pa += K4) \
	X(run_twice, MEMORY, q->runs[1] = q->runs[0]) \
	X(runs_descending, MEMORY, q->runs[1].pa = 150 * M2) \
	X(runs_overlap, MEMORY, q->runs[1].pa = 209 * M2) \
	X(runs_adjacent, OK, q->runs[1].pa = 210 * M2) \
	X(run_holds_block, MEMORY, q->block_pa = 405 * M2) \
	X(run_ends_in_block, MEMORY, q->block_pa = 209 * M2) \
	X(run_before_block, OK, q->block_pa = 210 * M2) \
	X(run_count_wraps, MEMORY, q->runs[2].count = 1ull << 43) \
	X(run_count_wraps_more, MEMORY, q->runs[2].count = (1ull << 43) + 1) \
	X(run_count_huge, MEMORY, q->runs[2].count = ~0ull) \
	X(run_count_31, MEMORY, q->runs[2].count = 1ull << 31) \
	X(run_to_the_end, OK, q->runs[2].count = 512 - 1 - 50) \
	X(run_past_the_end, MEMORY, q->runs[2].count = 512 - 50) \
	X(run_into_gap, MEMORY, q->runs[1].count = 1023 - 400 + 1) \
	X(run_over_cell, MEMORY, (q->runs[1].pa = 298 * M2, q->runs[1].count = 3)) \
	X(run_is_cell, MEMORY, q->runs[1].pa = 305 * M2) \
	X(run_over_monitor, MEMORY, (q->num_runs = 1, q->runs[0].pa = 99 * M2)) \
	X(run_over_others_console, MEMORY, (q->num_runs = 1, q->runs[0].pa = 111 * M2)) \
	X(run_over_ones, MEMORY, (q->runs[1].pa = 318 * M2, q->runs[1].count = 3)) \
	X(run_in_first_page, MEMORY, (q->num_runs = 1, q->runs[0].pa = 0)) \
	X(run_at_top, MEMORY, q->runs[2].pa = -M2) \
	X(run_alias_48, MEMORY, q->runs[2].pa |= 1ull << 48) \
	X(ports_one_too_many, PORTS, q->num_ports = 17) \
	X(ports_huge, PORTS, q->num_ports = ~0u) \
	X(ports_most, OK, q->num_ports = 16) \
	X(no_ports, OK, q->num_ports = 0) \
	X(ports_reversed, PORTS, q->ports[1].last = 0x3f7) \
	X(ports_all, PORT_NEVER, (q->ports[1].first = 0, q->ports[1].last = 0xffff)) \
	X(port_reset, PORT_NEVER, q->ports[1].first = q->ports[1].last = 0xcf9) \
	X(port_range_into_it, PORT_NEVER, (q->ports[1].first = 0x90, q->ports[1].last = 0x92)) \
	X(ports_between, OK, (q->ports[1].first = 0x93, q->ports[1].last = 0x9f)) \
	X(port_of_firmware, PORT_NEVER, (q->ports[0].first = 0x600, q->ports[0].last = 0x604)) \
	X(port_of_another_list, PORT_TAKEN, q->ports[1].first = q->ports[1].last = 0x80) \
	X(port_range_over_another_list, PORT_TAKEN, \
	  (q->ports[0].first = 0x7f0, q->ports[0].last = 0x800)) \
	X(port_of_another_device, PORT_TAKEN, \
	  (q->ports[0].first = 0xc007, q->ports[0].last = 0xc009)) \
	X(ports_beside_anothers, OK, (q->ports[0].first = 0xc008, q->ports[0].last = 0xc00f)) \
	X(port_of_a_cell_that_was, OK, \
	  (q->ports[0].first = 0x80, q->ports[0].last = 0x80, \
	   ports_stop(inst, 0x80, 0x80, false))) \
	X(devices_too_many, DEVICES, q->num_devices = 9) \
	X(devices_huge, DEVICES, q->num_devices = ~0u) \
	X(device_without_ecam, DEVICE_NONE, q->num_devices = 1) \
	X(ports_past_the_number, OK, q->ports[2].first = 5) \
	X(doorbell_none, OK, q->doorbell_vector = 0) \
	X(bell_rate_none, ENTRY, q->bell_rate = 0) \
	X(bell_rate_most, OK, q->bell_rate = 1000) \
	X(bell_rate_more, ENTRY, q->bell_rate = 1001) \
	X(bell_rate_huge, ENTRY, q->bell_rate = ~0u) \
	X(x2apic_offered, OK, q->x2apic = 1) \
	X(x2apic_not_offered, X2APIC, (q->x2apic = 1, inst->boot.offers_x2apic = 0)) \
	X(x2apic_machine, OK, (q->x2apic = inst->boot.x2apic = 1, inst->boot.offers_x2apic = 0)) \
	X(x2apic_machine_unasked, OK, inst->boot.x2apic = 1) \
	X(x2apic_two, ENTRY, q->x2apic = 2) \
	X(x2apic_clusters, X2APIC, (q->x2apic = 1, inst->icr.cluster = 1)) \
	/* its CPUs 3 and 2 have the ids 6 and 4: logical ids 0x40 and 0x10 */ \
	X(x2apic_name_of_linux, X2APIC, (q->x2apic = 1, inst->icr.ldr[1] = 0x42)) \
	X(x2apic_name_of_a_cells_cpu, X2APIC, (q->x2apic = 1, inst->icr.ldr[5] = 0x10)) \
	X(x2apic_names_of_its_own, OK, (q->x2apic = 1, \
					inst->icr.ldr[3] = 0x10, inst->icr.ldr[2] = 0x40)) \
	X(x2apic_other_names, OK, (q->x2apic = 1, inst->icr.ldr[1] = 0xaf)) \
	X(x2apic_high_ids, OK, (q->x2apic = 1, q->num_cpus = 1, \
				inst->icr.apic_id[3] = 8, inst->icr.ldr[1] = 0xff)) \
	X(xapic_any_names, OK, (inst->icr.ldr[1] = 0xff, inst->icr.cluster = 1)) \
	X(doorbell_exception, ENTRY, q->doorbell_vector = 31) \
	X(doorbell_256, ENTRY, q->doorbell_vector = 256) \
	X(doorbell_huge, ENTRY, q->doorbell_vector = 0x80000020u) \
	X(doorbell_last, OK, q->doorbell_vector = 255) \
	X(eip_outside, ENTRY, q->entry.eip = 41 * M2) \
	X(eip_last, OK, q->entry.eip = 41 * M2 - 1) \
	X(eip_top, ENTRY, q->entry.eip = ~0u) \
	X(ebx_outside, ENTRY, q->entry.ebx = 41 * M2) \
	X(ebx_last, OK, q->entry.ebx = 41 * M2 - 1) \
	X(machine_without_ram, BLOCK, inst->boot.num_ram = 0) \
	X(machine_ram_reversed, BLOCK, \
	  (inst->boot.ram[1].start = 0x7ff05000, inst->boot.ram[1].end = 0x100000)) \
	X(machine_gone_cell_does_not_matter, OK, inst->manager.cells[3].state = QV_MON_NONE) \
	X(cell_that_was_counts_not, OK, other_cell(inst, 4, QV_MON_NONE, q->console_pa)) \
	X(cell_stopped_counts, CONSOLE, other_cell(inst, 4, QV_MON_STOPPED, q->console_pa)) \
	X(cell_created_counts, MEMORY, other_cell(inst, 15, QV_MON_CREATED, 400 * M2 - 7 * K4))

static void other_cell(struct instance *inst, u32 id, u32 state, u64 console_pa)
{
	static struct qv_mon_create q;

	q.console_pa = console_pa;
	inst->manager.cells[id].state = state;
	inst->manager.cells[id].q = &q;
}

#define X(name, error, change) \
	static void change_##name(struct instance *inst, struct qv_mon_create *q) \
	{ \
		(void)inst, (void)q; \
		change; \
	}
CHANGES(X)
#undef X

static const struct {
	const char *name;
	u64 error;
	void (*make)(struct instance *inst, struct qv_mon_create *q);
} changes[] = {
#define X(name, error, change) { #name, QV_ME_##error, change_##name },
	CHANGES(X)
#undef X
};

static void one_change(void)
{
	static struct machine m;
	u32 i;

	for (i = 0; i < 2 * sizeof(changes) / sizeof(changes[0]); i++) {
		machine_open(&m, 2 + i % 2);
		changes[i / 2].make(m.inst, &m.inst->req);
		unit_case("%s:", changes[i / 2].name);
		CHECK_EQ(request_check(m.inst, MACHINE_CALLER), changes[i / 2].error);
		front_model_check_all(&m.front);
		machine_close(&m);
	}
}

/* Combines changes at random. The request is accepted exactly if the judge finds no fault */
static void many_changes(void)
{
	static struct machine m;
	struct choices c = { 0 };
	u32 round, i, n, fine = 0;

	machine_open(&m, 3);
	for (round = 0; round < 100000; round++) {
		request_good(&m.inst->req);
		for (i = 0, n = rnd_below(4); i < n; i++)
			request_spoil(&m.inst->req, &c);
		unit_case("round %u:", round);
		request_model_check(&m);
		fine += !request_unsound(&m, &m.inst->req);
	}
	unit_case("after all:");
	CHECK(fine > 20000 && fine < 80000);
	front_model_check_all(&m.front);
	machine_close(&m);
}

static void nothing_but_noise(void)
{
	static struct machine m;
	u32 round, i;

	machine_open(&m, 3);
	for (round = 0; round < 2000; round++) {
		u64 *words = (u64 *)&m.inst->req;

		for (i = 0; i < sizeof(m.inst->req) / 8; i++)
			words[i] = rnd() & rnd() & rnd();
		unit_case("round %u:", round);
		request_model_check(&m);
	}
	machine_close(&m);
}

/*
 * After a request is prepared, making its holes cannot fail: without pages for tables it is
 * rejected.
 */
static void short_of_tables(void)
{
	static struct machine m;
	u32 left;

	for (left = 0; left < 6; left++) {
		machine_open(&m, 3);
		m.front.s.pool.next = m.front.s.pool.end - left * 4096;
		m.inst->req.runs[1].pa = 1000 * M2;	/* two whole GiBs, and one GiB in part */
		m.inst->req.runs[1].count = 20;
		m.inst->req.num_runs = 2;
		unit_case("%u pages:", left);
		CHECK_EQ(request_check(m.inst, MACHINE_CALLER), QV_ME_OK);
		CHECK_EQ(request_prepare(m.inst, MACHINE_CALLER),
			 left >= 1 ? QV_ME_OK : QV_ME_TABLES);
		front_model_check_all(&m.front);
		machine_close(&m);
	}
}

UNIT_SUITE(request) = {
	{ "request: each single change gives its error", one_change },
	{ "request: random changes agree with a slow judge", many_changes },
	{ "request: random bytes agree with a slow judge", nothing_but_noise },
	{ "request: without pages for tables it is rejected", short_of_tables },
	{ 0 }
};
