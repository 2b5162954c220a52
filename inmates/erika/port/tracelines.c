// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The trace as text, which `qvoil trace` reads: a line {K KHZ} with the frequency of the time
 * stamps, and a line {T NUMBER TIME KIND ID VALUE} for each record, all in hexadecimal. The lines
 * go to the cell's stream, or alone to the serial port; the screen does not show them.
 */
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/printf.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define LINE_BYTES	80
/* The stream has 16 KiB: after so many records, quesh gets time to read them. */
#define BURST		128
#define PAUSE_MS	50

static void print_khz(void)
{
	char text[LINE_BYTES];

	console_aside(text, format_buf(text, sizeof(text), "{K %x}\n", os_port_khz()));
}

static void print_record(const struct os_trace_record *record)
{
	char text[LINE_BYTES];
	size_t n = format_buf(text, sizeof(text), "{T %x %lx %x %x %lx}\n", record->number,
			      record->time, record->kind, record->id, record->value);

	console_aside(text, n);
}

static void wait_ms(uint32_t ms)
{
	uint64_t end = os_port_cycles() + (uint64_t)ms * os_port_khz();

	while (os_port_cycles() < end)
		;
}

/* Takes and prints the records that are there now, or fewer if some are overwritten meanwhile. */
void os_trace_print(void)
{
	uint32_t left = os_trace_used() + 1;	/* a record may report lost ones */
	struct os_trace_record record;

	print_khz();
	while (left-- && os_trace_take(&record)) {
		print_record(&record);
		if (left % BURST == 0 && cell_present() &&
		    os.now.where & (OS_IN_IDLE | OS_IN_SHUTDOWN))
			wait_ms(PAUSE_MS);
	}
}

/* Alone, the trace cannot be asked for later. In a cell, `trace` of the console asks for it. */
static void at_end(void)
{
	if (!cell_present())
		os_trace_print();
}

void os_start_trace(AppModeType mode)
{
	(void)mode;
	port_at_end(at_end);
}
