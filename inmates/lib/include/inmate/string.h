/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The few C library functions that inmates (and the compiler) need. */
#ifndef INMATE_STRING_H
#define INMATE_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);

/*
 * Copies at most size - 1 bytes and always appends NUL (size > 0). Returns the number of bytes
 * copied without the NUL.
 */
size_t copy_string(char *to, const char *from, size_t size);

#endif
