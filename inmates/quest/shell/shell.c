// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "../drivers/input.h"
#include "../kernel/namedvcpu.h"
#include "../kernel/program.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu.h"
#include "lineedit.h"
#include "shell.h"
#include "words.h"

static struct lineedit line;

static const struct command *find(const char *name)
{
	const struct command *c;

	for (c = shell_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

void shell_usage(char **argv)
{
	const struct command *c = find(argv[0]);

	if (c)
		print("usage: %s %s\n", c->name, c->usage);
}

static void help_on(const char *name)
{
	const struct command *c = find(name);

	if (!c && shell_runs(name)) {
		print("%s: a program: its name runs it (Documentation/quest-programs.md)\n", name);
		return;
	}
	if (!c) {
		print("%s: no such command; help lists them\n", name);
		return;
	}
	print("%s %s\n    %s\n", c->name, c->usage, c->brief);
	if (c->text)
		print("%s", c->text);
}

void command_help(int argc, char **argv)
{
	const struct command *c;

	if (argc > 1) {
		help_on(argv[1]);
		return;
	}
	for (c = shell_commands; c->name; c++)
		print("%-8s %s\n", c->name, c->brief);
	print("help NAME tells more; a program runs by its name (ls); Tab completes, ^C ends\n");
}

static void run_line(char *text)
{
	char *words[WORDS_MAX];
	int n = words_split(text, words);
	const struct command *c;

	if (!n)
		return;
	if (n > WORDS_MAX) {
		print("%s: too many words: %d at most\n", words[0], WORDS_MAX);
		return;
	}
	c = find(words[0]);
	if (c)
		c->run(n, words);
	else if (shell_runs(words[0]))
		shell_run(n, words);
	else
		print("%s: no such command; help lists them\n", words[0]);
}

/* For Tab: the commands, then the files of the archive, then vcpu=NAME. */
static const char *name_at(unsigned int i)
{
	unsigned int n = 0;

	while (shell_commands[n].name)
		n++;
	if (i < n)
		return shell_commands[i].name;
	i -= n;
	return i < archive.num_files ? archive.files[i].name : namedvcpu_word(i - archive.num_files);
}

static void shell(void *arg)
{
	(void)arg;
	lineedit_init(&line, console_write, name_at);
	for (;;) {
		shell_report_background();
		print("> ");
		lineedit_begin(&line);
		console_ready();
		while (!lineedit_key(&line, input_get()))
			;
		run_line(line.text);
	}
}

bool shell_start(void)
{
	return thread_create("shell", SHELL_VCPU, shell, NULL) >= 0;
}
