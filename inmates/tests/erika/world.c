// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of a case. The kernel's const tables are these arrays under other names (the
 * linker's --defsym, see ../Makefile), so that each case fills them before StartOS().
 */
#include <inmate/string.h>
#include "suite.h"

struct world world;

struct os_task_conf w_task_conf[MAX_TASKS];
struct os_task os_tasks[MAX_TASKS];
uint32_t w_num_tasks;
uint8_t w_top_level;
TaskType w_level_task[OS_TASK_LEVELS];
static TaskType slots[OS_TASK_LEVELS][256];
struct os_level_queue w_level_queue[OS_TASK_LEVELS];
struct os_ring os_level_ring[OS_TASK_LEVELS];
struct os_resource_conf w_resource_conf[MAX_OBJECTS];
struct os_resource os_resources[MAX_OBJECTS];
uint32_t w_num_resources = 1;
struct os_counter_conf w_counter_conf[MAX_OBJECTS];
struct os_counter os_counters[MAX_OBJECTS];
uint32_t w_num_counters;
struct os_isr_conf w_timer_isr = {
	.entry = os_systimer_expire, .level = OS_ISR_LEVEL(9), .id = INVALID_ISR,
};
struct os_alarm_conf w_alarm_conf[MAX_OBJECTS];
struct os_alarm os_alarms[MAX_OBJECTS];
uint32_t w_num_alarms;
static struct os_expiry_point points[MAX_OBJECTS][MAX_OBJECTS];
static struct os_action actions[MAX_OBJECTS][MAX_OBJECTS][4];
struct os_table_conf w_table_conf[MAX_OBJECTS];
struct os_table os_tables[MAX_OBJECTS];
uint32_t w_num_tables;
struct os_isr_conf w_isr_conf[MAX_OBJECTS];
uint32_t w_num_isrs;
uint8_t w_isr2_level = OS_ISR_LEVEL(9);
static uint64_t buffers[MAX_OBJECTS][8], initials[MAX_OBJECTS];
static MessageIdentifier receivers[MAX_OBJECTS][MAX_OBJECTS];
struct os_message_conf w_message_conf[MAX_OBJECTS];
struct os_message os_messages[MAX_OBJECTS];
uint32_t w_num_messages;
void (*w_com_error_hook)(StatusType error);
StatusType (*w_com_extension)(void);
uint32_t w_num_com_modes = 2;
bool w_com_extended = OS_EXTENDED;
struct os_hooks w_hooks;
uint32_t w_num_modes = 3;
struct os_stack w_isr_stack;
os_part *const os_parts[] = {
	os_start_counters, os_start_alarms, os_start_tables, os_start_messages, NULL,
};

/* One function for each object that has one. */
#define TASK_BODY(n)	static void task_##n(void) { suite_run(n); }
#define ISR_BODY(n)	static void isr_##n(void) { suite_run(WHO_ISR + n); }
#define CALLBACK_BODY(n) \
	static void callback_##n(void) { suite_run(WHO_CALLBACK + n); }
#define EIGHT(X, d)	X(d##0) X(d##1) X(d##2) X(d##3) X(d##4) X(d##5) X(d##6) X(d##7)
TASK_BODY(0) TASK_BODY(1) TASK_BODY(2) TASK_BODY(3) TASK_BODY(4) TASK_BODY(5) TASK_BODY(6)
TASK_BODY(7) TASK_BODY(8) TASK_BODY(9) TASK_BODY(10) TASK_BODY(11) TASK_BODY(12) TASK_BODY(13)
TASK_BODY(14) TASK_BODY(15) TASK_BODY(16) TASK_BODY(17) TASK_BODY(18) TASK_BODY(19) TASK_BODY(20)
TASK_BODY(21) TASK_BODY(22) TASK_BODY(23) TASK_BODY(24) TASK_BODY(25)
EIGHT(ISR_BODY,)
EIGHT(CALLBACK_BODY,)
static void (*const task_bodies[])(void) = {
	task_0, task_1, task_2, task_3, task_4, task_5, task_6, task_7, task_8, task_9, task_10,
	task_11, task_12, task_13, task_14, task_15, task_16, task_17, task_18, task_19, task_20,
	task_21, task_22, task_23, task_24, task_25,
};
static void (*const isr_bodies[])(void) = {
	isr_0, isr_1, isr_2, isr_3, isr_4, isr_5, isr_6, isr_7,
};
static void (*const callbacks[])(void) = {
	callback_0, callback_1, callback_2, callback_3, callback_4, callback_5, callback_6,
	callback_7,
};

static void startup(void)
{
	suite_hook(WHO_STARTUP, E_OK);
}

static void shutdown(StatusType error)
{
	suite_hook(WHO_SHUTDOWN, error);
}

static void error_hook(StatusType error)
{
	suite_hook(WHO_ERROR, error);
}

static void pre_task(void)
{
	suite_hook(WHO_PRE, E_OK);
}

static void post_task(void)
{
	suite_hook(WHO_POST, E_OK);
}

static void com_error(StatusType error)
{
	suite_hook(WHO_COMERROR, error);
}

/* tasks A1* B2e C3+2 D4n E5f F1@3: level; * autostart, *m in mode m; e extended; + activations;
 * n non-preemptable; f full; @ ceiling of its internal resource */
static void add_task(const char *word)
{
	struct os_task_conf *task = &w_task_conf[word[0] - 'A'];
	char kind = world.non_preemptable ? 'n' : 'f';
	const char *at = word + 1;

	task->name = "task";
	task->entry = task_bodies[word[0] - 'A'];
	task->level = (uint8_t)suite_number(&at);
	task->activations = 1;
	task->run_level = 0;
	while (*at) {
		char flag = *at++;

		if (flag == '*')
			task->autostart |= 1u << (*at >= '0' && *at <= '9' ? suite_number(&at) : 0);
		else if (flag == 'e')
			task->extended = true;
		else if (flag == '+')
			task->activations = (uint8_t)suite_number(&at);
		else if (flag == '@')
			task->run_level = (uint8_t)suite_number(&at);
		else if (flag == 'n' || flag == 'f')
			kind = flag;
		else
			suite_fail("task %s", word);
	}
	if (kind == 'n')
		task->run_level = OS_TASK_LEVELS;	/* world_finish() sets it */
	if ((uint32_t)(word[0] - 'A') >= w_num_tasks)
		w_num_tasks = word[0] - 'A' + 1;
}

/* activate T | event T MASK | callback N | increment C | flag M: returns the words used */
static unsigned int set_action(struct os_action *action, char **words)
{
	const char *what = words[0];

	action->id = (uint32_t)value_of(words[1]);
	if (!strcmp(what, "activate")) {
		action->act = os_act_activate;
	} else if (!strcmp(what, "increment")) {
		action->act = os_act_increment;
	} else if (!strcmp(what, "flag")) {
		action->act = os_act_flag;
	} else if (!strcmp(what, "event")) {
		action->act = os_act_event;
		action->mask = value_of(words[2]);
		return 3;
	} else if (!strcmp(what, "callback")) {
		action->act = os_act_callback;
		action->callback = callbacks[action->id];
	} else if (!strcmp(what, "comcallback")) {
		action->act = os_act_com_callback;
		action->callback = callbacks[action->id];
	} else {
		suite_fail("action %s", what);
	}
	return 2;
}

/* counter MAX MIN [tick-ms] */
static void add_counter(char **words, unsigned int n)
{
	struct os_counter_conf *counter = &w_counter_conf[w_num_counters++];

	counter->base.maxallowedvalue = (TickType)value_of(words[1]);
	counter->base.ticksperbase = 1;
	counter->base.mincycle = (TickType)value_of(words[2]);
	if (n <= 3)
		return;
	counter->tick_ns = (uint32_t)value_of(words[3]) * 1000000;
	counter->driver = &os_systimer;
}

/* alarm COUNTER ACTION... [absolute|relative MODE TIME CYCLE] */
static void add_alarm(char **words, unsigned int n)
{
	struct os_alarm_conf *alarm = &w_alarm_conf[w_num_alarms++];
	unsigned int at = 2 + set_action(&alarm->action, words + 2);

	alarm->counter = (CounterType)value_of(words[1]);
	if (at == n)
		return;
	alarm->start = !strcmp(words[at], "absolute") ? OS_START_ABSOLUTE : OS_START_RELATIVE;
	alarm->modes = 1u << value_of(words[at + 1]);
	alarm->time = (TickType)value_of(words[at + 2]);
	alarm->cycle = (TickType)value_of(words[at + 3]);
}

/*
 * table COUNTER LENGTH once|periodic none|implicit|explicit PRECISION
 *	[absolute|relative|synchron TIME]
 */
static void add_table(char **words, unsigned int n)
{
	struct os_table_conf *table = &w_table_conf[w_num_tables];

	table->counter = (CounterType)value_of(words[1]);
	table->length = (TickType)value_of(words[2]);
	table->periodic = !strcmp(words[3], "periodic");
	table->sync = words[4][0] == 'n' ? OS_SYNC_NONE :
		      words[4][0] == 'i' ? OS_SYNC_IMPLICIT : OS_SYNC_EXPLICIT;
	table->precision = (TickType)value_of(words[5]);
	table->points = points[w_num_tables++];
	if (n <= 6)
		return;
	table->start = words[6][0] == 'a' ? OS_START_ABSOLUTE :
		       words[6][0] == 'r' ? OS_START_RELATIVE : OS_START_SYNCHRON;
	table->modes = 1;
	table->time = n > 7 ? (TickType)value_of(words[7]) : 0;
}

/* point OFFSET ADVANCE RETARD ACTION...: of the last table */
static void add_point(char **words, unsigned int n)
{
	struct os_table_conf *table = &w_table_conf[w_num_tables - 1];
	struct os_expiry_point *point = &points[w_num_tables - 1][table->num_points];
	struct os_action *action = actions[w_num_tables - 1][table->num_points++];
	unsigned int at = 4;

	point->offset = (TickType)value_of(words[1]);
	point->max_advance = (TickType)value_of(words[2]);
	point->max_retard = (TickType)value_of(words[3]);
	point->actions = action;
	while (at < n) {
		at += set_action(action++, words + at);
		point->num_actions++;
	}
}

/* isr CATEGORY CLASS [before] */
static void add_isr(char **words, unsigned int n)
{
	struct os_isr_conf *isr = &w_isr_conf[w_num_isrs];
	uint8_t class = (uint8_t)value_of(words[2]);

	isr->category = (uint8_t)value_of(words[1]);
	isr->vector = (uint8_t)(class << 4 | w_num_isrs);
	isr->level = OS_ISR_LEVEL(class);
	isr->ack = n > 3 ? OS_ACK_BEFORE : OS_ACK_AFTER;
	isr->id = w_num_isrs;
	isr->entry = isr_bodies[w_num_isrs++];
	if (isr->category == 2 && isr->level > w_isr2_level)
		w_isr2_level = isr->level;
}

static const char *const filter_names[] = {
	"ALWAYS", "NEVER", "MASKEDNEWEQUALSX", "MASKEDNEWDIFFERSX", "NEWISEQUAL", "NEWISDIFFERENT",
	"MASKEDNEWEQUALSMASKEDOLD", "MASKEDNEWDIFFERSMASKEDOLD", "NEWISWITHIN", "NEWISOUTSIDE",
	"NEWISGREATER", "NEWISLESSOREQUAL", "NEWISLESS", "NEWISGREATEROREQUAL", "ONEEVERYN",
};

/* filter NAME A B: mask and x, min and max, or period and offset; of the last message */
static void set_filter(char **words)
{
	struct os_filter *filter = &w_message_conf[w_num_messages - 1].filter;
	unsigned int kind = 0;

	while (strcmp(filter_names[kind], words[1]))
		kind++;
	filter->kind = kind;
	filter->mask = filter->min = value_of(words[2]);
	filter->x = filter->max = value_of(words[3]);
	filter->period = (uint32_t)value_of(words[2]);
	filter->offset = (uint32_t)value_of(words[3]);
}

/* send SIZE RECEIVER... | unqueued SIZE [INITIAL] | queued SIZE LENGTH */
static void add_message(char **words, unsigned int n)
{
	struct os_message_conf *message = &w_message_conf[w_num_messages];
	unsigned int i;

	message->kind = *words[0] == 's' ? OS_MESSAGE_SEND :
			*words[0] == 'u' ? OS_MESSAGE_UNQUEUED : OS_MESSAGE_QUEUED;
	message->size = (uint32_t)value_of(words[1]);
	message->buffer = buffers[w_num_messages];
	message->receivers = receivers[w_num_messages];
	for (i = 2; message->kind == OS_MESSAGE_SEND && i < n; i++)
		receivers[w_num_messages][message->num_receivers++] =
			(MessageIdentifier)value_of(words[i]);
	if (message->kind == OS_MESSAGE_QUEUED)
		message->length = (uint32_t)value_of(words[2]);
	if (message->kind == OS_MESSAGE_UNQUEUED && n > 2) {
		initials[w_num_messages] = value_of(words[2]);
		message->initial = &initials[w_num_messages];
	}
	w_num_messages++;
}

/* Of the last message: filter NAME A B, signed, notify ACTION. Returns false for other lines. */
static bool set_message(char **words)
{
	if (!strcmp(words[0], "filter"))
		set_filter(words);
	else if (!strcmp(words[0], "signed"))
		w_message_conf[w_num_messages - 1].filter.is_signed = true;
	else if (!strcmp(words[0], "notify"))
		set_action(&w_message_conf[w_num_messages - 1].notify, words + 1);
	else
		return false;
	return true;
}

static void set_hook(const char *name)
{
	if (!strcmp(name, "startup"))
		w_hooks.startup = startup;
	else if (!strcmp(name, "shutdown"))
		w_hooks.shutdown = shutdown;
	else if (!strcmp(name, "error"))
		w_hooks.error = error_hook;
	else if (!strcmp(name, "pre"))
		w_hooks.pre_task = pre_task;
	else if (!strcmp(name, "post"))
		w_hooks.post_task = post_task;
	else if (!strcmp(name, "comerror"))
		w_com_error_hook = com_error;
	else
		suite_fail("hook %s", name);
}

static void add_tasks(char **words, unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n; i++)
		add_task(words[i]);
}

static void set_hooks(char **words, unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n; i++)
		set_hook(words[i]);
}

/* resource LEVEL | resource class CLASS */
static void add_resource(char **words, unsigned int n)
{
	w_resource_conf[w_num_resources++].ceiling =
		(uint8_t)(n > 2 ? OS_ISR_LEVEL(value_of(words[2])) : value_of(words[1]));
}

/* mode N: StartOS(N) */
static void set_mode(char **words, unsigned int n)
{
	(void)n;
	world.mode = (AppModeType)value_of(words[1]);
}

/* comstatus standard|extended: other than the status of the operating system */
static void set_com_status(char **words, unsigned int n)
{
	(void)n;
	w_com_extended = *words[1] == 'e';
}

static const struct {
	const char *word;
	void (*add)(char **words, unsigned int n);
} lines[] = {
	{ "tasks", add_tasks }, { "hooks", set_hooks }, { "resource", add_resource },
	{ "counter", add_counter }, { "alarm", add_alarm }, { "table", add_table },
	{ "point", add_point }, { "isr", add_isr }, { "mode", set_mode }, { "send", add_message },
	{ "unqueued", add_message }, { "queued", add_message }, { "comstatus", set_com_status },
};

bool world_setup(char **words, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(lines[i].word, words[0]))
			continue;
		lines[i].add(words, n);
		return true;
	}
	return set_message(words);
}

/* Idle executes the steps of idle. */
void world_begin(void)
{
	w_isr_stack = (struct os_stack){ run_stack(MAX_TASKS), STACK_BYTES };
	w_hooks.idle = suite_idle;
}

void world_finish(void)
{
	struct os_task_conf *task;
	TaskType id;

	for (id = 0; id < w_num_tasks; id++)
		w_task_conf[id].stack = (struct os_stack){ run_stack(id), STACK_BYTES };
	for (id = 0; id < w_num_tasks; id++)
		if (w_task_conf[id].level > w_top_level)
			w_top_level = w_task_conf[id].level;
	w_resource_conf[0].ceiling = w_top_level;
	for (id = 0; id < w_num_tasks; id++) {
		task = &w_task_conf[id];
		if (!task->level)
			continue;		/* a letter that the case leaves out */
		if (task->run_level > w_top_level)
			task->run_level = w_top_level;
		if (task->run_level < task->level)
			task->run_level = task->level;
		if (w_level_queue[task->level - 1].size || task->activations > 1)
			world.same_level = true;
		w_level_task[task->level - 1] = id;
		w_level_queue[task->level - 1].slots = slots[task->level - 1];
		w_level_queue[task->level - 1].size += task->activations;
	}
}
