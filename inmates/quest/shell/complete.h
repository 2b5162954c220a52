/* SPDX-License-Identifier: GPL-2.0-only */
/* Completes a word for the Tab key. Pure: a function of the caller gives the names. */
#ifndef QUEST_COMPLETE_H
#define QUEST_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the i-th name; NULL if there are fewer names. */
typedef const char *complete_name(unsigned int i);

struct completion {
	unsigned int matches;		/* number of names that begin with the typed letters */
	/* number of first letters that these names have in common */
	size_t common;
	const char *first;		/* one of these names; NULL: no name matches */
};

/* Returns whether `name` begins with the typed letters. */
bool complete_fits(const char *name, const char *typed, size_t length);

struct completion complete(complete_name *name, const char *typed, size_t length);

#endif
