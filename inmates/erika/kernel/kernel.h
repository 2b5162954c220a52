/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's own declarations. All code of the kernel runs with interrupts off on this CPU,
 * between os_lock() and os_leave() or os_unlock(), unless a comment says otherwise.
 *
 * Each file is compiled for each status (OS_EXTENDED 0 or 1), and again with a trace (OS_TRACE 1).
 */
#ifndef ERIKA_KERNEL_H
#define ERIKA_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <erika/api.h>
#include <erika/conf.h>
#include <erika/trace.h>
#include "port.h"

#ifndef OS_TRACE
#define OS_TRACE	0
#endif

/* The kind of code that runs: OSEK OS 2.2.3, figure 12-1 (which services each may call). */
enum os_context_kind {
	OS_BEFORE	= 0,		/* StartOS() has not been called */
	OS_IN_TASK	= 1u << 0,
	OS_IN_ISR2	= 1u << 1,
	OS_IN_ERROR	= 1u << 2,
	OS_IN_PRE	= 1u << 3,
	OS_IN_POST	= 1u << 4,
	OS_IN_STARTUP	= 1u << 5,
	OS_IN_CALLBACK	= 1u << 6,
	OS_IN_IDLE	= 1u << 7,
	OS_IN_SHUTDOWN	= OS_IN_STARTUP | OS_IN_IDLE,	/* no service allows one of these */
	/* COMErrorHook(): the services of ErrorHook(), whose errors reach ErrorHook() */
	OS_IN_COM_ERROR	= OS_IN_ERROR | OS_IN_IDLE,
};

#define OS_TASK_ISR2	(OS_IN_TASK | OS_IN_ISR2)
#define OS_READERS	(OS_TASK_ISR2 | OS_IN_ERROR | OS_IN_PRE | OS_IN_POST)

/* The state of interrupted code, which a hook or an ISR of category 2 saves. */
struct os_context {
	uint32_t held;			/* the last resource that this code took + 1; 0: none */
	uint8_t level;
	uint8_t isr_level;		/* in an ISR: its level without resources */
	uint8_t where;			/* enum os_context_kind */
	bool lock_was_on;		/* the interrupt flag before os_lock() */
};

/* DisableAllInterrupts() was called with interrupts off, on. */
enum os_disabled { OS_DISABLED_OFF = 1, OS_DISABLED_ON };

struct os_state {
	struct os_task *running;	/* NULL: idle, or StartOS() is not done */
	struct os_task *preempted;	/* linked by `below`; the levels fall along the list */
	uint64_t idle_sp;		/* the stack of StartOS() while a task runs */
	struct os_context now;		/* of the code that runs */
	uint8_t suspended_all, suspended_os;	/* nesting of Suspend...Interrupts() */
	uint8_t disabled;		/* enum os_disabled; 0: interrupts are not disabled */
	bool was_on;			/* the interrupt flag before SuspendAllInterrupts() */
	ISRType isr;			/* INVALID_ISR outside category 2 */
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
static inline unsigned int os_class_of(unsigned int level)
{
	int class = (int)level - OS_ISR_LEVELS;

	return class > 0 ? (unsigned int)class : 0;
}

/* --- trace.c --- */

/* Appends a record to the trace. */
void os_trace_put(enum os_trace_kind kind, uint32_t id, uint64_t value);

/* The same, but no code in a library without a trace. */
static inline void os_trace(enum os_trace_kind kind, uint32_t id, uint64_t value)
{
	if (OS_TRACE)
		os_trace_put(kind, id, value);
}

/* --- state.c --- */

/* Turns interrupts off. */
void os_lock(void);

/* Turns them on again, if they were on at os_lock(). Returns E_OK. */
StatusType os_unlock(void);

/* Blocks the interrupts of the classes that a level blocks. */
void os_mask_level(unsigned int level);

/* Sets the current level, and so which interrupts of category 2 may come. */
void os_set_level(unsigned int level);

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

/* Calls PostTaskHook(). Returns the running task, which the caller then puts aside. */
struct os_task *os_put_aside(void);

/* Ends the running task, without a switch: the caller continues with os_leave_ended(). */
void os_end_running(void);
_Noreturn void os_leave_ended(void);
extern uint64_t os_dead_sp;	/* where os_leave_ended() saves the stack pointer that it drops */

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

/* os_lock(). Returns E_OK if the calling context is one of `allowed`, else the error. */
StatusType os_enter_checked(unsigned int allowed);

/* The begin of each service: os_lock(), and in extended status the errors of its caller. */
static inline StatusType os_enter(unsigned int allowed)
{
	if (OS_EXTENDED)
		return os_enter_checked(allowed);
	os_lock();
	return E_OK;
}

/* The same for a service for object `id`, of which there are `count`. */
static inline StatusType os_enter_id(unsigned int allowed, uint32_t id, uint32_t count)
{
	StatusType error = os_enter(allowed);

	return OS_EXTENDED && error == E_OK && id >= count ? E_OS_ID : error;
}

/* The same for a service that reads one word: it needs the lock only for its errors. */
static inline StatusType os_enter_reader(unsigned int allowed)
{
	return OS_EXTENDED ? os_enter_checked(allowed) : E_OK;
}

/* Calls ErrorHook() if there is one and it does not run yet. */
void os_report(enum os_service service, uint32_t error, uint64_t p0, uint64_t p1, uint64_t p2);

/* The end of a service that may fail: reports an error, restores interrupts, returns `error`. */
StatusType os_fail(enum os_service service, uint32_t error, uint64_t p0, uint64_t p1,
		   uint64_t p2);

/*
 * The end of each service. In standard status most services cannot fail, which the compiler sees;
 * it then leaves out the parameters.
 */
static inline __attribute__((always_inline))
StatusType os_leave(enum os_service service, StatusType error, uint64_t p0, uint64_t p1,
		    uint64_t p2)
{
	if (__builtin_constant_p(error) && error == E_OK)
		return os_unlock();
	return os_fail(service, error, p0, p1, p2);
}

/* The end of a service that began with os_enter_reader(). */
static inline StatusType os_leave_reader(enum os_service service, StatusType error, uint64_t p0,
					 uint64_t p1)
{
	return OS_EXTENDED ? os_fail(service, error, p0, p1, 0) : E_OK;
}

/* Calls a hook in its context. */
void os_call_hook(void (*hook)(void), enum os_context_kind kind);

/* --- release.c --- */

/* Gives back the resource that was taken last. */
static inline void os_give_back(struct os_resource *resource)
{
	__asm__("" : "+r"(resource));	/* as in os_activate() */
	os_trace(OS_TRACE_GIVE, (uint32_t)(resource - os_resources), 0);
	resource->taken = 0;
	os.now.held = resource->held;
	os_set_level(resource->level);
}

/* Releases what a task or an ISR has left taken. Returns whether there was something. */
bool os_release_resources(void);

/* Undoes Disable...() and Suspend...() of a task or an ISR that ends. Returns whether it did. */
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

/* --- adjust.c --- */

/* Sets the deviation, by which the next points are moved, and the state. */
void os_table_deviates(ScheduleTableType id, int64_t deviation);

/*
 * Returns the adjustment of the delay before point `next`, which is `delay` without it. The table
 * deviates less when the delay has passed.
 */
int64_t os_table_adjustment(ScheduleTableType id, uint32_t next, TickType delay);

/* --- counter.c --- */

/* The ticks of a counter since StartOS(). */
uint64_t os_counter_ticks(CounterType id);

/* Arms `timer` for tick `due`, which is after os_counter_ticks() or will expire at once. */
void os_counter_arm(CounterType id, struct os_timer *timer, uint64_t due,
		    void (*expire)(struct os_timer *timer));
/* `timer` is armed. */
void os_counter_disarm(struct os_timer *timer);

/* Returns the tick in `time` ticks; if `absolute`, the next one at which the counter is `time`. */
uint64_t os_counter_due(CounterType id, unsigned int absolute, TickType time);

/* Counts a software counter, and lets expire what is due. */
StatusType os_counter_increment(CounterType id);

/* Lets everything of this counter expire that is due, and arms it for its next cycle. */
void os_counter_expire(CounterType id);

/* --- stack.c --- */

void os_stacks_paint(void);

#endif
