/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The static configuration: the contract between generated tables and the kernel. An application
 * has one os_config.c that defines the objects declared extern here. Rows of os_X_conf[] are
 * indexed by the object's identifier (an enumerator in os_config.h). Tables that have no rows, and
 * parts that no service of the application needs, are left out; the linker then leaves out the
 * kernel's code for them as well. Initialise all rows by field name: fields may be added.
 */
#ifndef ERIKA_CONF_H
#define ERIKA_CONF_H

#include <stdbool.h>
#include <stdint.h>
#include <erika/state.h>
#include <erika/trace.h>
#include <erika/types.h>

/*
 * Levels. One number orders tasks, resources and interrupts: 0 idle; 1..64 tasks, which are the OIL
 * priorities in their order without gaps; OS_ISR_LEVEL(c) an ISR2 or a resource shared with one,
 * where c is the interrupt class 2..14 (vector / 16: the local APIC's priority class).
 */
#define OS_TASK_LEVELS		64
#define OS_ISR_LEVELS		128	/* a bit that the level of no task has */
#define OS_ISR_LEVEL(class)	(OS_ISR_LEVELS + (class))

#define OS_PAGE			4096u

/*
 * Defines a stack of at least `bytes` bytes (rounded up to pages) above a guard page. Zero filled;
 * StartOS() paints it. Use OS_STACK_ROW(name) to initialise a struct os_stack.
 */
#define OS_STACK(name, bytes) \
	static uint8_t name[OS_PAGE + (((bytes) + OS_PAGE - 1) & ~(OS_PAGE - 1))] \
		__attribute__((aligned(OS_PAGE)))
#define OS_STACK_ROW(name)	{ .base = (name) + OS_PAGE, .size = sizeof(name) - OS_PAGE }

struct os_stack {
	uint8_t *base;		/* lowest byte, at a page's start; the page below is the guard */
	uint32_t size;		/* bytes, a multiple of OS_PAGE */
};

/* --- actions of alarms, expiry points and notifications --- */

struct os_action {
	/* one of the os_act_* functions below */
	void (*act)(const struct os_action *action);
	uint32_t id;			/* task or counter; message for os_act_flag */
	EventMaskType mask;		/* os_act_event: the events to set */
	void (*callback)(void);		/* os_act_callback, os_act_com_callback */
};

void os_act_activate(const struct os_action *action);	/* ActivateTask(id) */
void os_act_event(const struct os_action *action);	/* SetEvent(id, mask) */
void os_act_callback(const struct os_action *action);	/* an ALARMCALLBACK */
void os_act_increment(const struct os_action *action);	/* IncrementCounter(id), a software one */
void os_act_com_callback(const struct os_action *action);	/* a COMCallback */
void os_act_flag(const struct os_action *action);	/* sets the flag of message `id` */

/* --- tasks --- */

struct os_task_conf {
	const char *name;
	void (*entry)(void);		/* OS_TASK_ENTRY(name) */
	uint8_t level;			/* 1..64: the priority */
	/*
	 * The level while the task runs, >= level: the ceiling of its internal resource; for a
	 * non-preemptable task os_top_level; else equal to `level`.
	 */
	uint8_t run_level;
	uint8_t activations;		/* ACTIVATION; 1 for an extended task */
	bool extended;			/* it may wait for events */
	uint32_t autostart;		/* bit m: activated by StartOS() in application mode m */
	/* Basic tasks of the same level may share a stack; each extended task has its own. */
	struct os_stack stack;
};

extern const struct os_task_conf os_task_conf[];
extern struct os_task os_tasks[];	/* as many as rows above */
extern const uint32_t os_num_tasks;
extern const uint8_t os_top_level;	/* the highest level of a task; the scheduler's ceiling */

/*
 * Ready queues. With liberika-single-*.a (BCC1, ECC1: one task per level, one activation each)
 * os_level_task[l - 1] is the task of level l. With liberika-multi-*.a (BCC2, ECC2)
 * os_level_queue[l - 1] is the ring of level l. Its `slots` has as many entries as the sum of
 * `activations` over the tasks of that level. Each table has os_top_level rows. Define the table
 * that the library needs.
 */
extern const TaskType os_level_task[];

struct os_ring {
	uint16_t head, used;
};

struct os_level_queue {
	TaskType *slots;
	uint16_t size;
};

extern const struct os_level_queue os_level_queue[];
extern struct os_ring os_level_ring[];	/* zero filled, as many as rows of os_level_queue */

/* --- resources --- */

/*
 * Row 0 is always RES_SCHEDULER with the ceiling os_top_level. A linked resource is a row of its
 * own whose ceiling is that of all linked resources together. Internal resources have no row: they
 * are run_level of their tasks.
 */
struct os_resource_conf {
	const char *name;
	uint8_t ceiling;		/* highest level of the tasks and ISR2s that use it */
};

extern const struct os_resource_conf os_resource_conf[];
extern struct os_resource os_resources[];
extern const uint32_t os_num_resources;

/* --- counters --- */

/* Where a counter has its ticks from. */
struct os_driver {
	uint64_t (*ticks)(CounterType id);	/* those since StartOS() */
	/* requests the driver's interrupt for the counter's first due time, or earlier */
	void (*arm)(CounterType id);
};

struct os_counter_conf {
	const char *name;
	AlarmBaseType base;
	uint32_t tick_ns;		/* of a counter on the system timer; else 0 */
	const struct os_driver *driver;	/* &os_systimer; NULL: a software counter */
};

extern const struct os_driver os_systimer;

extern const struct os_counter_conf os_counter_conf[];
extern struct os_counter os_counters[];
extern const uint32_t os_num_counters;

/* --- alarms --- */

enum os_start { OS_START_RELATIVE, OS_START_ABSOLUTE, OS_START_SYNCHRON };

struct os_alarm_conf {
	const char *name;
	CounterType counter;
	struct os_action action;
	/* AUTOSTART: bit m of `modes`: started by StartOS() in application mode m */
	uint32_t modes;
	enum os_start start;		/* OS_START_RELATIVE, as ALARMTIME of OIL, or _ABSOLUTE */
	TickType time, cycle;		/* ticks; cycle 0: once */
};

extern const struct os_alarm_conf os_alarm_conf[];
extern struct os_alarm os_alarms[];
extern const uint32_t os_num_alarms;

/*
 * LATENCY: how late the alarms on the system timer are. Their actions are then os_act_late(), which
 * calls `act`; it is NULL in the rows of the other alarms. There are as many rows as alarms.
 */
struct os_alarm_late {
	void (*act)(const struct os_action *action);
	int histogram;			/* StartOS() finds it */
};

extern struct os_alarm_late os_alarm_late[];
void os_act_late(const struct os_action *action);

/*
 * The same for tasks that these alarms activate: how late they begin. The entries of tasks with
 * `counted` call os_late_begin() first. There are as many rows as tasks.
 */
struct os_task_late {
	uint64_t due, deadline;		/* cycles; 0: no alarm has activated the task */
	int histogram;			/* StartOS() finds it */
	bool counted;
};

extern struct os_task_late os_task_late[];
void os_late_begin(TaskType id);

/* --- schedule tables --- */

enum os_sync { OS_SYNC_NONE, OS_SYNC_IMPLICIT, OS_SYNC_EXPLICIT };

struct os_expiry_point {
	TickType offset;		/* from the table's start; strictly ascending in a table */
	uint32_t num_actions;
	/* tasks to activate first, then events to set */
	const struct os_action *actions;
	TickType max_advance, max_retard;	/* ADJUSTABLE (EXPLICIT only); else 0 */
};

struct os_table_conf {
	const char *name;
	CounterType counter;
	TickType length;		/* ticks, at least the last offset */
	bool periodic;
	enum os_sync sync;
	TickType precision;		/* EXPLICIT: largest deviation that counts as synchronous */
	uint32_t num_points;		/* at least 1 */
	const struct os_expiry_point *points;
	uint32_t modes;			/* AUTOSTART, as for alarms */
	enum os_start start;
	TickType time;			/* ABSOLUTE: start value; RELATIVE: offset */
};

extern const struct os_table_conf os_table_conf[];
extern struct os_table os_tables[];
extern const uint32_t os_num_tables;

/* --- interrupts --- */

enum os_ack {
	OS_ACK_AFTER,		/* acknowledge after the handler, before a task may be dispatched */
	OS_ACK_BEFORE,		/* acknowledge before the handler; the level still blocks it */
};

/* The device that requests an interrupt. */
enum os_source {
	OS_SOURCE_NONE,		/* software, or the doorbell */
	OS_SOURCE_BELL,		/* the bell of a channel of the cell; the class is OS_BELL_CLASS */
	OS_SOURCE_LINE,		/* pin `line` of the I/O APIC, edge-triggered; only alone */
	OS_SOURCE_PIN,		/* the interrupt pin of a PCI function; the class is OS_PIN_CLASS */
	OS_SOURCE_MSI,		/* the messages (MSI) of a PCI function */
	OS_SOURCE_MSIX,		/* message `line` of the table (MSI-X) of a PCI function */
};

#define OS_PIN_CLASS	4	/* that of the vectors that QV gives to pins */
#define OS_BELL_CLASS	2	/* that of the vectors that QV gives to bells */

struct os_isr_conf {
	const char *name;
	void (*entry)(void);	/* OS_ISR_ENTRY(name) */
	uint8_t category;	/* 1 or 2 */
	uint8_t vector;		/* 0x20..0xEF; vector / 16 is the class. 0: the cell's doorbell */
	uint8_t level;		/* OS_ISR_LEVEL(vector / 16); for the doorbell OS_ISR_LEVEL(2) */
	enum os_ack ack;	/* category 2 */
	ISRType id;		/* the number of the row */
	enum os_source source;
	uint16_t line;			/* OS_SOURCE_LINE, OS_SOURCE_MSIX */
	uint16_t vendor, device;	/* OS_SOURCE_PIN, _MSI, _MSIX: ids of the function */
	const char *channel;		/* OS_SOURCE_BELL */
};

extern const struct os_isr_conf os_isr_conf[];
extern const uint32_t os_num_isrs;

/*
 * The system timer: `entry` os_systimer_expire, `id` INVALID_ISR, `level` OS_ISR_LEVEL(2..14), the
 * others 0. All is 0 if no counter is on the system timer.
 */
extern const struct os_isr_conf os_timer_isr;
void os_systimer_expire(void);

/*
 * The highest level of a category 2 ISR, of the system timer and of the console's ISR (CONSOLE:
 * class 2, or 3 if the timer has 2); os_top_level without any.
 */
extern const uint8_t os_isr2_level;

/* --- messages: OSEK COM, internal communication --- */

enum os_message_kind {
	OS_MESSAGE_SEND,	/* sends to `receivers` */
	OS_MESSAGE_UNQUEUED,	/* holds the last item */
	OS_MESSAGE_QUEUED,	/* a queue of `length` items */
};

/* OSEK COM 3.0.3, 2.2.3. x, min, max, period, offset as there; mask as in MASKEDNEWEQUALSX. */
enum os_filter_kind {
	OS_FILTER_ALWAYS, OS_FILTER_NEVER, OS_FILTER_MASKEDNEWEQUALSX, OS_FILTER_MASKEDNEWDIFFERSX,
	OS_FILTER_NEWISEQUAL, OS_FILTER_NEWISDIFFERENT, OS_FILTER_MASKEDNEWEQUALSMASKEDOLD,
	OS_FILTER_MASKEDNEWDIFFERSMASKEDOLD, OS_FILTER_NEWISWITHIN, OS_FILTER_NEWISOUTSIDE,
	OS_FILTER_NEWISGREATER, OS_FILTER_NEWISLESSOREQUAL, OS_FILTER_NEWISLESS,
	OS_FILTER_NEWISGREATEROREQUAL, OS_FILTER_ONEEVERYN,
};

struct os_filter {
	enum os_filter_kind kind;
	bool is_signed;			/* the message's C type is signed (size 1, 2, 4, 8) */
	uint64_t mask, x;		/* x, min, max: sign extended if is_signed */
	uint64_t min, max;
	uint32_t period, offset;
};

struct os_message_conf {
	const char *name;
	enum os_message_kind kind;
	uint32_t size;			/* bytes of an item; 0: a message without data */
	/* OS_MESSAGE_SEND: */
	uint32_t num_receivers;
	const MessageIdentifier *receivers;
	/* the others: */
	void *buffer;			/* size bytes, or size * length; NULL if size is 0 */
	uint32_t length;		/* items of a queue */
	const void *initial;		/* the first value of an unqueued message; NULL: zeros */
	struct os_filter filter;
	struct os_action notify;	/* .act NULL: none */
};

extern const struct os_message_conf os_message_conf[];
extern struct os_message os_messages[];
extern const uint32_t os_num_messages;
/* COMERRORHOOK: COMErrorHook or NULL. COMSTARTCOMEXTENSION: StartCOMExtension or NULL. */
extern void (*const os_com_error_hook)(StatusType error);
extern StatusType (*const os_com_extension)(void);
extern const uint32_t os_num_com_modes;
extern const bool os_com_extended;	/* COMSTATUS: identifiers are checked */

/* --- the whole --- */

/* Hooks that the OIL file has switched on; NULL: off. */
struct os_hooks {
	void (*startup)(void);
	void (*shutdown)(StatusType error);
	void (*error)(StatusType error);
	void (*pre_task)(void);
	void (*post_task)(void);
	void (*idle)(void);		/* called again and again while no task runs; NULL: halt */
};

extern const struct os_hooks os_hooks;
extern const uint32_t os_num_modes;	/* application modes, at most 32; 0 is OSDEFAULTAPPMODE */

/* The stack of category 2 interrupts and of the system timer. */
extern const struct os_stack os_isr_stack;

/*
 * The parts that StartOS() starts, in this order, NULL at the end: os_start_counters (if any
 * counter is on the system timer), os_start_alarms (if any alarm has AUTOSTART), os_start_tables
 * (the same), os_start_messages (if there are messages), os_start_latency (LATENCY), os_start_trace
 * (TRACE), os_start_shell (CONSOLE).
 */
typedef void os_part(AppModeType mode);
extern os_part *const os_parts[];
os_part os_start_counters, os_start_alarms, os_start_tables, os_start_messages;
os_part os_start_latency, os_start_trace, os_start_shell;

/*
 * FLOATINGPOINT: code of the application may use the registers of floating point, and interrupts
 * keep them. Then the tables refer to this, so that the port's file for it is linked. It is absent
 * in other configurations.
 */
extern const bool os_floats;

/*
 * CONSOLE: os_hooks.idle is os_shell_wait, or a function that calls os_shell_idle() and the idle
 * hook. os_shell_trace is os_trace_print, or NULL without a trace.
 */
void os_shell_wait(void);
void os_shell_idle(void);
extern void (*const os_shell_trace)(void);
void os_trace_print(void);

/* Functions that the user writes with TASK(), ISR(), ALARMCALLBACK(), COMCallback(). */
#define OS_TASK_ENTRY(name)	os_task_entry_##name
#define OS_ISR_ENTRY(name)	os_isr_entry_##name
#define OS_ALARM_ENTRY(name)	os_alarm_entry_##name
#define OS_COM_ENTRY(name)	os_com_entry_##name

#endif
