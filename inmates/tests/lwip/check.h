/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of the library `check` that lwIP's tests use (run.c). */
#ifndef LWIP_TESTS_CHECK_H
#define LWIP_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK_MAJOR_VERSION	0
#define CHECK_MINOR_VERSION	15

typedef struct {
	const char *name;
	void (*run)(int n);
} TTest;
typedef void (*SFun)(void);
typedef struct check_suite Suite;
typedef struct check_case TCase;

#define START_TEST(NAME)						\
	static void NAME##_run(int _i);					\
	static const TTest NAME##_test = { #NAME, NAME##_run };		\
	static const TTest *const NAME = &NAME##_test;			\
	static void NAME##_run(int _i)
#define END_TEST

#define fail_unless(condition, ...)					\
	((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
#define fail_if(condition, ...)	fail_unless(!(condition))
#define fail(...)		check_failed(__FILE__, __LINE__, "reached")

_Noreturn void check_failed(const char *file, int line, const char *what);
Suite *suite_create(const char *name);
TCase *tcase_create(const char *name);
void tcase_add_checked_fixture(TCase *c, SFun set_up, SFun tear_down);
void tcase_add_test(TCase *c, const TTest *test);
void suite_add_tcase(Suite *s, TCase *c);

/* lwIP declares it only where it has a thread of its own. */
void tcpip_thread_poll_one(void);

#endif
