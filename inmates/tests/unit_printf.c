// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the formatting of inmates with that of the host's C library: text, length, and all
 * digits of floating point, which only programs of Quest have.
 */
#include <float.h>
#include <inmate/printf.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

#define ROUNDS	20000
#define ROOM	2048

struct text {
	size_t n;
	char at[ROOM];
};

static void keep(void *arg, const char *text, size_t n)
{
	struct text *t = arg;

	CHECK(n > 0 && t->n + n < ROOM);
	memcpy(t->at + t->n, text, n);
	t->n += n;
}

static size_t ours(struct text *t, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	t->n = 0;
	va_start(ap, fmt);
	n = format_to(keep, t, fmt, ap);
	va_end(ap);
	t->at[t->n] = 0;
	return n;
}

/* Gives both libraries the same format, even if the compiler would reject it. */
#define SAME(fmt, ...) \
	do { \
		static struct text t; \
		static char theirs[ROOM]; \
		size_t n = ours(&t, fmt, __VA_ARGS__); \
		int m = snprintf(theirs, sizeof(theirs), fmt, __VA_ARGS__); \
		CHECK(!strcmp(t.at, theirs) && n == (size_t)m && n == t.n); \
		if (strcmp(t.at, theirs)) \
			printf("  %s: ours \"%s\" theirs \"%s\"\n", fmt, t.at, theirs); \
	} while (0)

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

TEST(printf_floats_by_hand)
{
	static const double values[] = {
		0, -0.0, 1, -1, 0.5, 1.5, 2.5, 0.125, 0.375, 9.5,
		99.5, 9999995, 0.1, 0.3, 1e-4, 1e-5, 9.9999e-5,
		1e21, 1e22, 123456789, 5e-324, DBL_MAX, DBL_MIN, 4.35,
		0.045, 1e15, 1e16, 999999, 1000000, 0.000123456789,
		INFINITY, -INFINITY, 3.14159265358979,
	};
	static const char *const formats[] = {
		"%f", "%.0f", "%#.0f", "%.1f", "%.2f", "%.3f", "%10.2f",
		"%-10.2f|", "%010.2f", "%+f", "% f", "%.20f", "%F",
		"%e", "%.0e", "%#.0e", "%.3e", "%15.4e", "%-15.4e|", "%015.4e", "%E", "%.20e",
		"%g", "%.0g", "%.1g", "%.3g", "%#g", "%.15g", "%.17g",
		"%12g", "%-12g|", "%012g", "%G", "%#.3g", "%+g",
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (k = 0; k < sizeof(formats) / sizeof(formats[0]); k++)
			SAME(formats[k], values[i]);
	SAME("%.1100f", 5e-324);
	SAME("%.1100f|%f", DBL_MAX, DBL_MIN);
	SAME("%Lf %d", 1.5L, 7);
	SAME("%*.*f|", 12, 3, 2.0005);
	SAME("%f", (double)NAN);
	SAME("%g %.3g %f %e", 999999.5, 999.6, 999999.5, 999999.5);
}

/*
 * With the flag #, trailing zeros stay. The host's library drops them if rounding makes the number
 * longer.
 */
TEST(printf_floats_with_zeros)
{
	struct text t;

	ours(&t, "%#g %#.2g", 999999.5, 99.9);
	CHECK(!strcmp(t.at, "1.00000e+06 1.0e+02"));
}

/* Numbers of all sizes: the bits are random. */
TEST(printf_floats_at_random)
{
	uint64_t state = 88172645463325252ull, bits;
	char fmt[16], letter;
	double value;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		bits = state;
		if (i % 2 == 0)	/* an exponent from -20 to 39 */
			bits = (state & ~(0x7FFull << 52)) | (1023 - 20 + state % 60) << 52;
		memcpy(&value, &bits, sizeof(value));
		if (isnan(value))
			continue;
		letter = "feg"[(state >> 50) % 3];
		snprintf(fmt, sizeof(fmt), "%%%s.%d%c", i % 5 || letter == 'g' ? "" : "#",
			 (int)((state >> 40) % 20), letter);
		SAME(fmt, value);
	}
}

TEST(printf_integers)
{
	static const long values[] = { 0, 1, -1, 42, -42, 255, INT32_MAX, INT32_MIN };
	static const char *const formats[] = {
		"%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%.3d",
		"%8.3d|", "%-8.3d|", "%08.3d|", "%.0d|", "%+.4d",
		"%u", "%o", "%#o", "%#.0o", "%x", "%X", "%#x", "%#X", "%#8x|",
		"%#08x|", "%#-8x|", "%.5x", "%#.5x", "%hhd", "%hd", "%hhu", "%hx",
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (k = 0; k < sizeof(formats) / sizeof(formats[0]); k++)
			SAME(formats[k], (int)values[i]);
	SAME("%ld %lld %zd %jd %td", INT64_MIN, (long long)INT64_MAX, (ssize_t)-7, (intmax_t)8,
	     (ptrdiff_t)-9);
	SAME("%lu %zu %lx %lo", UINT64_MAX, (size_t)77, 0x123456789abcdefUL, UINT64_MAX);
}

TEST(printf_text)
{
	SAME("%s|%10s|%-10s|%.2s|%5.1s|", "one", "two", "three", "four", "five");
	SAME("%c%c%%|%3c|%-3c|", 'a', 'b', 'c', 'd');
	SAME("%p %20p", (void *)0x1234, (void *)0xFFFFFFFFFFFFFFFFul);
	SAME("[%*d] [%-*d] [%*d]", 7, 1, 7, 1, -7, 1);
	SAME("[%8.2s] [%.*s]", "abc", 1, "xyz");
	SAME("no conversion%s", "");
}

TEST(printf_cuts_and_counts)
{
	char buf[6];

	memset(buf, '#', sizeof(buf));
	CHECK(format_buf(buf, 5, "%s", "abcdefgh") == 8);
	CHECK(!strcmp(buf, "abcd") && buf[5] == '#');
	CHECK(format_buf(NULL, 0, "%d", 123) == 3);
	CHECK(format_buf(buf, 1, "x") == 1 && !buf[0]);
}

TEST(printf_null_and_end)
{
	char buf[32];
	const char *volatile none = NULL, *volatile cut = "50%";

	format_buf(buf, sizeof(buf), "%s", none);
	CHECK(!strcmp(buf, "(null)"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	CHECK(format_buf(buf, sizeof(buf), cut) == 3 && !strcmp(buf, "50%"));
#pragma GCC diagnostic pop
}
