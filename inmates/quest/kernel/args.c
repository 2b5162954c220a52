// SPDX-License-Identifier: GPL-2.0-only
/* The arguments of programs: the part of program.h that touches no hardware. */
#include <inmate/string.h>
#include "program.h"

bool program_add_arg(struct program_args *args, const char *word)
{
	size_t n = strlen(word) + 1;

	if (args->count == ARGS_MAX || n > ARGS_BYTES - args->bytes)
		return false;
	memcpy(args->text + args->bytes, word, n);
	args->bytes += n;
	args->count++;
	return true;
}
