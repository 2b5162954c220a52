// SPDX-License-Identifier: GPL-2.0-only
/* icr.c: every kind of interrupt command. No command reaches a foreign CPU. */
#include <string.h>
#include "icr_model.h"
#include "unit.h"

static const u32 vectors[] = { 0, 2, 15, 16, 0x20, 0x99, 0xff };

static void all_kinds(const struct icr_map *map, u32 dest, u32 self)
{
	u32 kind, v;

	for (kind = 0; kind < 8 * 2 * 4 * 4; kind++)
		for (v = 0; v < sizeof(vectors) / sizeof(vectors[0]); v++) {
			struct icr_fields f = {
				.vector = vectors[v], .mode = kind & 7, .logical = kind >> 3 & 1,
				.shorthand = kind >> 4 & 3, .assert = kind >> 6 & 1,
				.level = kind >> 7 & 1,
			};

			icr_model_check(map, &f, dest, self);
		}
}

static const u64 owns[] = { 0xff, 0x01, 0x0e, 0xa4, 0x80, 0 };

static void x2apic_kinds(void)
{
	static const u32 dests[] = {
		0, 1, 2, 3, 0x11, 0x12, 0x25, 0x100, 0x101, 4, 0xff, 0xffff, 0x80000000, 0xffffffff,
		0x00000001, 0x0000000f, 0x0000ffff, 0x00010002, 0x00010006, 0x0001ffff, 0x00020020,
		0x00100001, 0x00100003, 0x00110001, 0xffff0001, 0x00010000,
	};
	struct icr_map map = {
		.num = 8, .x2apic = 1, .apic_id = { 0, 1, 2, 0x11, 0x12, 0x25, 0x100, 0x101 },
	};
	u32 o, d, self;

	for (o = 0; o < sizeof(owns) / sizeof(owns[0]); o++)
		for (d = 0; d < sizeof(dests) / sizeof(dests[0]); d++)
			for (self = 0; self < 8; self += 7) {
				map.own_cpus = owns[o];
				all_kinds(&map, dests[d], self);
			}
}

static void xapic_kinds(bool cluster)
{
	struct icr_map map = { .num = 8, .cluster = cluster };
	u32 o, dest, self, i;

	for (i = 0; i < 8; i++) {
		map.apic_id[i] = i * 3;
		map.ldr[i] = cluster ? i / 3 << 4 | 1u << i % 3 : 1u << i;
	}
	map.ldr[7] = 0;			/* one CPU has the logical id 0 */
	for (o = 0; o < sizeof(owns) / sizeof(owns[0]); o++)
		for (dest = 0; dest < 256; dest += dest < 40 ? 1 : 5)
			for (self = 0; self < 8; self += 7) {
				map.own_cpus = owns[o];
				all_kinds(&map, dest, self);
			}
	for (self = 0; self < 8; self++) {
		map.own_cpus = 0x6c;
		all_kinds(&map, 0xff, self);
	}
}

static void flat_kinds(void)
{
	xapic_kinds(false);
}

static void cluster_kinds(void)
{
	xapic_kinds(true);
}

/* With any map and any command, no CPU outside the instance is reached. */
static void random_commands(void)
{
	u32 round, i, k;

	for (round = 0; round < 3000; round++) {
		struct icr_map map = {
			.num = 1 + rnd_below(64), .x2apic = rnd() & 1, .own_cpus = rnd() & rnd(),
			.cluster = rnd() & 1,
		};
		u32 limit = map.x2apic ? 0x1000 : 0xff;

		for (i = 0; i < 64; i++) {	/* entries from .num on must have no effect */
			map.apic_id[i] = rnd_below(limit);
			map.ldr[i] = rnd() & 0xff;
		}
		if (map.num < 64)
			map.own_cpus &= (1ull << map.num) - 1;
		for (k = 0; k < 50; k++) {
			u32 some = rnd_below(map.num);
			u32 cluster = (map.apic_id[some] >> 4) << 16;
			u32 logical = map.x2apic ? cluster | (rnd() & 0xffff) : map.ldr[some];
			u32 dests[] = { rnd(), map.apic_id[some], logical, ~0u };
			u32 dest = dests[rnd_below(4)] & (map.x2apic ? ~0u : 0xff);
			struct icr_fields f = {
				.vector = rnd() & 0xff, .mode = rnd() & 7, .logical = rnd() & 1,
				.assert = rnd() & 1, .level = rnd() & 1,
				.shorthand = rnd() & 1 ? 0 : rnd() & 3,
			};

			icr_model_check(&map, &f, dest, rnd_below(map.num));
		}
	}
}

/* The map's number of CPUs exceeds its size */
static void too_many_cpus(void)
{
	struct icr_map map = { .num = 0xffffffff, .x2apic = 1, .own_cpus = ~0ull };
	struct icr_verdict v;
	u32 i;

	for (i = 0; i < 64; i++)
		map.apic_id[i] = i;
	/* the shorthand "all including self" */
	v = icr_filter(&map, 0x40 | 2 << 18, 0, 0);
	CHECK_EQ(v.action, ICR_SEND);
	CHECK_EQ(v.targets, ~0ull);
}

/* Commands from a trace of Linux's ICR writes */
static void as_linux_does(void)
{
	struct icr_map map = {
		.num = 4, .x2apic = 1, .own_cpus = 0xb, .apic_id = { 0, 1, 2, 3 },
	};
	static const struct {
		const char *what;
		u32 low, dest, self;
		enum icr_action action;
		u64 targets;
		bool foreign;
	} rows[] = {
		{ "reschedule CPU 1", 0x40fd, 1, 0, ICR_SEND, 2, false },
		{ "call function, cluster of all", 0x48fb, 0xf, 0, ICR_SEND, 0xb, false },
		{ "self", 0x440f6, 0, 3, ICR_SEND, 8, false },
		{ "NMI to all others", 0xc4400, 0, 0, ICR_SEND, 0xa, false },
		{ "INIT assert", 0xc500, 1, 0, ICR_INIT, 2, false },
		{ "INIT de-assert", 0x8500, 1, 0, ICR_DROP, 0, false },
		{ "STARTUP at 0x99000", 0x4699, 1, 0, ICR_SIPI, 2, false },
		{ "STARTUP to a cell's CPU", 0x4699, 2, 0, ICR_DROP, 0, true },
		{ "to no CPU", 0x40fd, 77, 0, ICR_DROP, 0, true },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct icr_verdict v = icr_filter(&map, rows[i].low, rows[i].dest, rows[i].self);

		unit_case("%s:", rows[i].what);
		CHECK_EQ(v.action, rows[i].action);
		CHECK_EQ(v.targets, rows[i].targets);
		CHECK_EQ(v.foreign, rows[i].foreign);
	}
}

UNIT_SUITE(icr) = {
	{ "icr: x2APIC, every kind of command as in the manual", x2apic_kinds },
	{ "icr: xAPIC flat, every kind of command as in the manual", flat_kinds },
	{ "icr: xAPIC cluster, every kind of command as in the manual", cluster_kinds },
	{ "icr: random commands on random maps reach own CPUs only", random_commands },
	{ "icr: a map with too many CPUs is limited", too_many_cpus },
	{ "icr: commands of Linux are accepted", as_linux_does },
	{ 0 }
};
