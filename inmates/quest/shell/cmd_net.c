// SPDX-License-Identifier: GPL-2.0-only
#include "../net/net.h"
#include "shell.h"

int command_net(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return SHELL_SHOW_USAGE;
	net_print();
	return 0;
}
