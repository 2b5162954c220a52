/* SPDX-License-Identifier: GPL-2.0-only */
/* Splits a typed line into words, and reads numbers. Pure. */
#ifndef QUEST_WORDS_H
#define QUEST_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define WORDS_MAX	16

/* Cuts `line` at blanks, in place. Returns the number of words; WORDS_MAX + 1 if there are more. */
int words_split(char *line, char *words[WORDS_MAX]);

/* Returns whether a text has no characters other than ASCII. */
bool words_ascii(const char *text);

/* Reads a decimal number of at most `max`. Returns false if the word is not one. */
bool words_number(const char *word, uint64_t max, uint64_t *value);

/* As words_number(), and also reads a hexadecimal number after 0x. */
bool words_value(const char *word, uint64_t max, uint64_t *value);

#define WORDS_CHOICES	64	/* bytes for the names of a choice, in one text */

/*
 * Returns the number of `word` among name(0), name(1) and so on until NULL. -1: it is none of them;
 * then `names` lists them, as in "first, near or balance".
 */
int words_choice(const char *word, const char *(*name)(unsigned int n), char names[WORDS_CHOICES]);

#endif
