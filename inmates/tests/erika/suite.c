// SPDX-License-Identifier: GPL-2.0-only
/*
 * suite [FILE...]: runs the cases of the files (default: all), each in its own process, with full
 * preemptive tasks and with non-preemptive tasks. The last line is `N passed, N failed`.
 */
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "suite.h"

#define SKIPPED		77
#define MAX_LINES	4000

static struct step steps[MAX_STEPS];
static unsigned int num_steps, at;
static const char *file, *title;
static char *lines[MAX_LINES];
static unsigned int num_lines;
static int line_number;
static StatusType hook_argument;

void suite_fail(const char *format, ...)
{
	va_list ap;

	printf("%s:%d: %s (%s): ", file, line_number, title,
	       world.non_preemptable ? "non" : "full");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

void suite_end(void)
{
	if (at < num_steps)
		suite_fail("ended before `%s`", steps[at].text);
	_exit(0);
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

/* A constant, a task's letter, a number, or a number after one letter for its kind (r1, c0). */
uint64_t value_of(const char *word)
{
	unsigned int i;
	char *end;
	uint64_t value;

	for (i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (!strcmp(constants[i].name, word))
			return constants[i].value;
	if (word[0] >= 'A' && word[0] <= 'Z' && !word[1])
		return word[0] - 'A';
	if (word[0] >= 'a' && word[0] <= 'z')
		word++;
	value = strtoull(word, &end, 0);
	if (*end || end == word)
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
	unsigned int i;

	step->who = who;
	step->line = line_number;
	step->op = find_op(words[1]);
	for (i = 0; i < n; i++)
		snprintf(step->text + strlen(step->text), sizeof(step->text) - strlen(step->text),
			 "%s ", words[i]);
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

static void add_statement(char *text)
{
	char *words[MAX_WORDS], *word, *rest = NULL;
	unsigned int n = 0;
	int who;

	for (word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
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

static _Noreturn void run_child(unsigned int first, unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++) {
		char *statement, *rest = NULL;

		line_number = (int)i + 1;
		for (statement = strtok_r(lines[i], ";", &rest); statement;
		     statement = strtok_r(NULL, ";", &rest))
			add_statement(statement);
	}
	world_finish();
	if (SUITE_SINGLE && world.same_level)
		_exit(SKIPPED);
	StartOS(world.mode);
	suite_end();
}

/* --- files --- */

static unsigned int passed, failed;

static void run_case(unsigned int first, unsigned int end, bool non)
{
	int status;
	pid_t child;

	world.non_preemptable = non;
	fflush(stdout);
	child = fork();
	if (!child)
		run_child(first, end);
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		return;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		passed++;
		return;
	}
	failed++;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
		printf("%s: %s (%s): died, status %x\n", file, title, non ? "non" : "full", status);
}

/* `for full extended`: without a word of a kind, all of the kind. */
static bool wanted(const char *variants, const char *yes, const char *no)
{
	return !variants || strstr(variants, yes) || !strstr(variants, no);
}

static void run_lines(unsigned int first, unsigned int end)
{
	const char *variants = NULL;

	if (first < end && !strncmp(lines[first], "for ", 4))
		variants = lines[first++];	/* directly after the line `case` */
	if (!wanted(variants, OS_EXTENDED ? "extended" : "standard",
		    OS_EXTENDED ? "standard" : "extended"))
		return;
	if (wanted(variants, "full", "non"))
		run_case(first, end, false);
	if (wanted(variants, "non", "full"))
		run_case(first, end, true);
}

static void read_file(const char *name)
{
	FILE *in = fopen(name, "r");
	char text[400];

	if (!in) {
		perror(name);
		exit(1);
	}
	file = name;
	for (num_lines = 0; num_lines < MAX_LINES && fgets(text, sizeof(text), in); num_lines++) {
		text[strcspn(text, "#\n")] = 0;
		lines[num_lines] = strdup(text);
	}
	fclose(in);
}

static void run_file(const char *name)
{
	unsigned int i, first = 0;

	read_file(name);
	for (i = 0; i <= num_lines; i++) {
		if (i < num_lines && strncmp(lines[i], "case ", 5))
			continue;
		if (first) {
			title = lines[first - 1] + 5;
			run_lines(first, i);
		}
		first = i + 1;
	}
	for (i = 0; i < num_lines; i++)
		free(lines[i]);
}

int main(int argc, char **argv)
{
	glob_t found = { 0 };
	int i;

	for (i = 1; i < argc; i++)
		run_file(argv[i]);
	if (argc == 1 && !glob(SUITE_FOLDER "/*.cases", 0, NULL, &found))
		for (i = 0; i < (int)found.gl_pathc; i++)
			run_file(found.gl_pathv[i]);
	globfree(&found);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
