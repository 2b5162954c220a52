/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The boot loader's information, copied out of its memory and checked. */
#ifndef INMATE_BOOT_H
#define INMATE_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MB1_BOOT_MAGIC	0x2BADB002	/* EAX at entry, Multiboot 0.6.96 section 3.2 */
#define MB2_BOOT_MAGIC	0x36D76289	/* EAX at entry, Multiboot2 section 3.3 */

#define BOOT_MAX_RANGES		16
#define BOOT_MAX_MODULES	8
/* largest length of a command line with its NUL, equal to QV_CMDLINE_LEN; longer lines are cut */
#define BOOT_CMDLINE		1024
/* the same of a module's text, equal to QV_MODULE_ARGS_LEN */
#define BOOT_MODULE_ARGS	128

/* A range of physical addresses. The end is exclusive. */
struct boot_range {
	uint64_t start, end;
};

/*
 * A file that the loader has put into memory, and its text. If the loader gave a range outside the
 * usable memory, `start` and `end` are 0.
 */
struct boot_module {
	uint64_t start, end;
	char args[BOOT_MODULE_ARGS];
};

struct boot_info {
	const char *protocol;
	unsigned int num_ram;		/* usable memory, in the loader's order */
	struct boot_range ram[BOOT_MAX_RANGES];
	unsigned int num_modules;
	struct boot_module modules[BOOT_MAX_MODULES];
	unsigned int more_modules;	/* number of modules that have no room in `modules` */
	char cmdline[BOOT_CMDLINE];
};

/*
 * Parses Multiboot2 information (section 3.6) of at most `room` readable bytes at `info`. Returns
 * false if a tag does not fit or if there is no memory information. Then `out` contains the tags
 * parsed so far.
 */
bool boot_parse_mb2(struct boot_info *out, const void *info, size_t room);

/*
 * Parses a Multiboot memory map (section 3.3, mmap_addr and mmap_length).
 * Returns false if an entry does not fit.
 */
bool boot_parse_mb1_map(struct boot_info *out, const void *map, size_t length);

/*
 * Fills `out` from the registers that the loader gave to start.S. Reads the
 * Multiboot information in place (identity mapping). Returns false if it is
 * absent or bad.
 */
bool boot_parse(struct boot_info *out, uint32_t magic, uint32_t address);

/*
 * Returns the first blank-separated word at or after `at`, which points into a string. `*length` is
 * 0 at the string's end.
 */
const char *boot_word(const char *at, size_t *length);

/* Returns true if `word` is one of the blank-separated words of the command line. */
bool boot_option(const struct boot_info *info, const char *word);

#endif
