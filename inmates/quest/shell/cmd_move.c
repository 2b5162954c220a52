// SPDX-License-Identifier: GPL-2.0-only
/* Takes programs off the CPU as plain data, and puts them back, here or in another cell. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/process/move.h"
#include "../kernel/process/process.h"
#include "../migration/migration.h"
#include "../user/include/quest/errors.h"
#include "shell.h"
#include "words.h"

#define MIGRATION_US	60000000	/* the longest time until a program is on its way */
#define LOOK_US		10000

int shell_print_move(const char *pid, int error)
{
	if (error == -EBUSY)
		print("%s: it has children, pipes, sockets, shared memory or channels, or a VCPU "
		      "that is not its own, which would stay behind: let it end them first\n",
		      pid);
	else if (error)
		print("%s: %s\n", pid, strerror(error));
	return error ? SHELL_FAILED : 0;
}

/* Returns the line's status. */
static int move(int argc, char **argv, int (*how)(int pid))
{
	uint64_t pid;
	bool irqs;
	int error;

	if (argc != 2 || !words_number(argv[1], INT32_MAX, &pid))
		return SHELL_SHOW_USAGE;
	irqs = irq_save();
	error = how((int)pid);
	irq_restore(irqs);
	return shell_print_move(argv[1], error);
}

/* A program that is taken off the CPU has no wish to move any longer. */
static int detach(int pid)
{
	int error = move_detach(pid, false);

	if (!error)
		process_find(pid)->wish.link = 0;
	return error;
}

int command_detach(int argc, char **argv)
{
	return move(argc, argv, detach);
}

int command_attach(int argc, char **argv)
{
	return move(argc, argv, move_attach);
}

static int print_links(void)
{
	const char *cell;
	int n, link;

	for (n = 0; (link = migration_nth(n)) >= 0; n++) {
		cell = migration_cell(link);
		print("%d: to %s\n", n, cell);
	}
	if (!n)
		print("no program can move from here: `migrate` in the cell's file lists no "
		      "mailbox to another cell\n");
	return 0;
}

/*
 * Waits until the wish of process `pid` has been carried out, or failed. Returns 0 or the error, or
 * SHELL_BROKEN after ^C.
 */
static int wait_for_move(int pid)
{
	struct process *p;

	while ((p = process_find(pid)) && p->state != PROCESS_ZOMBIE && migration_pending(p)) {
		if (input_drop_break())
			return SHELL_BROKEN;
		thread_sleep_us(LOOK_US);
	}
	return p && p->state != PROCESS_ZOMBIE ? p->wish.error : 0;
}

int shell_move(int pid, int link, bool strict)
{
	bool irqs = irq_save();
	struct process *p = process_find(pid);
	int error = -ESRCH;

	if (p && p->state == PROCESS_LIVE)
		error = migration_wish(p, link, rdtsc() + timer_from_us(MIGRATION_US), strict);
	if (!error)
		error = wait_for_move(pid);
	irq_restore(irqs);
	return error;
}

int command_migrate(int argc, char **argv)
{
	bool strict = argc == 4 && !strcmp(argv[3], "strict");
	uint64_t pid;
	int error, link;

	if (argc == 1)
		return print_links();
	if (argc != 3 + strict || !words_number(argv[1], INT32_MAX, &pid))
		return SHELL_SHOW_USAGE;
	link = migration_find(argv[2]);
	if (link < 0) {
		print("%s: no program can move there; migrate lists the cells\n", argv[2]);
		return SHELL_FAILED;
	}
	error = shell_move((int)pid, link, strict);
	return error == SHELL_BROKEN ? error : shell_print_move(argv[1], error);
}
