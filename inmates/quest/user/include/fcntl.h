/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_FCNTL_H
#define QUEST_FCNTL_H

#include <quest/posix_types.h>

/*
 * Opens a file of the archive for reading. ENOENT, EROFS (`flags` are not O_RDONLY), EMFILE,
 * ENAMETOOLONG, EFAULT
 */
int open(const char *file, int flags, ...);

#endif
