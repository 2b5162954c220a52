// SPDX-License-Identifier: GPL-2.0-only
/* The list of all commands, and help on them. */
#include <inmate/console.h>
#include <inmate/string.h>
#include "shell.h"

static int run_help(int argc, char **argv);

static const struct command help = {
	"help", "[NAME]", "what there is; more about NAME", NULL, run_help };

const struct command *command_nth(unsigned int n)
{
	const struct command *c;

	if (!n--)
		return &help;
	for (c = shell_commands; c->name; c++)
		if (!n--)
			return c;
	for (c = shell_more_commands; c->name; c++)
		if (!n--)
			return c;
	return NULL;
}

const struct command *command_find(const char *name)
{
	const struct command *c;
	unsigned int n;

	for (n = 0; (c = command_nth(n)); n++)
		if (!strcmp(c->name, name))
			break;
	return c;
}

static int help_on(const char *name)
{
	const struct command *c = command_find(name);

	if (!c && shell_runs(name)) {
		print("%s: a program: its name runs it "
		      "(Documentation/tutorial/quest-programs.md)\n",
		      name);
		return 0;
	}
	if (!c) {
		print("%s: no such command; help lists them\n", name);
		return SHELL_FAILED;
	}
	print("%s %s\n    %s\n", c->name, c->usage, c->brief);
	if (c->text)
		print("%s", c->text);
	return 0;
}

static int run_help(int argc, char **argv)
{
	const struct command *c;
	unsigned int n;

	if (argc > 1)
		return help_on(argv[1]);
	for (n = 0; (c = command_nth(n)); n++)
		print("%-8s %s\n", c->name, c->brief);
	print("help NAME tells more; a program runs by its name (ls); Tab completes, ^C ends\n");
	return 0;
}
