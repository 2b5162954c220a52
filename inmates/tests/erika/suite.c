// SPDX-License-Identifier: GPL-2.0-only
/* Reads one case, and executes its steps. batch.c finds the cases. */
#include <inmate/printf.h>
#include <inmate/string.h>
#include "suite.h"

static struct step steps[MAX_STEPS];
static unsigned int num_steps, at;
static const struct case_text *this_case;
static int line_number;
static StatusType hook_argument;

void suite_fail(const char *format, ...)
{
	char text[400];
	size_t n = format_buf(text, sizeof(text), "%s:%d: %s (%s): ", this_case->file, line_number,
			      this_case->title, world.non_preemptable ? "non" : "full");
	va_list ap;

	if (n < sizeof(text)) {
		va_start(ap, format);
		format_vbuf(text + n, sizeof(text) - n, format, ap);
		va_end(ap);
	}
	run_say(text);
	run_end(CASE_FAILED);
}

void suite_end(void)
{
	if (at < num_steps)
		suite_fail("ended before `%s`", steps[at].text);
	run_end(CASE_PASSED);
}

/* --- words --- */

#define NAME(constant)	{ #constant, constant }
#define SERVICE(name)	{ #name, OSServiceId_##name }
#define COM_SERVICE(name)	{ #name, COMServiceId_##name }

static const struct {
	const char *name;
	uint64_t value;
} constants[] = {
	NAME(E_OK), NAME(E_OS_ACCESS), NAME(E_OS_CALLEVEL), NAME(E_OS_ID), NAME(E_OS_LIMIT),
	NAME(E_OS_NOFUNC), NAME(E_OS_RESOURCE), NAME(E_OS_STATE), NAME(E_OS_VALUE),
	NAME(E_OS_MISSINGEND), NAME(E_OS_DISABLEDINT), NAME(E_OS_PARAM_POINTER), NAME(E_COM_ID),
	NAME(E_COM_LIMIT), NAME(E_COM_NOMSG), NAME(SUSPENDED), NAME(READY), NAME(WAITING),
	NAME(RUNNING), NAME(SCHEDULETABLE_STOPPED), NAME(SCHEDULETABLE_NEXT),
	NAME(SCHEDULETABLE_WAITING), NAME(SCHEDULETABLE_RUNNING),
	NAME(SCHEDULETABLE_RUNNING_AND_SYNCHRONOUS), NAME(COM_TRUE), NAME(COM_FALSE),
	{ "sched", RES_SCHEDULER }, { "none", INVALID_TASK }, { "NULL", UINT64_MAX - 1 },
	SERVICE(ActivateTask), SERVICE(TerminateTask), SERVICE(ChainTask), SERVICE(Schedule),
	SERVICE(GetTaskID), SERVICE(GetTaskState), SERVICE(GetResource), SERVICE(ReleaseResource),
	SERVICE(SetEvent), SERVICE(ClearEvent), SERVICE(GetEvent), SERVICE(WaitEvent),
	SERVICE(IncrementCounter), SERVICE(GetCounterValue), SERVICE(GetElapsedValue),
	SERVICE(GetAlarmBase), SERVICE(GetAlarm), SERVICE(SetRelAlarm), SERVICE(SetAbsAlarm),
	SERVICE(CancelAlarm), SERVICE(StartScheduleTableRel), SERVICE(StartScheduleTableAbs),
	SERVICE(StopScheduleTable), SERVICE(NextScheduleTable), SERVICE(StartScheduleTableSynchron),
	SERVICE(SyncScheduleTable), SERVICE(SetScheduleTableAsync), SERVICE(GetScheduleTableStatus),
	SERVICE(StartOS), SERVICE(TaskEnd), SERVICE(ISREnd), SERVICE(TriggerISR),
	COM_SERVICE(StartCOM), COM_SERVICE(StopCOM), COM_SERVICE(InitMessage),
	COM_SERVICE(SendMessage), COM_SERVICE(ReceiveMessage), COM_SERVICE(SendZeroMessage),
	COM_SERVICE(GetMessageStatus),
};

static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

uint64_t suite_number(const char **at_word)
{
	unsigned int base = 10;
	uint64_t value = 0;

	if ((*at_word)[0] == '0' && (*at_word)[1] == 'x') {
		base = 16;
		*at_word += 2;
	}
	while (digit_of(**at_word) < base)
		value = value * base + digit_of(*(*at_word)++);
	return value;
}

/* A constant, a task's letter, a number, or a number after one letter for its kind (r1, c0). */
uint64_t value_of(const char *word)
{
	const char *at_word = word;
	unsigned int i;
	uint64_t value;

	for (i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (!strcmp(constants[i].name, word))
			return constants[i].value;
	if (word[0] >= 'A' && word[0] <= 'Z' && !word[1])
		return word[0] - 'A';
	if (word[0] >= 'a' && word[0] <= 'z')
		at_word++;
	if (digit_of(*at_word) > 9)
		suite_fail("unknown word %s", word);
	value = suite_number(&at_word);
	if (*at_word)
		suite_fail("unknown word %s", word);
	return value;
}

static const char *const other_names[] = {
	"idle", "error", "pre", "post", "startup", "shutdown", "comerror",
};

/* Returns -1 if the word is not the name of a context. */
static int who_of(const char *word)
{
	unsigned int i;

	if (word[0] >= 'A' && word[0] <= 'Z' && !word[1])
		return word[0] - 'A';
	if ((word[0] == 'I' || word[0] == 'K') && word[1] >= '0' && word[1] <= '7')
		return (word[0] == 'I' ? WHO_ISR : WHO_CALLBACK) + word[1] - '0';
	for (i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (!strcmp(other_names[i], word))
			return WHO_IDLE + i;
	return -1;
}

static const struct op *find_op(const char *name)
{
	const struct op *op;

	for (op = ops; op->name; op++)
		if (!strcmp(op->name, name))
			return op;
	for (op = op_macros; op->name; op++)
		if (!strcmp(op->name, name))
			return op;
	suite_fail("unknown step %s", name);
}

/* Parses `WHO NAME ARGUMENT... [= ERROR] [-> VALUE]`. */
static void add_step(int who, char **words, unsigned int n)
{
	struct step *step = &steps[num_steps++];
	size_t length = 0;
	unsigned int i;

	step->who = who;
	step->line = line_number;
	step->op = find_op(words[1]);
	for (i = 0; i < n && length < sizeof(step->text); i++)
		length += format_buf(step->text + length, sizeof(step->text) - length, "%s ",
				     words[i]);
	for (i = 2; i < n; i++) {
		if (!strcmp(words[i], "=")) {
			step->error = (StatusType)value_of(words[++i]);
		} else if (!strcmp(words[i], "->")) {
			step->has_value = true;
			step->value = value_of(words[++i]);
		} else {
			step->args[step->num_args++] = value_of(words[i]);
		}
	}
}

/* Cuts off and returns the text up to the first `end`, and moves behind it; NULL: none is left. */
static char *cut(char **rest, char end)
{
	char *text = *rest;

	if (!text)
		return NULL;
	while (**rest && **rest != end)
		(*rest)++;
	if (**rest)
		*(*rest)++ = 0;
	else
		*rest = NULL;
	return text;
}

static void add_statement(char *text)
{
	char *words[MAX_WORDS], *word;
	unsigned int n = 0;
	int who;

	while ((word = cut(&text, ' ')) && n < MAX_WORDS)
		if (*word)
			words[n++] = word;
	if (!n)
		return;
	who = who_of(words[0]);
	if (who >= 0)
		add_step(who, words, n);
	else if (!world_setup(words, n))
		suite_fail("unknown line %s", words[0]);
}

/* --- execution --- */

static void execute(void)
{
	struct step *step = &steps[at++];
	uint64_t out = 0;
	StatusType error;

	line_number = step->line;
	error = step->op->call(step->args, &out);
	if (!strcmp(step->op->name, "here"))
		error = hook_argument;
	run_settle();
	line_number = step->line;
	if (error != step->error)
		suite_fail("`%s` gives status %u", step->text, error);
	if (step->has_value && out != step->value)
		suite_fail("`%s` gives value %llu", step->text, (unsigned long long)out);
}

static bool is_next(int who)
{
	return at < num_steps && steps[at].who == who;
}

static bool begins(void)
{
	return !strcmp(steps[at].op->name, "here");
}

static void must_be_next(int who)
{
	if (!is_next(who))
		suite_fail("context %d runs, but next is `%s`", who,
			   at < num_steps ? steps[at].text : "the end");
}

void suite_run(int who)
{
	bool is_task = who < WHO_ISR;

	must_be_next(who);
	do {
		bool returns = !strcmp(steps[at].op->name, "return");

		execute();
		if (returns)
			return;
		if (is_task)
			must_be_next(who);
	} while (is_next(who) && (is_task || !begins()));
}

void suite_hook(int who, StatusType argument)
{
	StatusType before = hook_argument;

	hook_argument = argument;
	suite_run(who);
	hook_argument = before;
}

void suite_idle(void)
{
	if (at == num_steps)
		suite_end();
	must_be_next(WHO_IDLE);
	execute();
}

/* Copies a line without its comment. Returns the start of the next line. */
static const char *copy_line(char *line, size_t size, const char *from)
{
	size_t n = 0;
	bool comment = false;

	for (; *from && *from != '\n'; from++) {
		comment |= *from == '#';
		if (!comment && n < size - 1)
			line[n++] = *from;
	}
	line[n] = 0;
	return *from ? from + 1 : from;
}

void suite_case(const struct case_text *text)
{
	char line[MAX_LINE], *rest, *statement;
	const char *from = text->begin;

	this_case = text;
	world.non_preemptable = text->non;
	world_begin();
	for (line_number = text->line; from < text->end; line_number++) {
		from = copy_line(line, sizeof(line), from);
		rest = line;
		while ((statement = cut(&rest, ';')))
			add_statement(statement);
	}
	world_finish();
	if (SUITE_SINGLE && world.same_level)
		run_end(CASE_SKIPPED);
	StartOS(world.mode);
	suite_end();
}
