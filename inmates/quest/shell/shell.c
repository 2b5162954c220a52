// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/namedvcpu.h"
#include "../kernel/program.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu.h"
#include "lineedit.h"
#include "shell.h"
#include "words.h"

#define QUIET_US	50000		/* who writes nothing for so long has paused */

static struct lineedit line;
static uint64_t own;			/* console_written() as the shell has left it */
static bool told;			/* that others write */

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

/* What the line editor shows. */
static void echo(const char *text, size_t n)
{
	bool irqs = irq_save();

	own += n;
	console_write(text, n);
	irq_restore(irqs);
}

/* Has somebody else written since the line was shown? */
static bool disturbed(void)
{
	return console_written() != own;
}

/* Others' output begins: the shell is to know, once. */
static void output(void)
{
	if (told || !disturbed())
		return;
	told = true;
	input_poke();
}

static void show_ready(void)
{
	if (!line.length)
		console_ready();
}

/* Behind what others have written, and who has ended. */
static void show_again(void)
{
	if (!console_at_line_start())
		print("\n");
	shell_report_background();
	own = console_written();
	told = false;
	lineedit_show(&line);
	show_ready();
}

/* The next key. What others write meanwhile stands before the line, once they have paused. */
static uint8_t next_key(void)
{
	uint64_t before;
	bool irqs;
	int key;

	for (;;) {
		irqs = irq_save();	/* nothing is written between the look and the wait */
		before = console_written();
		key = input_get_until(disturbed() ? rdtsc() + timer_from_us(QUIET_US) : UINT64_MAX);
		irq_restore(irqs);
		if (key >= 0)
			return (uint8_t)key;
		if (disturbed() && console_written() == before)
			show_again();
	}
}

static void shell(void *arg)
{
	(void)arg;
	lineedit_init(&line, echo, name_at, "> ");
	for (;;) {
		shell_report_background();
		own = console_written();
		told = false;
		console_on_output(output);
		lineedit_begin(&line);
		show_ready();
		while (!lineedit_key(&line, next_key()))
			;
		console_on_output(NULL);
		run_line(line.text);
	}
}

bool shell_start(void)
{
	return thread_create("shell", SHELL_VCPU, shell, NULL) >= 0;
}
