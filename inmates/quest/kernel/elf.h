/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds out which parts of an ELF64 program are to be mapped at which addresses. Pure: checks the
 * whole file, and changes nothing.
 */
#ifndef QUEST_ELF_H
#define QUEST_ELF_H

#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS	8

struct elf_segment {
	/* addresses of the segment in the program, in whole pages */
	uint64_t start, end;
	uint64_t va, offset, size;	/* file bytes [offset, offset + size) go to va */
	uint64_t rights;		/* USER_READ, USER_DATA or USER_CODE */
};

struct elf_plan {
	uint64_t entry;
	uint64_t end;			/* end of the last segment, where the heap begins */
	unsigned int num_segments;
	struct elf_segment segments[ELF_SEGMENTS];
};

/*
 * Fills in `plan`, which says how to load the file, and returns NULL. If the file is no valid
 * program, returns the reason.
 */
const char *elf_plan(struct elf_plan *plan, const void *file, size_t size);

#endif
