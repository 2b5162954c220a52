/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_STDLIB_H
#define QUEST_STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS	0
#define EXIT_FAILURE	1
#define RAND_MAX	0x7FFFFFFF

_Noreturn void exit(int code);
_Noreturn void abort(void);	/* ends the program with SIGABRT */
int atexit(void (*fn)(void));	/* at most 32 */
char *getenv(const char *name);	/* NULL: there is no environment */

void *malloc(size_t bytes);	/* aligned to 16 bytes; NULL: no memory */
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t bytes);	/* NULL: no memory; `p` is not changed */
void free(void *p);

/*
 * Return the decimal number at the start of `text`, with its sign; 0 if `text` does not begin with
 * a number.
 */
long atol(const char *text);
int atoi(const char *text);

/*
 * Return the number at the start of `text`, behind blanks, in `base` (0: by its prefix, 0x or 0).
 * If `end` is not NULL, `*end` points behind the number. If a number does not fit, they return the
 * nearest possible one and set errno to ERANGE.
 */
long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);

int abs(int n);
long labs(long n);
/* one sequence for all threads, the same after the same srand() */
int rand(void);
void srand(unsigned int seed);
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t n, size_t size,
	      int (*compare)(const void *, const void *));

#endif
