// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/printf.h>
#include <stdint.h>
#include <string.h>
#include "unit.h"

/* This printf() and the C library's must agree in text and length. */
#define SAME(...) \
	do { \
		char ours[128], theirs[128]; \
		size_t n = format_buf(ours, sizeof(ours), __VA_ARGS__); \
		int m = snprintf(theirs, sizeof(theirs), __VA_ARGS__); \
		CHECK(!strcmp(ours, theirs) && n == (size_t)m); \
		if (strcmp(ours, theirs)) \
			printf("  ours \"%s\" theirs \"%s\"\n", ours, theirs); \
	} while (0)

TEST(printf_integers)
{
	SAME("%d %i %u", -5, 0, 4000000000u);
	SAME("%d", INT32_MIN);
	SAME("%ld %lld", (long)INT64_MIN, (long long)INT64_MAX);
	SAME("%lu %zu", UINT64_MAX, (size_t)77);
	SAME("%x %X %lx", 0xbeefu, 0xBEEFu, 0x123456789abcdefUL);
	SAME("%hhu %hd", (unsigned char)200, (short)-3);
}

TEST(printf_padding)
{
	SAME("[%5d] [%-5d] [%05d]", 42, 42, 42);
	SAME("[%05d] [%6x] [%016lx]", -42, 0xabu, 0x1234UL);
	SAME("[%2d] [%*d] [%-*d]", 12345, 7, 1, 7, 1);
	SAME("[%*d]", -7, 1);
}

TEST(printf_strings)
{
	SAME("[%s] [%8s] [%-8s]", "abc", "abc", "abc");
	SAME("[%.2s] [%.*s] [%8.2s]", "abc", 1, "xyz", "abc");
	SAME("%c%c %5c|%-3c|", 'a', 'b', 'c', 'd');
	SAME("100%% of %s", "it");
	SAME("%s", "");
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
	CHECK(format_buf(buf, sizeof(buf), cut) == 2);
#pragma GCC diagnostic pop
}
