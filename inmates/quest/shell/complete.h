/* SPDX-License-Identifier: GPL-2.0-only */
/* What Tab finds. Pure: the names come from a function. */
#ifndef QUEST_COMPLETE_H
#define QUEST_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

/* The i-th name there is; NULL: no more. */
typedef const char *complete_name(unsigned int i);

struct completion {
	unsigned int matches;		/* names that begin with what was typed */
	size_t common;			/* so many letters they have in common */
	const char *first;		/* one of them; NULL: none */
};

/* Does `name` begin with what was typed? */
bool complete_fits(const char *name, const char *typed, size_t length);

struct completion complete(complete_name *name, const char *typed, size_t length);

#endif
