// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include "../drivers/lock.h"
#include "../kernel/machine.h"
#include "shell.h"

static bool may_lock(void)
{
	bool may = !machine.alone && cell_info()->may_lock;

	if (!may)
		print(machine.alone ? "there is no monitor here\n" :
		      "this cell may not lock management: its description says no `lock:`\n");
	return may;
}

int command_lock(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (!may_lock())
		return SHELL_FAILED;
	lock_management();
	print("management is locked\n");
	return 0;
}

int command_unlock(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (!may_lock())
		return SHELL_FAILED;
	unlock_management();
	print("management is unlocked\n");
	return 0;
}

int command_agree(int argc, char **argv)
{
	bool no = argc == 2 && !strcmp(argv[1], "no");

	if (argc > 2 || (argc == 2 && !no))
		return SHELL_SHOW_USAGE;
	if (!may_lock())
		return SHELL_FAILED;
	lock_agree(!no);
	print(no ? "a request to unlock is ignored\n" :
	      "the next request to unlock is agreed to\n");
	return 0;
}
