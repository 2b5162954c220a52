/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_STDLIB_H
#define QUEST_STDLIB_H

#include <quest.h>

/* The decimal number at the start of `text`, with its sign; 0: none. */
long atol(const char *text);
int atoi(const char *text);

/* The number at the start of `text` in `base` (0: by its prefix, 0x or 0), behind blanks; `*end` (NULL: no matter) is what follows. */
long strtol(const char *text, char **end, int base);

#endif
