// SPDX-License-Identifier: GPL-2.0-only
/* quesh: a virtual terminal to a cell (see Documentation/reference/quesh.md) */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cells.h"
#include "line.h"
#include "past.h"
#include "privs.h"
#include "quesh.h"
#include "commit.h"	/* QV_COMMIT, which make writes */

#define WAIT_PERIOD_NS	50000000

static const char usage_text[] =
	"usage: quesh NAME                      a terminal; ^] detaches, ^^ scrolls back\n"
	"       quesh NAME -c LINE [-c LINE]... runs lines in its shell, prints the output\n"
	"       quesh NAME --dump               prints its screen as text\n"
	"       quesh -l                        lists the cells that have a console\n"
	"       quesh --tmux                    a window of tmux for each of them\n"
	"  -t SECONDS  time-out of each line, and of --wait (default 10)\n"
	"  --wait      first waits for the cell to be there and to run\n"
	"  --force     takes the keyboard from the quesh that holds it\n"
	"  --stay      stays when the cell stops, and continues when it runs again\n"
	"  --log FILE  appends what the cell prints to a file\n"
	"  --no-history  reads and keeps no output of earlier sessions for ^^\n";

/* Handles a cell that was not running when quesh started. */
static int say_not_running(const struct options *options, const struct console *console,
			   enum cell_life life)
{
	if (life == CELL_GONE || console_has_halted(console))
		return say_end(options, console, life);
	fprintf(stderr,
		"quesh: the cell %s does not run: it has failed, was stopped, "
		"or was not started yet\n"
		"  remedy: `qvctl cell show %s` says which; qvctl cell start %s\n",
		options->name, options->name, options->name);
	return EXIT_FAILURE;
}

static int say_usage(const char *what)
{
	fprintf(stderr, "quesh: %s\n%s", what, usage_text);
	return EXIT_USAGE;
}

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds > 0 && *seconds <= 86400;
}

enum {
	OPT_WAIT = 256, OPT_DUMP, OPT_FOLDER, OPT_VERSION, OPT_STAY, OPT_LOG, OPT_TMUX, OPT_FORCE,
	OPT_NO_HISTORY
};

static const struct option long_options[] = {
	{ "command", required_argument, NULL, 'c' },
	{ "timeout", required_argument, NULL, 't' },
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "dump", no_argument, NULL, OPT_DUMP },
	{ "stay", no_argument, NULL, OPT_STAY },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "no-history", no_argument, NULL, OPT_NO_HISTORY },
	{ "list", no_argument, NULL, 'l' },
	{ "tmux", no_argument, NULL, OPT_TMUX },
	{ "folder", required_argument, NULL, OPT_FOLDER },	/* for tests */
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

static bool takes_value(int option)
{
	const struct option *o;

	for (o = long_options; o->name; o++)
		if (o->val == option)
			return o->has_arg == required_argument;
	return false;
}

static int say(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout);
}

/* Checks the options together. Returns -1 to continue, else the exit status. */
static int check(const struct options *options)
{
	bool session = !options->dump && !options->num_commands;

	if (!console_name_is_valid(options->name))
		return say_usage("a cell's name is made of a-z, 0-9, - and _");
	if (options->dump && options->num_commands)
		return say_usage("--dump and -c exclude one another");
	if (options->dump && options->force)
		return say_usage("--dump needs no keyboard: leave out --force");
	if (!session && (options->stay || options->log))
		return say_usage("--stay and --log are for a terminal: leave out -c and --dump");
	if (session && !(isatty(0) && isatty(1)))
		return say_usage("there is no terminal here: use -c or --dump");
	return -1;
}

/* Returns -1 to continue, else the exit status. */
static int parse(struct options *options, int argc, char **argv)
{
	int (*all)(const char *folder) = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "c:t:lh", long_options, NULL)) >= 0) {
		if (option == 'c' && !command_is_valid(optarg))
			return say_usage("-c takes one line of printable ASCII characters");
		if (option == 't' && !parse_seconds(optarg, &options->timeout))
			return say_usage("-t takes a number of seconds above 0");
		if (option == 'c')
			options->commands[options->num_commands++] = optarg;
		else if (option == 't')
			options->timeout_given = true;
		else if (option == OPT_WAIT)
			options->wait = true;
		else if (option == OPT_DUMP)
			options->dump = true;
		else if (option == OPT_STAY)
			options->stay = true;
		else if (option == OPT_FORCE)
			options->force = true;
		else if (option == OPT_LOG)
			options->log = optarg;
		else if (option == OPT_NO_HISTORY)
			options->no_history = true;
		else if (option == 'l')
			all = cells_list;
		else if (option == OPT_TMUX)
			all = cells_tmux;
		else if (option == OPT_FOLDER)
			options->folder = optarg;
		else if (option == 'h')
			return say(usage_text);
		else if (option == OPT_VERSION)
			return say("quesh " QV_VERSION QV_COMMIT "\n");
		else
			return say_usage(takes_value(optopt) ? "an option needs a value" :
							       "unknown option");
	}
	if (all)
		return argc == optind ? all(options->folder) :
					say_usage("-l and --tmux take no cell's name");
	if (argc - optind != 1)
		return say_usage(argc == optind ? "which cell?" :
				 options->num_commands ? "-c takes one word: quote the line" :
							 "one cell at a time");
	options->name = argv[optind];
	return check(options);
}

/* Opens the log while quesh still has the user's rights. Returns 0 or the exit status. */
static int open_log(struct options *options)
{
	if (!options->log)
		return 0;
	options->log_fd = open(options->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
			       0600);
	if (options->log_fd >= 0)
		return 0;
	fprintf(stderr, "quesh: the log %s cannot be opened (%s)\n"
		"  remedy: name a file that you may write\n", options->log, strerror(errno));
	return EXIT_FAILURE;
}

static void say_no_cell(const char *name)
{
	char past[PATH_MAX];

	fprintf(stderr, "quesh: there is no cell %s with a console\n"
		"  remedy: `qvctl cell list` shows the cells; "
		"a cell's YAML may say `console: true`\n", name);
	if (past_path(past, sizeof(past), name) && !access(past, R_OK))
		fprintf(stderr, "  what a cell %s printed earlier: less %s\n", name, past);
}

static int say_open_error(const struct options *options, int error)
{
	const char *name = options->name;

	if (error == ENOENT || error == ENXIO || error == ENODEV)
		say_no_cell(name);
	else if (error == EACCES || error == EPERM)
		fprintf(stderr, "quesh: you may not open the console of %s\n"
			"  remedy: run it with sudo, or join the group qv-console\n", name);
	else if (error == EBUSY)
		fprintf(stderr, "quesh: another quesh holds the keyboard of %s\n"
			"  remedy: detach it with ^], or take the keyboard by --force\n", name);
	else
		fprintf(stderr, "quesh: the console of %s cannot be opened (%s)\n"
			"  remedy: see dmesg and `qvctl log`\n", name, strerror(error));
	return error == EBUSY ? EXIT_TIMED_OUT : EXIT_FAILURE;
}

static int open_console(const struct options *options, struct console *console)
{
	enum keyboard wanted = options->force ? KEYBOARD_TAKE : KEYBOARD_FREE;
	int error;

	if (options->dump)
		return console_open(console, options->folder, options->name, KEYBOARD_NOT);
	error = console_open(console, options->folder, options->name, wanted);
	if (error == EBUSY && !options->num_commands)
		error = console_open(console, options->folder, options->name, KEYBOARD_NOT);
	return error;
}

/* Decides whether to wait: for the keyboard with -c, for the cell with --wait. */
static bool wait_for(const struct options *options, int error, enum cell_life life)
{
	if (error == EBUSY)
		return options->num_commands > 0;
	if (!options->wait)
		return false;
	return error ? error == ENOENT : life == CELL_STOPPED && !options->dump;
}

/* Opens the console of a running cell. Returns 0 or the exit status. */
static int attach(const struct options *options, struct console *console)
{
	const struct timespec period = { .tv_nsec = WAIT_PERIOD_NS };
	bool forever = options->wait && !options->num_commands && !options->timeout_given;
	int64_t deadline = now_ms() + (int64_t)(options->timeout * 1000);

	for (;;) {
		enum cell_life life = CELL_RUNNING;
		int error = open_console(options, console);

		if (!error)
			life = console_life(console);
		if (!error && (life == CELL_RUNNING || options->dump))
			return 0;
		if (!error && options->stay && life == CELL_STOPPED)
			return 0;
		if (!wait_for(options, error, life) || (!forever && now_ms() >= deadline)) {
			if (error)
				return say_open_error(options, error);
			return say_not_running(options, console, life);
		}
		if (!error)
			console_close(console);
		nanosleep(&period, NULL);
	}
}

static int dump(const struct options *options, const struct console *console)
{
	struct buf text = { 0 };
	struct frame frame;

	console_frame(console, &frame);
	frame_to_text(&frame, options->utf8, &text);
	print_out(&text);
	buf_free(&text);
	return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options options = { .folder = CONSOLE_FOLDER, .timeout = 10, .log_fd = -1 };
	struct console console;
	int status;

	setlocale(LC_CTYPE, "");
	options.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	options.commands = calloc((size_t)argc, sizeof(*options.commands));
	if (!options.commands)
		return EXIT_FAILURE;
	status = parse(&options, argc, argv);
	if (status >= 0)
		return status;
	status = attach(&options, &console);
	if (!status)
		status = open_log(&options);
	if (status)
		return status;
	/* then root's folder can be neither read nor written */
	options.no_history |= !geteuid();
	if (privs_drop()) {
		fprintf(stderr,
			"quesh: the privileges could not be dropped (%s)\n"
			"  remedy: run it as root in full, or as a user who may open the console\n",
			strerror(errno));
		return EXIT_FAILURE;
	}
	if (options.dump)
		return dump(&options, &console);
	if (options.num_commands)
		return commands_run(&options, &console);
	return session_run(&options, &console);
}
