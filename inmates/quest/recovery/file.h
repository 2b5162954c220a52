/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a recovery file into rules[]. */
#ifndef QUEST_RECOVERY_FILE_H
#define QUEST_RECOVERY_FILE_H

#include <stdbool.h>
#include "../kernel/archive.h"

/* Prints each wrong line. Returns whether there was none; else there are no rules. */
bool file_read(const struct archive_file *f);

#endif
