// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shipped image has no additional commands. The image for tests links
 * inmates/tests/image/more_commands.c in place of this file.
 */
#include <stddef.h>
#include "shell.h"

const struct command shell_more_commands[] = { { 0 } };
