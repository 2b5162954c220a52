// SPDX-License-Identifier: GPL-2.0-only
/*
 * suite [FILE...]: runs the cases of the files (default: all), each in its own process, with full
 * preemptive tasks and with non-preemptive tasks. Prints TAP, for tests/harness/run.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "suite.h"

static uint8_t stacks[MAX_TASKS + 1][STACK_BYTES] __attribute__((aligned(OS_PAGE)));

uint8_t *run_stack(unsigned int number)
{
	return stacks[number];
}

/* The host's port delivers interrupts at once. */
void run_settle(void)
{
}

void run_say(const char *line)
{
	puts(line);
	fflush(stdout);
}

void run_end(enum verdict verdict)
{
	_exit((int)verdict);
}

static unsigned int tests;

static enum verdict conclude(const struct case_text *text, enum verdict verdict)
{
	printf("%s %u - %s: %s (%s)%s\n", verdict == CASE_FAILED ? "not ok" : "ok", ++tests,
	       text->file, text->title, text->non ? "non" : "full",
	       verdict == CASE_SKIPPED ? " # SKIP" : "");
	return verdict;
}

enum verdict run_case(const struct case_text *text)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		suite_case(text);
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= CASE_SKIPPED)
		return conclude(text, (enum verdict)WEXITSTATUS(status));
	printf("# died, status %x\n", status);
	return conclude(text, CASE_FAILED);
}

static void run_file(const char *name, struct batch_count *count)
{
	FILE *in = fopen(name, "r");
	char *text = NULL;
	size_t room = 0;

	/* a file without a NUL is one record */
	if (!in || getdelim(&text, &room, 0, in) < 0) {
		perror(name);
		exit(1);
	}
	fclose(in);
	batch_run(name, text, count);
	free(text);
}

int main(int argc, char **argv)
{
	struct batch_count count = { 0, 0, 0 };
	glob_t found = { 0 };
	int i;

	for (i = 1; i < argc; i++)
		run_file(argv[i], &count);
	if (argc == 1 && !glob(SUITE_FOLDER "/*.cases", 0, NULL, &found))
		for (i = 0; i < (int)found.gl_pathc; i++)
			run_file(found.gl_pathv[i], &count);
	globfree(&found);
	printf("1..%u\n", tests);
	return count.failed != 0;
}
