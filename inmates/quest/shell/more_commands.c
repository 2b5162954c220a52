// SPDX-License-Identifier: GPL-2.0-only
/* Linked into the shipped image: inmates/tests/image has others. */
#include <stddef.h>
#include "shell.h"

const struct command shell_more_commands[] = { { 0 } };
