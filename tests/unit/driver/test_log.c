// SPDX-License-Identifier: GPL-2.0-only
/* driver/log.c: whose lines the events of the front end's instance are */
#include <string.h>
#include "abi/layout.h"
#include "abi/log.h"
#include "cells.h"
#include "log_book.h"
#include "qv.h"
#include "unit.h"

#define OF_CELL		0x10u		/* PCI functions */
#define OF_LINUX	0x18u

static struct page front = { .at = NULL };
static u64 seen[QV_MON_LOG_RINGS];
static char text[1 << 20];

const char *qv_pci_holder(u32 bdf)
{
	return bdf == OF_CELL ? "quest" : NULL;
}

void qv_pci_count_blocked(u32 bdf)
{
}

static struct qv_mon_log *fresh(void)
{
	static u64 memory[(QV_OFF_LOG + sizeof(struct qv_mon_log)) / sizeof(u64)];

	memset(memory, 0, sizeof(memory));
	memset(seen, 0, sizeof(seen));
	front.at = memory;
	qv_log_init();
	qv_log_live("quest", true);
	return front.at + QV_OFF_LOG;
}

static void happens(struct qv_mon_log *log, u32 what, u64 a, u64 b)
{
	u32 ring = QV_MON_LOG_RING(what);
	u64 seq = ++log->head[ring];

	log->entries[ring][(seq - 1) % QV_MON_LOG_ENTRIES] = (struct qv_mon_log_entry){
		.seq = seq, .tsc = qv_rdtsc(), .what = what, .a = a, .b = b,
	};
	qv_log_drain(QV_FRONT_END, &front, seen);
}

static const char *all(void)
{
	struct qv_log l = {
		.which = QV_LOG_PRESENT, .buf = (uintptr_t)text, .len = sizeof(text) - 1,
	};

	CHECK_EQ(qv_log_read(&l), 0);
	text[l.len] = 0;
	return text;
}

/* Each fault of a device is another line */
static void flood(struct qv_mon_log *log, u32 what)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		happens(log, what, OF_CELL, i << 12);
}

static void devices_of_cells(void)
{
	static const u32 events[] = { QV_LOG_DMA, QV_LOG_MESSAGE };
	struct qv_mon_log *log;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		log = fresh();
		happens(log, QV_LOG_MSR_DENIED, 0x1b, 7);
		happens(log, events[i], OF_LINUX, 3);
		flood(log, events[i]);
		CHECK(strstr(all(), "linux: cpu 0: access to MSR 0x1b refused"));
		CHECK(strstr(text, "PCI function 0x18 blocked"));
		CHECK(strstr(text, "quest: 968 lines are lost here"));
		CHECK(!strstr(text, "linux: 1"));
	}
}

UNIT_SUITE(log) = {
	{ "log: a cell's device pushes out no line of Linux", devices_of_cells },
	{ 0 }
};
