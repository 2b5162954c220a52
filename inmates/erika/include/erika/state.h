/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The RAM of each object, zero before StartOS(). Generated code only reserves it. Debuggers and the
 * map (tasks, states, stacks) read it; nothing but the kernel writes it.
 */
#ifndef ERIKA_STATE_H
#define ERIKA_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <erika/types.h>

struct os_task {
	uint64_t sp;			/* of a task that has begun and does not run */
	EventMaskType set, awaited;	/* events; `awaited` is not 0 while the task waits */
	struct os_task *below;		/* the task that this one preempted */
	TaskStateType state;
	uint8_t activations;		/* requests not yet terminated */
	uint8_t level;			/* the level at which it was preempted */
	uint32_t held;			/* the last resource taken + 1; 0: none */
};

struct os_resource {
	struct os_task *owner;	/* while it is taken: the task that runs or is interrupted */
	uint32_t held;			/* the resource taken before this one + 1; 0: none */
	uint8_t level;			/* to return to */
	uint8_t taken;			/* 0: free; 1: by `owner`; 2: by an ISR */
};

/* Something that a counter triggers: an alarm or a schedule table. */
struct os_timer {
	struct os_timer *next;
	uint64_t due;			/* ticks since StartOS() */
	void (*expire)(struct os_timer *timer);	/* NULL: not armed */
	CounterType counter;		/* of an armed timer */
	TickType cycle;			/* ticks from each expiry to the next; 0: once */
};

struct os_counter {
	struct os_timer *first;		/* by `due` */
	uint64_t now;			/* ticks since StartOS(); of a software counter */
};

struct os_alarm {
	struct os_timer timer;
};

struct os_table {
	struct os_timer timer;
	ScheduleTableStatusType state;
	uint32_t point;			/* the next expiry point; num_points: the table's end */
	uint32_t next;			/* the table that NextScheduleTable() named + 1; 0: none */
	uint32_t before;		/* the table with this `next`, + 1; 0: none */
	bool asynchronous;		/* SetScheduleTableAsync(): no adjustment */
	int64_t deviation;		/* ticks ahead of the synchronization counter */
	int64_t moved;			/* adjustment of the present delay: less deviation then */
	int64_t carry;			/* the part of `moved` beyond the final delay */
};

struct os_message {
	uint32_t first, used;		/* items of the queue */
	uint32_t seen;			/* messages that the filter ONEEVERYN counted */
	uint64_t old;			/* the last value that passed the filter */
	uint8_t lost;			/* a queue overflowed since the last ReceiveMessage() */
	FlagValue flag;
};

#endif
