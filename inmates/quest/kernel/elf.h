/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which parts of an ELF64 program are to be mapped where. Pure: checks the whole file, changes
 * nothing.
 */
#ifndef QUEST_ELF_H
#define QUEST_ELF_H

#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS	8

struct elf_segment {
	uint64_t start, end;		/* of the program's memory, in whole pages */
	uint64_t va, offset, size;	/* file bytes [offset, offset + size) go to va */
	uint64_t rights;		/* USER_READ, USER_DATA or USER_CODE */
};

struct elf_plan {
	uint64_t entry;
	uint64_t end;			/* of the last segment; the heap begins here */
	unsigned int num_segments;
	struct elf_segment segments[ELF_SEGMENTS];
};

/* Returns NULL, and in `plan` how to load the file; or the reason why it is no valid program. */
const char *elf_plan(struct elf_plan *plan, const void *file, size_t size);

#endif
