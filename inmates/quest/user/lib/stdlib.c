// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "raw.h"

#define AT_EXIT_MAX	32

static void (*at_exit[AT_EXIT_MAX])(void);
static int num_at_exit;
static unsigned int seed = 1;

int atexit(void (*fn)(void))
{
	int n = __atomic_fetch_add(&num_at_exit, 1, __ATOMIC_RELAXED);

	if (n >= AT_EXIT_MAX) {
		(void)__atomic_fetch_sub(&num_at_exit, 1, __ATOMIC_RELAXED);
		return -1;
	}
	at_exit[n] = fn;
	return 0;
}

_Noreturn void exit(int code)
{
	while (num_at_exit > 0)
		at_exit[--num_at_exit]();
	quest__exit(code);
}

_Noreturn void abort(void)
{
	(void)quest_kill(quest_getpid(), SIGABRT);
	quest__exit(EXIT_FAILURE);
}

_Noreturn void quest_assert(const char *what, const char *file, int line)
{
	(void)fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

char *getenv(const char *name)
{
	(void)name;
	return NULL;
}

static int digit(char c)
{
	if (isdigit(c))
		return c - '0';
	return isalpha(c) ? (c | 32) - 'a' + 10 : 99;
}

/*
 * Reads a number, and stores its sign in `*negative`. Sets `*over` if the number does not fit into
 * 64 bits.
 */
static unsigned long number(const char *text, char **end, int base, int *negative, int *over)
{
	const char *at = text;
	unsigned long n = 0;

	while (isspace(*at))
		at++;
	*negative = *at == '-';
	*over = 0;
	at += *negative || *at == '+';
	if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 32) == 'x' && digit(at[2]) < 16) {
		at += 2;
		base = 16;
	} else if (!base) {
		base = *at == '0' ? 8 : 10;
	}
	for (; digit(*at) < base; text = ++at)
		*over |= __builtin_mul_overflow(n, (unsigned long)base, &n) |
			 __builtin_add_overflow(n, (unsigned long)digit(*at), &n);
	if (end)
		*end = (char *)text;
	return n;
}

long strtol(const char *text, char **end, int base)
{
	int negative, over;
	unsigned long n = number(text, end, base, &negative, &over);

	if (over || n > (unsigned long)LONG_MAX + (unsigned long)negative) {
		errno = ERANGE;
		return negative ? LONG_MIN : LONG_MAX;
	}
	return (long)(negative ? -n : n);
}

unsigned long strtoul(const char *text, char **end, int base)
{
	int negative, over;
	unsigned long n = number(text, end, base, &negative, &over);

	if (over) {
		errno = ERANGE;
		return ULONG_MAX;
	}
	return negative ? -n : n;
}

long atol(const char *text)
{
	return strtol(text, NULL, 10);
}

int atoi(const char *text)
{
	return (int)atol(text);
}

int abs(int n)
{
	return n < 0 ? -n : n;
}

long labs(long n)
{
	return n < 0 ? -n : n;
}

/* Marsaglia's xorshift. Its state is never 0. */
int rand(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (int)(seed & RAND_MAX);
}

void srand(unsigned int from)
{
	seed = from ? from : 1;
}

static void swap(char *a, char *b, size_t size)
{
	char was;

	for (; size; size--, a++, b++) {
		was = *a;
		*a = *b;
		*b = was;
	}
}

/* Moves element `at` down until no element below it is greater. */
static void sift(char *base, size_t at, size_t n, size_t size,
		 int (*compare)(const void *, const void *))
{
	size_t below;

	for (; (below = 2 * at + 1) < n; at = below) {
		if (below + 1 < n && compare(base + below * size, base + (below + 1) * size) < 0)
			below++;
		if (compare(base + at * size, base + below * size) >= 0)
			return;
		swap(base + at * size, base + below * size, size);
	}
}

/* Heap sort: needs no memory, and no order of the elements makes it slow. */
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	size_t i;

	for (i = n / 2; i > 0; i--)
		sift(base, i - 1, n, size, compare);
	for (i = n; i > 1; i--) {
		swap(base, (char *)base + (i - 1) * size, size);
		sift(base, 0, i - 1, size, compare);
	}
}

void *bsearch(const void *key, const void *base, size_t n, size_t size,
	      int (*compare)(const void *, const void *))
{
	const char *at = base;
	size_t half;
	int how;

	while (n) {
		half = n / 2;
		how = compare(key, at + half * size);
		if (!how)
			return (void *)(at + half * size);
		if (how > 0) {
			at += (half + 1) * size;
			n--;
		}
		n = how > 0 ? n - half : half;
	}
	return NULL;
}
