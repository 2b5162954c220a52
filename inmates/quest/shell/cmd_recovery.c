// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "../recovery/recovery.h"
#include "shell.h"

static int start(const char *file)
{
	const char *wrong = recovery_start(file);

	if (wrong)
		print("%s: %s\n", file, wrong);
	return wrong ? SHELL_FAILED : 0;
}

static int restart(const char *name)
{
	if (recovery_ask(name))
		return 0;
	print("%s: there is no such component\n", name);
	return SHELL_FAILED;
}

int command_recovery(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "start"))
		return start(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "restart"))
		return restart(argv[2]);
	if (argc != 1)
		return SHELL_SHOW_USAGE;
	recovery_print();
	return 0;
}
