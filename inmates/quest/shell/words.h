/* SPDX-License-Identifier: GPL-2.0-only */
/* Splitting and reading what was typed. Pure. */
#ifndef QUEST_WORDS_H
#define QUEST_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define WORDS_MAX	16

/* Cut `line` at blanks, in place. Returns the number of words; WORDS_MAX + 1: there are more. */
int words_split(char *line, char *words[WORDS_MAX]);

/* A whole decimal number of at most `max`. */
bool words_number(const char *word, uint64_t max, uint64_t *value);

/* The same, or hexadecimal behind 0x. */
bool words_value(const char *word, uint64_t max, uint64_t *value);

#endif
