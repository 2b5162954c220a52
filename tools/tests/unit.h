/* SPDX-License-Identifier: GPL-2.0-only */
/* Unit tests: CHECK counts, UNIT_END prints `N passed, N failed`. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <stdio.h>

static int unit_failed_checks, unit_passed, unit_failed;

#define CHECK(condition) do {							\
	if (!(condition)) {							\
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);	\
		unit_failed_checks++;						\
	}									\
} while (0)

#define RUN(test) do {								\
	unit_failed_checks = 0;							\
	test();									\
	if (unit_failed_checks) {						\
		fprintf(stderr, "FAILED %s\n", #test);				\
		unit_failed++;							\
	} else {								\
		unit_passed++;							\
	}									\
} while (0)

#define UNIT_END() (printf("%d passed, %d failed\n", unit_passed, unit_failed), unit_failed != 0)

#endif
