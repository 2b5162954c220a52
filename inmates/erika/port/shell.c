// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The console of a cell (CONSOLE = TRUE in the OIL file): answers lines such as `tasks`, which
 * `quesh NAME -c tasks` sends. Only the application itself shows its state; Linux cannot read it.
 *
 * A line is carried out while no task runs. If the CPU does not become idle until the second
 * heartbeat after the line, an ISR of category 2 in the lowest class carries it out.
 *
 * After ShutdownOS() the console still answers, so that one can see which task failed. It does so
 * until Linux stops the cell.
 */
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define LINE_MAX	31
#define BACKSPACE	0x7F
#define STOP_KEY	0x03		/* ^C */
#define LOWEST_CLASS	2
#define LAST_SLOT	15		/* the kernel has the last vector of each class */
#define NOT_FOUND	127

static uint8_t vector;			/* of the ISR */
static char line[LINE_MAX + 1];
static uint32_t length;
static bool started, pending;		/* a complete line waits */
static unsigned int beats;		/* heartbeats since then */
static uint64_t told;			/* console_written() at the last console_ready() */

static const char *const states[] = { "suspended", "ready", "waiting", "running" };

static void show_stack(const struct os_stack *stack, uint32_t unused)
{
	print(" %8u %8u", stack->size - unused, stack->size);
}

static void show_task(TaskType id)
{
	const struct os_task_conf *conf = &os_task_conf[id];
	const struct os_task *task = &os_tasks[id];

	print("%-24s %5u %-9s %4u", conf->name, conf->level, states[task->state],
	      task->activations);
	show_stack(&conf->stack, os_stack_unused(id));
	if (conf->extended)
		print(" %lx/%lx", task->set, task->awaited);
	print("\n");
}

static void show_tasks(void)
{
	TaskType id;

	print("%-24s %5s %-9s %4s %8s %8s %s\n", "TASK", "LEVEL", "STATE", "ACT.", "USED", "STACK",
	      "SET/AWAITED");
	for (id = 0; id < os_num_tasks; id++)
		show_task(id);
	print("%-24s %5s %-9s %4s", "(interrupts)", "-", "-", "-");
	show_stack(&os_isr_stack, os_isr_stack_unused());
	print("\n");
}

static void show_resources(void)
{
	ResourceType id;

	print("%-24s %7s %s\n", "RESOURCE", "CEILING", "STATE");
	for (id = 0; id < os_num_resources; id++) {
		const struct os_resource *resource = &os_resources[id];

		print("%-24s %7u ", os_resource_conf[id].name, os_resource_conf[id].ceiling);
		if (resource->taken == 1)
			print("taken by %s\n", os_task_conf[resource->owner - os_tasks].name);
		else
			print("%s\n", resource->taken ? "taken by an ISR" : "free");
	}
}

static void show_alarm(AlarmType id)
{
	bool on = os_port_off();
	struct os_timer timer = os_alarms[id].timer;
	CounterType counter = os_alarm_conf[id].counter;
	uint64_t now = os_counter_ticks(counter);

	if (on)
		os_port_on();
	print("%-24s %-24s", os_alarm_conf[id].name, os_counter_conf[counter].name);
	if (timer.expire)
		print(" in %lu, cycle %u\n", timer.due > now ? timer.due - now : 0, timer.cycle);
	else
		print(" stopped\n");
}

static void show_alarms(void)
{
	AlarmType id;

	print("%-24s %-24s %s\n", "ALARM", "COUNTER", "DUE");
	for (id = 0; id < os_num_alarms; id++)
		show_alarm(id);
}

static void show_trace(void)
{
	if (os_shell_trace)
		os_shell_trace();
	else
		print("there is no trace; remedy: TRACE = TRUE in the OS object of the OIL file\n");
}

static void help(void);

static const struct command {
	const char *name, *about;
	void (*run)(void);
} commands[] = {
	{ "help", "prints this", help },
	{ "tasks", "tasks, their states, and the most that each stack was used", show_tasks },
	{ "resources", "resources, and which are taken", show_resources },
	{ "alarms", "alarms, and when they are due", show_alarms },
	{ "exit", "leaves: quesh detaches, the application runs on", cell_leave },
	{ "trace", "takes the records of the trace, for `qvoil trace`", show_trace },
};

#define NUM_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void help(void)
{
	unsigned int i;

	for (i = 0; i < NUM_COMMANDS; i++)
		print("%-10s %s\n", commands[i].name, commands[i].about);
}

/* Carries out a line. Returns its status, as a POSIX shell's $?. */
static uint8_t execute(const char *text)
{
	unsigned int i;

	if (!*text)
		return 0;
	for (i = 0; i < NUM_COMMANDS; i++) {
		if (strcmp(text, commands[i].name) == 0) {
			commands[i].run();
			return 0;
		}
	}
	print("there is no command `%s`; `help` lists the commands\n", text);
	return NOT_FOUND;
}

static void tell_ready(void)
{
	told = console_written();
	console_ready();
}

/* Carries out the line that waits, if one does. */
static void answer(void)
{
	bool on = os_port_off(), any = pending;
	char text[LINE_MAX + 1];

	memcpy(text, line, sizeof(text));
	if (on)
		os_port_on();
	if (!any)
		return;
	print("%s\n", text);		/* the echo, which quesh expects */
	cell_line_status(execute(text));
	/* the next line may come only now */
	os_port_off();
	length = 0;
	pending = false;
	tell_ready();
	if (on)
		os_port_on();
}

static void key(uint8_t byte)
{
	if (byte == '\r') {
		line[length] = 0;
		pending = true;
		beats = 0;
	} else if (byte == STOP_KEY) {
		length = 0;
		tell_ready();
	} else if (byte == BACKSPACE) {
		length -= length > 0;
	} else if (length < LINE_MAX) {
		line[length++] = (char)byte;
	}
}

/* Takes keys up to the end of a line. Interrupts are off. */
static void take_keys(void)
{
	uint8_t byte;

	while (started && !pending && cell_take_keys(&byte, 1))
		key(byte);
}

/*
 * The last byte of the stream shows quesh that a line may come. Output of the application hides
 * it, so it is repeated.
 */
static void repeat_ready(void)
{
	take_keys();
	if (started && !pending && !length && told != console_written())
		tell_ready();
}

static void beat(void)
{
	repeat_ready();
	if (pending && ++beats == 2)
		os_port_trigger(vector);
}

void os_shell_idle(void)
{
	os_port_off();
	repeat_ready();
	os_port_on();
	answer();
}

void os_shell_wait(void)
{
	os_shell_idle();
	os_port_off();
	take_keys();		/* after ShutdownOS() no interrupt does */
	if (!pending)
		os_port_idle();
	os_port_on();
}

static void answer_after_end(const void *argument)
{
	(void)argument;
	entry_end();
	for (;;)
		os_shell_wait();
}

static struct os_isr_conf shell_isr = {
	.name = "console", .entry = answer, .category = 2, .ack = OS_ACK_AFTER, .id = INVALID_ISR,
};

static void interrupt(struct trap_frame *frame)
{
	(void)frame;
	os_isr2(&shell_isr);
}

/* qvoil chooses the same class for os_isr2_level. */
void os_start_shell(AppModeType mode)
{
	uint8_t class = os_timer_isr.entry && os_class_of(os_timer_isr.level) == LOWEST_CLASS ?
			LOWEST_CLASS + 1 : LOWEST_CLASS;

	(void)mode;
	if (!cell_present())
		return;
	vector = (uint8_t)(class << 4 | LAST_SLOT);
	shell_isr.level = OS_ISR_LEVEL(class);
	entry_set_isr2(vector, interrupt);
	entry_set_console(take_keys, beat);
	port_after_end(answer_after_end);
	cell_line_max(LINE_MAX);
	started = true;
	tell_ready();
}
