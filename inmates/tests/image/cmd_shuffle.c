// SPDX-License-Identifier: GPL-2.0-only
/* A command that takes a program off the CPU and puts it back, again and again. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "../../quest/kernel/process/move.h"
#include "../../quest/kernel/process/process.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"
#include "../../quest/user/include/quest/errors.h"

int command_shuffle(int argc, char **argv);

int command_shuffle(int argc, char **argv)
{
	uint64_t pid, times, n;
	bool irqs = irq_save();
	int error = 0;

	if (argc != 3 || !words_number(argv[1], INT32_MAX, &pid) ||
	    !words_number(argv[2], INT32_MAX, &times)) {
		irq_restore(irqs);
		return SHELL_SHOW_USAGE;
	}
	for (n = 0; n < times && !error; n++) {
		error = move_detach((int)pid, false);
		if (!error)
			error = move_attach((int)pid);
	}
	irq_restore(irqs);
	print("%lu times: %s\n", n, error ? strerror(error) : "done");
	return error ? SHELL_FAILED : 0;
}
