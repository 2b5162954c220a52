// SPDX-License-Identifier: GPL-2.0-only
/* driver/cell/failure.c: the failure and the registers of a cell that has ended */
#include <linux/ktime.h>
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"
#include "unit.h"

static struct qv_mon_status status;

struct qv_mon_status *qv_cell_status(struct qv_cell *cell)
{
	CHECK(cell->id);	/* without an instance there is no status */
	return &status;
}

void qv_event(u32 what, u32 state, const char *name, const char *fmt, ...)
{
	CHECK(false);		/* these tests look at cells whose end is known already */
}

/* CLOCK_BOOTTIME is 1 here, so a time of failure minus 1 is the negative age of the failure */
static u64 age_ms(u64 failed_ns)
{
	return (1 - failed_ns) / NSEC_PER_MSEC;
}

static void fetched(void)
{
	struct qv_cell cell = { .id = 2, .state = QV_STATE_SHUT_DOWN };

	status.failure = (struct qv_mon_failure){ .rip = 0x1234 };
	qv_failure_fetch(&cell);
	CHECK(cell.failure.rip == 0x1234 && !cell.failed_ns);
	status.failure = (struct qv_mon_failure){ .reason = QV_FAIL_MEMORY, .rip = 0x5678,
						  .tsc = qv_rdtsc() - 5000ull * tsc_khz };
	qv_failure_fetch(&cell);
	CHECK(cell.failure.reason == QV_FAIL_MEMORY && cell.failure.rip == 0x5678);
	CHECK(age_ms(cell.failed_ns) >= 5000 && age_ms(cell.failed_ns) < 60000);
}

static void kept(void)
{
	struct qv_cell cell = { .id = 2, .failed_ns = 7, .failure.reason = QV_FAIL_PANIC };

	status.failure = (struct qv_mon_failure){ .reason = QV_FAIL_MEMORY };
	qv_failure_fetch(&cell);
	CHECK(cell.failure.reason == QV_FAIL_PANIC && cell.failed_ns == 7);
	cell = (struct qv_cell){ .id = 0 };
	qv_failure_fetch(&cell);
	CHECK(!cell.failure.reason && !cell.failed_ns);
}

UNIT_SUITE(failure) = {
	{ "failure: a failure that is found after the end has its time", fetched },
	{ "failure: a known failure stays, and a cell without an instance has none", kept },
	{ 0 }
};
