// SPDX-License-Identifier: GPL-2.0-only
/* driver/log.c: whose lines the events of the front end's instance are */
#include <string.h>
#include "abi/layout.h"
#include "abi/log.h"
#include "cells.h"
#include "faults.h"
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

static u32 blocked;			/* times that the function of the cell was blocked */

void qv_pci_count_blocked(u32 bdf)
{
	blocked += bdf == OF_CELL;
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

/* Each fault of a device has another address */
static void flood(struct qv_mon_log *log, u32 what, u32 bdf)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		happens(log, what, bdf, i << 12);
}

static u32 times(const char *words)
{
	const char *at = all();
	u32 n = 0;

	while ((at = strstr(at, words))) {
		at += strlen(words);
		n++;
	}
	return n;
}

static void devices_of_cells(void)
{
	static const u32 events[] = { QV_LOG_DMA, QV_LOG_MESSAGE };
	struct qv_mon_log *log;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		log = fresh();
		blocked = 0;
		happens(log, QV_LOG_MSR_DENIED, 0x1b, 7);
		happens(log, events[i], OF_LINUX, 3);
		flood(log, events[i], OF_CELL);
		CHECK(strstr(all(), "linux: cpu 0: access to MSR 0x1b refused"));
		CHECK(strstr(text, "PCI function 0x18 blocked"));
		CHECK(!strstr(text, "lost"));
		CHECK_EQ(blocked, 1000);
	}
}

/* 1,000 faults of 10 functions at once: more than the ring of Linux has lines */
static void many_functions(void)
{
	struct qv_mon_log *log = fresh();
	u32 i, n;

	happens(log, QV_LOG_DMA, OF_CELL, 5 << 12);
	for (i = 0; i < 10; i++)
		for (n = 0; n < 100; n++)
			happens(log, QV_LOG_DMA, OF_LINUX + 0x20 + i, n << 12);
	CHECK_EQ(times("PCI function 0x10 blocked"), 1);
	CHECK_EQ(times("PCI function 0x38 blocked"), QV_FAULT_LINES);
	CHECK_EQ(times("PCI function 0x41 blocked"), QV_FAULT_LINES);
}

static void storms(void)
{
	struct qv_mon_log *log = fresh();
	u64 silent = 0;
	u32 i, n = 0;

	flood(log, QV_LOG_DMA, 0x77);
	CHECK_EQ(times("PCI function 0x77 blocked"), QV_FAULT_LINES);
	for (i = 0; i < 1000; i++)
		n += qv_fault_line(0x79, 100 + i % 10, 10, &silent);
	CHECK_EQ(n, QV_FAULT_LINES);
	CHECK_EQ(silent, 0);
	CHECK(qv_fault_line(0x79, 110, 10, &silent));	/* the next period */
	CHECK_EQ(silent, 1000 - QV_FAULT_LINES);
	CHECK(qv_fault_line(0x79, 110, 10, &silent));
	CHECK_EQ(silent, 0);
	CHECK(qv_fault_line(0x79 + 64, 110, 10, &silent));	/* shares the place with it */
	CHECK_EQ(silent, 0);
}

UNIT_SUITE(log) = {
	{ "log: a cell's device pushes out no line of Linux", devices_of_cells },
	{ "log: functions that fault all the time leave lines to others", many_functions },
	{ "log: a function that faults all the time gets few lines, and is counted", storms },
	{ 0 }
};
