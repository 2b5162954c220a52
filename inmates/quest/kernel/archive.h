/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A read-only archive of files, in cpio's "new" format, with checksums (magic 070702, `cpio -H
 * crc`) or without (070701, `cpio -H newc`). Pure. The first archive is in the kernel's image
 * (user/pack.py makes it); the boot loader may bring more as modules. All of it is checked once, at
 * boot. The number of a file never changes.
 */
#ifndef QUEST_ARCHIVE_H
#define QUEST_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCHIVE_FILES	64		/* largest number of files in all archives together */
#define ARCHIVE_NAME	32		/* largest length of a file's name with the NUL */

struct archive_file {
	char name[ARCHIVE_NAME];	/* without folders */
	const uint8_t *data;
	size_t size;
	bool program;			/* the file is a program: an executable bit is set */
};

struct archive {
	unsigned int num_files;
	struct archive_file files[ARCHIVE_FILES];
};

/*
 * Adds the regular files of the archive of `size` bytes at `data`, which must stay there. If a name
 * exists already, it now refers to the newer file. Returns NULL, or the reason why nothing was
 * added.
 */
const char *archive_add(struct archive *a, const void *data, size_t size);

/*
 * Adds one file, whose `size` bytes at `data` must stay there. `name` may contain folders, which
 * are left out. Returns NULL, or the reason why it was not added.
 */
const char *archive_add_file(struct archive *a, const char *name, const void *data, size_t size,
			     bool program);

/* Returns the number of the file called `name`, or -1. */
int archive_find(const struct archive *a, const char *name);

#endif
