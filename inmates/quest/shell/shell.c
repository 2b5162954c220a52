// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/vcpu/namedvcpu.h"
#include "../kernel/machine.h"
#include "../kernel/module.h"
#include "../kernel/process/process.h"
#include "../kernel/program.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu/vcpu.h"
#include "lineedit.h"
#include "shell.h"
#include "words.h"

/* us: after a pause of this length, other output counts as ended */
#define QUIET_US	50000
/* the longest time for which a typed key waits until another program's line of output ends */
#define HELD_US		200000
#define LOOK_US		1000

static struct lineedit line;
static bool shown;			/* the whole line being typed is on the screen */
static bool writing;			/* console_write() is called by the shell itself */
static volatile bool unreported;	/* a background program has ended since the last report */

/* Returns the line's status. */
static int run_command(const struct command *c, int argc, char **argv)
{
	int status = c->run(argc, argv);

	if (status != SHELL_SHOW_USAGE)
		return status;
	print("usage: %s %s\n", c->name, c->usage);
	return SHELL_USAGE;
}

/* Returns a word that means something to other shells and nothing here, or NULL. */
static const char *not_ours(int n, char **words, bool command)
{
	int i;

	for (i = 0; i < n; i++) {
		const char *word = words[i];

		if (word[0] == '>' || word[0] == '<' || !strcmp(word, "&&") ||
		    !strcmp(word, "||") || !strcmp(word, ";") ||
		    (word[0] == '2' && word[1] == '>') || (command && !strcmp(word, "|")))
			return word;
	}
	return NULL;
}

/* Returns the line's status. */
static int run_line(char *text)
{
	char *words[WORDS_MAX];
	int n = words_split(text, words);
	const struct command *c;
	const char *wrong;

	if (!n)
		return 0;
	if (n > WORDS_MAX) {
		print("%s: too many words: %d at most\n", words[0], WORDS_MAX);
		return SHELL_USAGE;
	}
	c = command_find(words[0]);
	wrong = not_ours(n, words, c != NULL);
	if (wrong) {
		if (*wrong == '|' && !wrong[1])
			print("%s is a command of the shell; | is between programs\n", words[0]);
		else
			print("%s: this shell has no such operator; it has | and &\n", wrong);
		return SHELL_USAGE;
	}
	if (c)
		return run_command(c, n, words);
	if (shell_runs(words[0]))
		return shell_run(n, words);
	print("%s: no such command; help lists them\n", words[0]);
	return SHELL_NOT_FOUND;
}

/* Without the letters that were left out, the line may mean something else. */
static int refuse_foreign(void)
{
	print("not run, since it has letters that are not ASCII; Up shows it without them\n");
	return SHELL_USAGE;
}

static void carry_out(char *text)
{
	int status = line.foreign ? refuse_foreign() : run_line(text);

	if (cell_present())
		cell_line_status((uint8_t)status);
}

/*
 * Lists the names that Tab completes: the commands, then the files of the archive, then vcpu=NAME.
 */
static const char *name_at(unsigned int i)
{
	unsigned int n;

	for (n = 0; command_nth(n); n++)
		;
	if (i < n)
		return command_nth(i)->name;
	i -= n;
	return i < archive.num_files ? archive.files[i].name :
	       namedvcpu_word(i - archive.num_files);
}

/*
 * Prints text of the line editor. Drops the text if other output has hidden the line, since the
 * whole line will be shown again.
 */
static void echo(const char *text, size_t n)
{
	bool irqs = irq_save();

	if (shown) {
		writing = true;
		console_write(text, n);
		writing = false;
	}
	irq_restore(irqs);
}

/*
 * The console calls this before other output. Hides the line, and wakes the shell to show it again
 * after that output.
 */
static void make_room(void)
{
	if (!shown || writing)
		return;
	lineedit_hide(&line);
	shown = false;
	input_poke();
}

/* A program in the background has ended: the shell says so when it shows the line again. */
static void background_ended(void)
{
	unreported = true;
	make_room();
}

/* Waits until the last line of other output has ended, for HELD_US at most. */
static void wait_for_line_end(void)
{
	uint64_t end = rdtsc() + timer_from_us(HELD_US);

	while (!console_at_line_start() && rdtsc() < end)
		thread_sleep_us(LOOK_US);
}

static void fresh_row(void)
{
	if (!console_at_line_start())
		print("\n");
}

/*
 * Shows the prompt and the line after other output. New output may hide the line again at any time.
 */
static void show(void)
{
	bool irqs;

	fresh_row();
	for (;;) {
		unreported = false;
		shell_report_background();
		irqs = irq_save();	/* no output comes between the checks and the prompt */
		if (!unreported)
			break;
		irq_restore(irqs);
	}
	fresh_row();
	shown = true;
	lineedit_show(&line);
	irq_restore(irqs);
}

/* Signals in the stream that the shell awaits a line, if the line is empty. */
static void show_ready(void)
{
	bool irqs = irq_save();

	if (shown && !line.length)
		console_ready();
	irq_restore(irqs);
}

/* Returns the next key. While it waits, shows the line again when other output has paused. */
static uint8_t next_key(void)
{
	uint64_t before;
	bool irqs;
	int key;

	for (;;) {
		irqs = irq_save();	/* no output comes between the check and the wait */
		before = console_written();
		key = input_get_until(shown ? UINT64_MAX : rdtsc() + timer_from_us(QUIET_US));
		irq_restore(irqs);
		if (key >= 0)
			return (uint8_t)key;
		if (!shown && console_written() == before) {
			show();
			show_ready();
		}
	}
}

static void show_for_key(void)
{
	wait_for_line_end();
	show();				/* no show_ready(), since the user has begun a line */
}

/* Shows the whole line before its command begins. */
static void end_line(void)
{
	bool irqs = irq_save();

	while (!shown) {
		irq_restore(irqs);
		show_for_key();
		irqs = irq_save();
	}
	echo("\n", 1);
	shown = false;
	irq_restore(irqs);
}

static void read_line(void)
{
	uint8_t key;

	lineedit_begin(&line);
	show();
	show_ready();
	do {
		key = next_key();
		if (!shown)
			show_for_key();
	} while (!lineedit_key(&line, key));
	end_line();
}

/* Runs the program of a word start= of the command line in the background. */
static void start_program(const char *word, size_t length)
{
	char text[MODULE_LINE], *words[WORDS_MAX];
	int n;

	if (!module_line(text, &machine.boot, word, length)) {
		print("a word of the command line is malformed: "
		      "use start=PROGRAM or start=PROGRAM,VCPU\n");
		return;
	}
	if (!words_ascii(text)) {
		print("a word of the command line starts no program, since it is not ASCII\n");
		return;
	}
	n = words_split(text, words);
	if (n > WORDS_MAX)
		print("%s is not started: too many words: %d at most\n", words[0], WORDS_MAX);
	else if (!shell_runs(words[0]))
		print("%s is not started: no such program; ls lists them\n", words[0]);
	else
		(void)shell_run(n, words);
}

static void start_programs(void)
{
	const char *at = machine.boot.cmdline;
	size_t length, key = strlen(MODULE_START);

	for (at = boot_word(at, &length); length; at = boot_word(at + length, &length))
		if (length >= key && !memcmp(at, MODULE_START, key))
			start_program(at, length);
}

static void shell(void *arg)
{
	(void)arg;
	lineedit_init(&line, echo, name_at, "> ");
	if (cell_present())
		cell_line_max(LINE_LENGTH - 1);
	console_before_output(make_room);
	process_on_background_end(background_ended);
	start_programs();
	for (;;) {
		read_line();
		carry_out(line.text);
	}
}

bool shell_start(void)
{
	return thread_create("shell", SHELL_VCPU, shell, NULL) >= 0;
}
