// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "usercopy.h"

/* Returns how many of `n` bytes lie on the page of `va`. */
static size_t on_this_page(uint64_t va, size_t n)
{
	size_t left = PAGE_SIZE - va % PAGE_SIZE;

	return n < left ? n : left;
}

static bool copy(const struct space *s, uint64_t va, char *kernel, size_t n,
		 enum space_access access)
{
	uint64_t at;
	size_t part;

	for (; n; n -= part, va += part, kernel += part) {
		at = space_translate(s, va, access);
		if (!at)
			return false;
		part = on_this_page(va, n);
		if (access == SPACE_WRITE)
			memcpy((void *)(uintptr_t)at, kernel, part);
		else
			memcpy(kernel, (const void *)(uintptr_t)at, part);
	}
	return true;
}

bool copy_from_user(const struct space *s, void *to, uint64_t from, size_t n)
{
	return copy(s, from, to, n, SPACE_READ);
}

bool copy_to_user(const struct space *s, uint64_t to, const void *from, size_t n)
{
	return copy(s, to, (char *)from, n, SPACE_WRITE);
}

bool user_writable(const struct space *s, uint64_t va, size_t n)
{
	size_t part;

	for (; n; n -= part, va += part) {
		if (!space_translate(s, va, SPACE_WRITE))
			return false;
		part = on_this_page(va, n);
	}
	return true;
}

int copy_string_from_user(const struct space *s, char *to, uint64_t from, size_t size)
{
	const char *at;
	size_t n = 0, end;

	while (n < size) {
		at = (const char *)(uintptr_t)space_translate(s, from + n, SPACE_READ);
		if (!at)
			return -1;
		for (end = n + on_this_page(from + n, size - n); n < end; n++) {
			to[n] = *at++;
			if (!to[n])
				return (int)n;
		}
	}
	return -2;
}
