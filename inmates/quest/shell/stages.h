/* SPDX-License-Identifier: GPL-2.0-only */
/* A line that runs programs: [vcpu=V] NAME [ARG...] { | [vcpu=V] NAME [ARG...] }. Pure. */
#ifndef QUEST_STAGES_H
#define QUEST_STAGES_H

#include <stdbool.h>
#include "words.h"

#define STAGES_MAX	(WORDS_MAX / 2 + 1)	/* largest number of stages of a line */

struct stage {
	char *vcpu;			/* the word vcpu=V; NULL: none */
	int argc;			/* 0: the stage names no program */
	char **argv;
};

/* Returns whether `word` begins with "vcpu=". */
bool stages_vcpu(const char *word);

/* Cuts `argc` words (WORDS_MAX at most) at each "|". Returns the number of stages, 1 at least. */
int stages_split(int argc, char **argv, struct stage stages[STAGES_MAX]);

#endif
