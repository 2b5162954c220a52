/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_STDLIB_H
#define QUEST_STDLIB_H

#include <quest.h>

/* The decimal number at the start of `text`, with its sign; 0: none. */
long atol(const char *text);

#endif
