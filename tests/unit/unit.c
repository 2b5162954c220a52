// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#define TEST_SECONDS	180
#define SHOWN		10	/* failures of one test that are printed */

static char trying[256];
static u32 failures;
static u64 state;

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

bool unit_equal(const char *file, int line, const char *what, u64 got, u64 want)
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
u64 rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

u64 rnd_below(u64 n)
{
	return (rnd() >> 11) % n;
}

u8 *exact_copy(const void *bytes, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

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
		fflush(stdout);
		_exit(failures != 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFSIGNALED(status))
		printf("%s: ended by signal %d\n", test->name, WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* unit [PART-OF-A-NAME]: all tests, or those whose names contain that */
int main(int argc, char **argv)
{
	const char *seed = getenv("SEED");
	u32 passed = 0, failed = 0;
	size_t i;

	state = seed ? strtoull(seed, NULL, 0) : 0;
	state = state ? state : 0x9e3779b97f4a7c15ull;
	for (i = 0; unit_suites[i]; i++) {
		const struct unit_test *test;

		for (test = unit_suites[i]; test->name; test++) {
			if (argc > 1 && !strstr(test->name, argv[1]))
				continue;
			if (run(test)) {
				passed++;
				continue;
			}
			failed++;
			printf("FAILED %s\n", test->name);
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0 || !passed;
}
