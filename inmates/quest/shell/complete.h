/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion for Tab. Pure: the names come from a function. */
#ifndef QUEST_COMPLETE_H
#define QUEST_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the i-th name; NULL if there are fewer. */
typedef const char *complete_name(unsigned int i);

struct completion {
	unsigned int matches;		/* names that begin with the typed letters */
	size_t common;			/* letters that they have in common */
	const char *first;		/* one of them; NULL: none */
};

/* Returns whether `name` begins with the typed letters. */
bool complete_fits(const char *name, const char *typed, size_t length);

struct completion complete(complete_name *name, const char *typed, size_t length);

#endif
