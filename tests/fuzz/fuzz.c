// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzers' implementation of unit.h */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "unit.h"

static char trying[256];
static u64 state = 1;

bool unit_check(const char *file, int line, const char *what, bool fine)
{
	if (!fine) {
		fprintf(stderr, "%s:%d: %s not so: %s\n", file, line, trying, what);
		abort();
	}
	return true;
}

bool unit_equal(const char *file, int line, const char *what, u64 got, u64 want)
{
	if (got != want)
		fprintf(stderr, "%#lx instead of %#lx\n", got, want);
	return unit_check(file, line, what, got == want);
}

bool unit_text(const char *file, int line, const char *what, const char *got, const char *want)
{
	bool fine = got == want || (got && want && !strcmp(got, want));

	if (!fine)
		fprintf(stderr, "\"%s\" instead of \"%s\"\n", got ? got : "", want ? want : "");
	return unit_check(file, line, what, fine);
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
	unit_check("", 0, why, false);
	abort();
}

u64 rnd(void)
{
	return state = state * 6364136223846793005ull + 1442695040888963407ull;
}

u64 rnd_below(u64 n)
{
	return (rnd() >> 11) % n;
}

u8 *exact_copy(const void *bytes, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	*copy = 0;
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}
