/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The harness of all tests in C. unit.c has main(): it runs every test that the linked files
 * define, each in a process of its own, so that a crash or a sanitizer's report is only one
 * failure. The fuzzers bring their own implementation (tests/fuzz/fuzz.c).
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct unit_test {
	const char *name;
	void (*run)(void);
};

struct unit_suite {
	const struct unit_test *tests;
	struct unit_suite *next;
};

/* Adds a suite to those that main() runs. */
void unit_register(struct unit_suite *suite);

/* Example: UNIT_SUITE(paging) = { { "paging: an expectation", function }, ..., { 0 } }; */
#define UNIT_SUITE(name)						\
	extern const struct unit_test name##_tests[];			\
	__attribute__((constructor)) static void name##_register(void)	\
	{								\
		static struct unit_suite suite = { .tests = name##_tests };	\
									\
		unit_register(&suite);					\
	}								\
	const struct unit_test name##_tests[]

/* TEST(name) { ... }: a test that is a suite by itself */
#define TEST(name)							\
	static void name(void);						\
	UNIT_SUITE(name) = { { #name, name }, { 0 } };			\
	static void name(void)

/* After a failed check, which is reported, the test continues */
#define CHECK(condition) unit_check(__FILE__, __LINE__, #condition, (condition))
#define CHECK_EQ(got, want) unit_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))
#define CHECK_TEXT(got, want) unit_text(__FILE__, __LINE__, #got, (got), (want))

bool unit_check(const char *file, int line, const char *what, bool fine);
bool unit_equal(const char *file, int line, const char *what, uint64_t got, uint64_t want);
bool unit_text(const char *file, int line, const char *what, const char *got, const char *want);
/* Names the case under test. A failure report shows this name */
void unit_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the test here as failed */
void unit_give_up(const char *why) __attribute__((noreturn));

/* Repeatable random numbers; SEED= in the environment chooses another sequence */
uint64_t rnd(void);
uint64_t rnd_below(uint64_t n);

/*
 * Returns a copy at the end of its memory, so that the sanitizer detects a read past it. Call
 * free()
 */
uint8_t *exact_copy(const void *bytes, size_t len);
/* The folder that tests write to, and the build folder of the tree (O=) */
const char *out_folder(void);
const char *build_folder(void);

#endif
