/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that check a promise: prints a line for each failed check, and at the end the counts
 * of passed and failed.
 */
#ifndef QUEST_CHECK_H
#define QUEST_CHECK_H

#include <quest.h>
#include <stdio.h>

static int right, wrong;

/* Checks that a POSIX call returned -1 with that errno. */
#define FAILS(call, number) (errno = 0, (long)(call) == -1 && errno == (number))

#define CHECK(what) check(what, #what, __FILE_NAME__, __LINE__)

static inline void check(int what, const char *text, const char *file, int line)
{
	right += what != 0;
	wrong += !what;
	if (!what)
		printf("%s:%d: not so: %s\n", file, line, text);
}

/* Returns waitpid()'s status of child `pid`; -1: there is no such child. */
static inline int status_of(int pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Prints the counts. Returns the exit status for main(). */
static inline int checked(const char *name)
{
	printf("%s: %d right, %d wrong\n", name, right, wrong);
	return wrong != 0;
}

#endif
