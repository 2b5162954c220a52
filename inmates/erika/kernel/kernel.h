/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's own declarations. All code of the kernel runs with interrupts off on this CPU,
 * between os_lock() and os_leave() or os_unlock(), unless a comment says otherwise.
 *
 * Each file is compiled for each status (OS_EXTENDED 0 or 1) and each kind of ready queue
 * (OS_MULTI 0 or 1).
 */
#ifndef ERIKA_KERNEL_H
#define ERIKA_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <erika/api.h>
#include <erika/conf.h>
#include "port.h"

/* The kind of code that runs: OSEK OS 2.2.3, figure 12-1 (which services each may call). */
enum os_context {
	OS_BEFORE	= 0,		/* StartOS() has not been called */
	OS_IN_TASK	= 1u << 0,
	OS_IN_ISR2	= 1u << 1,
	OS_IN_ERROR	= 1u << 2,
	OS_IN_PRE	= 1u << 3,
	OS_IN_POST	= 1u << 4,
	OS_IN_STARTUP	= 1u << 5,
	OS_IN_SHUTDOWN	= 1u << 6,
	OS_IN_CALLBACK	= 1u << 7,
	OS_IN_IDLE	= 1u << 8,
};

#define OS_TASK_ISR2	(OS_IN_TASK | OS_IN_ISR2)
#define OS_READERS	(OS_TASK_ISR2 | OS_IN_ERROR | OS_IN_PRE | OS_IN_POST)

struct os_state {
	struct os_task *running;	/* NULL: idle, or StartOS() is not done */
	struct os_task *preempted;	/* linked by `below`; the levels fall along the list */
	uint64_t idle_sp;		/* the stack of StartOS() while a task runs */
	uint16_t where;			/* enum os_context */
	uint8_t level;			/* of the current context */
	uint8_t suspended_all, suspended_os;	/* nesting of Suspend...Interrupts() */
	bool disabled;			/* between DisableAll- and EnableAllInterrupts() */
	bool was_on, disable_was_on;	/* the interrupt flag before the outermost call */
	uint32_t held;			/* the last resource that this context took + 1; 0: none */
	ISRType isr;			/* INVALID_ISR outside category 2 */
	uint8_t isr_level;		/* the level of that ISR, without resources */
	AppModeType mode;
};

extern struct os_state os;

static inline TaskType os_task_id(const struct os_task *task)
{
	return (TaskType)(task - os_tasks);
}

static inline const struct os_task_conf *os_conf_of(const struct os_task *task)
{
	return &os_task_conf[task - os_tasks];
}

/* The interrupt class that a level blocks; 0: none. */
static inline uint8_t os_class_of(uint8_t level)
{
	return level > OS_TASK_LEVELS ? level - OS_TASK_LEVELS : 0;
}

/* --- state.c --- */

/* Turns interrupts off. Returns whether they were on. */
static inline bool os_lock(void)
{
	return os_port_off();
}

static inline void os_unlock(bool on)
{
	if (on)
		os_port_on();
}

/* For a service that reads one word: it needs the lock only for its errors. */
static inline bool os_lock_for_errors(void)
{
	return OS_EXTENDED ? os_lock() : false;
}

/* Blocks the interrupts of the classes that a level blocks. */
void os_mask_level(uint8_t level);

/* Sets the current level, and so which interrupts of category 2 may come. */
void os_set_level(uint8_t level);

/* --- core.c --- */

/* If a task is ready above the current level, runs it now; returns when the caller runs again. */
void os_preempt(void);

/* The same, but only in a task; other contexts do it when they end. */
void os_preempt_in_task(void);

/*
 * Gives the CPU to the most urgent task, or to idle. The caller has put the running task aside; its
 * stack pointer goes to `*save`.
 */
void os_switch(uint64_t *save);

/* Adds an activation of a task. Errors: E_OS_LIMIT. */
StatusType os_activate(TaskType id);

/* Ends the running task, without a switch: the caller continues with os_switch(&os_dead_sp). */
void os_end_running(void);
extern uint64_t os_dead_sp;

/* --- ready.c: tasks that are ready and not preempted --- */

void os_ready_put(TaskType id, uint8_t level);
/* Removes and returns the oldest task of the highest level, which is not empty. */
TaskType os_ready_take(void);
extern uint64_t os_ready_levels;	/* bit l - 1: a task of level l */

static inline uint8_t os_ready_top(void)
{
	/* the exclusive or turns the zeros above the bit into its number */
	return os_ready_levels ? (uint8_t)((63 ^ __builtin_clzll(os_ready_levels)) + 1) : 0;
}

/* --- error.c --- */

/* In extended status: E_OK if the calling context is one of `allowed`, else the error. */
StatusType os_check_caller(unsigned int allowed);
#define os_caller_error(allowed)	(OS_EXTENDED ? os_check_caller(allowed) : E_OK)

/* Calls ErrorHook() if there is one and it does not run yet. */
void os_report(enum os_service service, StatusType error, uint64_t p0, uint64_t p1, uint64_t p2);

/* The end of a service that may fail: reports an error, restores interrupts, returns `error`. */
StatusType os_fail(bool on, enum os_service service, StatusType error, uint64_t p0, uint64_t p1,
		   uint64_t p2);

/* The end of a service that cannot fail: restores interrupts and returns E_OK. */
StatusType os_succeed(bool on);

/*
 * The end of each service. In standard status most services cannot fail, which the compiler sees;
 * it then leaves out the parameters.
 */
static inline __attribute__((always_inline))
StatusType os_leave(bool on, enum os_service service, StatusType error, uint64_t p0, uint64_t p1,
		    uint64_t p2)
{
	if (__builtin_constant_p(error) && error == E_OK)
		return os_succeed(on);
	return os_fail(on, service, error, p0, p1, p2);
}

/* Calls a hook in its context. */
void os_call_hook(void (*hook)(void), unsigned int context);

/* --- release.c --- */

/* Gives back the resource that was taken last. */
static inline void os_give_back(struct os_resource *resource)
{
	resource->taken = false;
	os.held = resource->held;
	os_set_level(resource->level);
}

/* Releases what a task or an ISR has left taken. Returns whether there was something. */
bool os_release_resources(void);

/* Undoes Disable...() and Suspend...() of a task or an ISR that ends. Returns whether one was on. */
bool os_release_interrupts(void);

/* --- isr.c --- */

/* Runs an ISR of category 2; the port calls it with interrupts off, on any stack. */
void os_isr2(const struct os_isr_conf *isr);

/* --- event.c --- */

StatusType os_set_event(TaskType id, EventMaskType mask);

/* --- table.c --- */

/* The place of a running table: ticks since its start; negative before it. */
int64_t os_table_position(ScheduleTableType id);

/* Makes a table run whose start is at tick `start` of its counter. */
void os_table_run(ScheduleTableType id, uint64_t start, ScheduleTableStatusType state);

/* Errors that all services for schedule tables have. */
StatusType os_table_error(ScheduleTableType id);

/* --- adjust.c --- */

/* Sets the deviation, by which the next points are moved, and the state. */
void os_table_deviates(ScheduleTableType id, int64_t deviation);

/* Returns the adjustment of the delay before point `next`, which is `delay` without it. */
int64_t os_table_adjustment(ScheduleTableType id, uint32_t next, TickType delay);

/* --- counter.c --- */

/* The ticks of a counter since StartOS(). */
uint64_t os_counter_ticks(CounterType id);

/* Arms `timer` for tick `due`, which is after os_counter_ticks() or will expire at once. */
void os_counter_arm(CounterType id, struct os_timer *timer, uint64_t due,
		    void (*expire)(struct os_timer *timer));
void os_counter_disarm(CounterType id, struct os_timer *timer);

/* The next tick after `now` at which the counter has value `value`. */
uint64_t os_counter_next(CounterType id, uint64_t now, TickType value);

/* Counts a software counter, and lets expire what is due. */
StatusType os_counter_increment(CounterType id);

/* Lets everything of this counter expire that is due at `now`. */
void os_counter_expire(struct os_counter *counter, uint64_t now);

/* --- stack.c --- */

void os_stacks_paint(void);

#endif
