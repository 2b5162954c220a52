// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu/vcpu.h"
#include "lineedit.h"
#include "shell.h"
#include "words.h"

#define SPIN_MAX_MS	600000
#define COUNT_US	10000
#define LOOK_US		50000		/* us between two checks for ^C */

static volatile uint64_t counter;
static volatile bool counting, stop_counting;

/* Prints the words in one piece, since a program's output may come between two pieces. */
int command_echo(int argc, char **argv)
{
	char text[LINE_LENGTH] = "";
	size_t n = 0;
	int i;

	for (i = 1; i < argc; i++) {
		if (i > 1 && n + 1 < sizeof(text))
			text[n++] = ' ';
		n += copy_string(text + n, argv[i], sizeof(text) - n);
	}
	print("%s\n", text);
	return 0;
}

int command_clear(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print("\033[2J\033[H");
	return 0;
}

int command_exit(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (cell_present())
		cell_leave();
	else
		print("exit: there is no quesh to leave: Quest runs without Linux\n");
	return cell_present() ? 0 : SHELL_FAILED;
}

int command_spin(int argc, char **argv)
{
	uint64_t ms, begin = rdtsc(), length;

	if (argc != 2 || !words_number(argv[1], SPIN_MAX_MS, &ms))
		return SHELL_SHOW_USAGE;
	length = timer_from_us(ms * 1000);
	while (rdtsc() - begin < length) {
		if (input_drop_break())
			return SHELL_BROKEN;
		cpu_relax();
	}
	return 0;
}

int command_sleep(int argc, char **argv)
{
	uint64_t ms, end, next = rdtsc();

	if (argc != 2 || !words_number(argv[1], SPIN_MAX_MS, &ms))
		return SHELL_SHOW_USAGE;
	end = next + timer_from_us(ms * 1000);
	while (next < end) {
		if (input_drop_break())
			return SHELL_BROKEN;
		next = end - next < timer_from_us(LOOK_US) ? end : next + timer_from_us(LOOK_US);
		thread_sleep_until(next);
	}
	return 0;
}

static void count_thread(void *arg)
{
	(void)arg;
	while (!stop_counting) {
		counter++;
		thread_sleep_us(COUNT_US);
	}
	counting = false;
}

static int count_start(void)
{
	if (counting) {
		print("already counting\n");
		return SHELL_FAILED;
	}
	stop_counting = false;
	counting = true;
	counter = 0;
	if (thread_create("count", BEST_EFFORT_VCPU, count_thread, NULL) >= 0)
		return 0;
	counting = false;
	print("no memory for a thread\n");
	return SHELL_FAILED;
}

int command_count(int argc, char **argv)
{
	if (argc == 1)
		return count_start();
	if (!strcmp(argv[1], "show"))
		print("count=%lu\n", counter);
	else if (!strcmp(argv[1], "stop"))
		stop_counting = true;
	else
		return SHELL_SHOW_USAGE;
	return 0;
}
