// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#define TEST_SECONDS	900
#define SHOWN		10	/* number of failures of one test that are printed */

/*
 * Is part of AddressSanitizer, if that is linked: prints the leaks so far and returns whether there
 * are any
 */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static char trying[256];
static uint32_t failures;
static uint64_t state;
static struct unit_suite *suites, **last_suite = &suites;

void unit_register(struct unit_suite *suite)
{
	*last_suite = suite;
	last_suite = &suite->next;
}

static void fail(const char *file, int line)
{
	const char *base = strrchr(file, '/');

	failures++;
	if (failures <= SHOWN)
		printf("%s:%d:%s%s ", base ? base + 1 : file, line, *trying ? " " : "", trying);
}

bool unit_check(const char *file, int line, const char *what, bool fine)
{
	if (!fine) {
		fail(file, line);
		if (failures <= SHOWN)
			printf("not so: %s\n", what);
	}
	return fine;
}

bool unit_equal(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
	if (got != want) {
		fail(file, line);
		if (failures <= SHOWN)
			printf("%s is %#lx, not %#lx\n", what, got, want);
	}
	return got == want;
}

bool unit_text(const char *file, int line, const char *what, const char *got, const char *want)
{
	bool fine = got == want || (got && want && !strcmp(got, want));

	if (!fine) {
		fail(file, line);
		if (failures <= SHOWN)
			printf("%s is \"%s\", not \"%s\"\n", what, got ? got : "(null)",
			       want ? want : "(null)");
	}
	return fine;
}

void unit_case(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(trying, sizeof(trying), format, args);
	va_end(args);
}

void unit_give_up(const char *why)
{
	fail("", 0);
	printf("given up: %s\n", why);
	fflush(stdout);
	_exit(1);
}

/* xorshift64* */
uint64_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

uint64_t rnd_below(uint64_t n)
{
	return (rnd() >> 11) % n;
}

uint8_t *exact_copy(const void *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		unit_give_up("no memory");
	if (len)
		memcpy(copy, bytes, len);
	else
		*copy = 0;
	return copy;
}

const char *out_folder(void)
{
	const char *folder = getenv("UNIT_OUT");

	return folder ? folder : "/tmp";
}

const char *build_folder(void)
{
	const char *folder = getenv("BUILD");

	return folder ? folder : "build";
}

static bool run(const struct unit_test *test)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(TEST_SECONDS);
		test->run();
		if (failures > SHOWN)
			printf("... and %u more\n", failures - SHOWN);
		if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
			failures++;
		fflush(stdout);
		_exit(failures != 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFSIGNALED(status))
		printf("%s: ended by signal %d\n", test->name, WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* unit [TEXT]: runs all tests, or those with TEXT in their names. Prints TAP, for harness/run */
int main(int argc, char **argv)
{
	const char *seed = getenv("SEED");
	const struct unit_suite *suite;
	uint32_t count = 0, failed = 0;
	bool good;

	state = seed ? strtoull(seed, NULL, 0) : 0;
	state = state ? state : 0x9e3779b97f4a7c15ull;
	for (suite = suites; suite; suite = suite->next) {
		const struct unit_test *test;

		for (test = suite->tests; test->name; test++) {
			if (argc > 1 && !strstr(test->name, argv[1]))
				continue;
			count++;
			good = run(test);
			failed += !good;
			printf("%s %u - %s\n", good ? "ok" : "not ok", count, test->name);
		}
	}
	printf("1..%u\n", count);
	/* one of several programs may have no test of that name; harness/run notices if none has */
	return failed || (argc == 1 && !count);
}
