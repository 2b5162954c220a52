/* SPDX-License-Identifier: GPL-2.0-only */
/* For programs that check what others rely on: a line for each thing that is not so, and at the end how many were and were not. */
#ifndef QUEST_CHECK_H
#define QUEST_CHECK_H

#include <quest.h>
#include <stdio.h>

static int right, wrong;

/* A call with a name of POSIX: -1 and that errno. */
#define FAILS(call, number) (errno = 0, (long)(call) == -1 && errno == (number))

#define CHECK(what) check(what, #what, __FILE_NAME__, __LINE__)

static inline void check(int what, const char *text, const char *file, int line)
{
	right += what != 0;
	wrong += !what;
	if (!what)
		printf("%s:%d: not so: %s\n", file, line, text);
}

/* How child `pid` ended, as waitpid() tells; -1: it was none. */
static inline int status_of(int pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* What main() returns. */
static inline int checked(const char *name)
{
	printf("%s: %d right, %d wrong\n", name, right, wrong);
	return wrong != 0;
}

#endif
