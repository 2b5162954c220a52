// SPDX-License-Identifier: GPL-2.0-only
/* Takes programs off the CPU as plain data, and puts them back. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "../kernel/process/move.h"
#include "../user/include/quest/errors.h"
#include "shell.h"
#include "words.h"

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
	if (error == -EBUSY)
		print("%s: it has children, pipes, shared memory or channels, "
		      "which would stay behind: let it end them first\n",
		      argv[1]);
	else if (error)
		print("%s: %s\n", argv[1], strerror(error));
	return error ? SHELL_FAILED : 0;
}

int command_detach(int argc, char **argv)
{
	return move(argc, argv, move_detach);
}

int command_attach(int argc, char **argv)
{
	return move(argc, argv, move_attach);
}
