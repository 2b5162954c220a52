/* SPDX-License-Identifier: GPL-2.0-only */
/* From a file of the archive to an address space that is ready to run. */
#ifndef QUEST_PROGRAM_H
#define QUEST_PROGRAM_H

#include <stdbool.h>
#include <inmate/boot.h>
#include <inmate/trap.h>
#include "../mm/space.h"
#include "archive.h"

#define ARGS_MAX	16		/* with the program's name */
#define ARGS_BYTES	1024		/* of all with their NULs */

/* Which file, and what main() gets: `count` strings one behind the other. */
struct program_args {
	char file[ARCHIVE_NAME];
	unsigned int count;
	size_t bytes;
	char text[ARGS_BYTES];
};

/* All files that programs can open or run. */
extern struct archive archive;

/* Check the archive of the image, and those among the boot loader's modules. What is wrong is printed. */
void program_init(const struct boot_info *boot);

/* False: too many or too long. */
bool program_add_arg(struct program_args *args, const char *word);

/*
 * A new space with the program args->file, its stack 0 and its arguments;
 * `frame` is what its first thread starts with. 0, or minus an error (errors.h); `*why` then says more.
 */
int program_load(struct space *s, const struct program_args *args, struct trap_frame *frame, const char **why);

/* What a thread that starts at `rip` on the stack that ends at `rsp` has in its registers. */
void program_start_frame(struct trap_frame *frame, uint64_t rip, uint64_t rsp);

#endif
