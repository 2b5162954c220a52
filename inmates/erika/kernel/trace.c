// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The trace: a ring that keeps the latest records. Only in the libraries with a trace. */
#include "kernel.h"

static uint32_t in, used;	/* the place of the next record, how many records are kept */
static uint32_t number;		/* of the next record */
static uint64_t lost;		/* records that were overwritten and not yet reported */

void os_trace_put(enum os_trace_kind kind, uint32_t id, uint64_t value)
{
	struct os_trace_record *record = &os_trace_ring[in];

	record->time = os_port_cycles();
	record->value = value;
	record->number = number++;
	record->id = (uint16_t)id;
	record->kind = kind;
	if (++in == os_trace_size)
		in = 0;
	if (used < os_trace_size)
		used++;
	else
		lost++;
}

uint32_t os_trace_used(void)
{
	return used;
}

static void take_oldest(struct os_trace_record *record)
{
	*record = os_trace_ring[in < used ? in + os_trace_size - used : in - used];
	if (!lost) {
		used--;
		return;
	}
	/* the record itself stays for the next call */
	record->value = lost;
	record->number--;
	record->id = 0;
	record->kind = OS_TRACE_LOST;
	lost = 0;
}

bool os_trace_take(struct os_trace_record *record)
{
	bool on = os_port_off(), any = used;

	if (any)
		take_oldest(record);
	if (on)
		os_port_on();
	return any;
}
