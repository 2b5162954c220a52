/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The trace: the actions of the kernel, as records of one size in a ring in RAM. If the ring is
 * full, the oldest record is overwritten and counted. The libraries whose names end in -trace.a
 * write records; the others contain no code for them. TRACE = TRUE in the OIL file chooses the
 * library.
 */
#ifndef ERIKA_TRACE_H
#define ERIKA_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The kinds of records. `id` is the number of the object in os_config.json; os_config.json has the
 * names of the kinds, too (oil/emit/map.py).
 */
enum os_trace_kind {
	OS_TRACE_LOST,		/* value: how many records were overwritten before the next one */
	OS_TRACE_START,		/* id: application mode; value: kHz of the time stamps */
	OS_TRACE_STOP,		/* value: the status that ShutdownOS() got */
	OS_TRACE_ACTIVATE,	/* a task gets an activation */
	OS_TRACE_RUN,		/* a task begins, or continues */
	OS_TRACE_PREEMPT,	/* the running task becomes ready */
	OS_TRACE_WAIT,		/* the running task waits for the events in `value` */
	OS_TRACE_END,		/* the running task ends */
	OS_TRACE_IDLE,		/* no task runs */
	OS_TRACE_SET,		/* the events in `value` are set for a task */
	OS_TRACE_CLEAR,		/* the running task clears the events in `value` */
	OS_TRACE_READY,		/* a waiting task becomes ready */
	OS_TRACE_TAKE,		/* a resource is taken */
	OS_TRACE_GIVE,		/* a resource is released */
	OS_TRACE_ENTER,		/* an ISR of category 2 begins; OS_TRACE_TIMER: the system timer */
	OS_TRACE_LEAVE,		/* it ends */
	OS_TRACE_ALARM,		/* an alarm expires */
	OS_TRACE_POINT,		/* expiry point `value` of a schedule table */
	OS_TRACE_ERROR,		/* id: the service; value: the error that ErrorHook() gets */
};

#define OS_TRACE_TIMER	0xFFFFu

struct os_trace_record {
	uint64_t time;			/* the clock: cycles of the TSC */
	uint64_t value;
	uint32_t number;		/* of the record; the records of a trace have no gaps */
	uint16_t id;
	uint8_t kind;			/* enum os_trace_kind */
	uint8_t reserved;
};

/* The ring of the application, in os_config.c. */
extern struct os_trace_record os_trace_ring[];
extern const uint32_t os_trace_size;	/* records, at least 2 */

/*
 * Removes the oldest record from the ring and copies it to `*record`. Returns false if the
 * ring is empty. If records were overwritten, the first call returns OS_TRACE_LOST.
 */
bool os_trace_take(struct os_trace_record *record);

/* How many records are in the ring. */
uint32_t os_trace_used(void);

#endif
