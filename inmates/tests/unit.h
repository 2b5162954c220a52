/* SPDX-License-Identifier: GPL-2.0-only */
/* Just enough to count checks. A test is a function named in unit.c's table. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdio.h>

/* Notes a failure of the running test, which goes on. */
void unit_fail(const char *file, int line, const char *what);

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			unit_fail(__FILE__, __LINE__, #condition); \
	} while (0)

#define TEST(name)	void name(void); void name(void)

#endif
