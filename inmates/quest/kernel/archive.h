/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A read-only archive of files: cpio's "new" format with checksums (magic
 * 070702, `cpio -H crc`). Pure. It lies in the kernel's image (user/pack.py
 * makes it), and a second one may come as a module of the boot loader. All of
 * it is checked once, at boot; a file's number never changes.
 */
#ifndef QUEST_ARCHIVE_H
#define QUEST_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCHIVE_FILES	64		/* in all archives together */
#define ARCHIVE_NAME	32		/* with its NUL */

struct archive_file {
	char name[ARCHIVE_NAME];	/* without folders */
	const uint8_t *data;
	size_t size;
	bool program;			/* an executable bit is set */
};

struct archive {
	unsigned int num_files;
	struct archive_file files[ARCHIVE_FILES];
};

/*
 * Add the regular files of the archive of `size` bytes at `data`, which must stay. A name that is
 * there already is the newer file's from now on. NULL: done; else what is wrong, and nothing was added.
 */
const char *archive_add(struct archive *a, const void *data, size_t size);

/* The number of a file by its name; -1: there is none. */
int archive_find(const struct archive *a, const char *name);

#endif
