/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads a file of the archive into an address space that is ready to run. */
#ifndef QUEST_PROGRAM_H
#define QUEST_PROGRAM_H

#include <stdbool.h>
#include <inmate/boot.h>
#include <inmate/trap.h>
#include "../mm/space.h"
#include "archive.h"

#define ARGS_MAX	16		/* largest number of arguments, with the program's name */
/* largest number of bytes of all arguments, with their NULs */
#define ARGS_BYTES	1024

/* The file, and the arguments of main(): `count` strings, each directly after the last one. */
struct program_args {
	char file[ARCHIVE_NAME];
	unsigned int count;
	size_t bytes;
	char text[ARGS_BYTES];
};

/* All archives: the files that programs can open or run. */
extern struct archive archive;

/*
 * Checks the archive in the image, and the boot loader's modules (module.h). Prints their errors.
 */
void program_init(const struct boot_info *boot);

/* Adds an argument. Returns false if there are too many arguments, or if they are too long. */
bool program_add_arg(struct program_args *args, const char *word);

/*
 * Creates an address space with the program args->file, its first stack and its arguments. `frame`
 * becomes the start of its first thread. Returns 0 or minus an error (errors.h); `*why` then says
 * more.
 */
int program_load(struct space *s, const struct program_args *args, struct trap_frame *frame,
		 const char **why);

/* Fills in the registers of a thread that starts at `rip`, on the stack that ends at `rsp`. */
void program_start_frame(struct trap_frame *frame, uint64_t rip, uint64_t rsp);

#endif
