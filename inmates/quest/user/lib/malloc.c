// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Takes the first free block that fits, from a list ordered by address. Merges adjacent free
 * blocks. If no block fits, memory comes from the end of the heap, a page or more at a time.
 */
#include <stdbool.h>
#include <string.h>
#include "raw.h"

#define ALIGN		16
#define STEP		4096

/* The header before each block. Its size is a multiple of ALIGN. */
struct block {
	size_t size;		/* size of the block, this header included */
	struct block *next;	/* next free block, while this one is free */
};

static struct block *list;
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;

static bool touch(const struct block *a, const struct block *b)
{
	return b && (const char *)a + a->size == (const char *)b;
}

static void give(struct block *b)
{
	struct block *before = NULL, *after = list;

	for (; after && after < b; after = after->next)
		before = after;
	b->next = after;
	if (touch(b, after)) {
		b->size += after->size;
		b->next = after->next;
	}
	if (before && touch(before, b)) {
		before->size += b->size;
		before->next = b->next;
	} else if (before) {
		before->next = b;
	} else {
		list = b;
	}
}

static struct block *take(size_t size)
{
	struct block **at, *b;

	for (at = &list; (b = *at); at = &b->next) {
		if (b->size < size)
			continue;
		if (b->size - size >= 2 * ALIGN) {
			struct block *rest = (struct block *)((char *)b + size);

			*rest = (struct block){ b->size - size, b->next };
			b->size = size;
			*at = rest;
		} else {
			*at = b->next;
		}
		return b;
	}
	return NULL;
}

static bool grow(size_t size)
{
	size_t step = (size + STEP - 1) / STEP * STEP;
	struct block *b = quest_sbrk((intptr_t)step);

	if (failed(b))
		return false;
	b->size = step;
	give(b);
	return true;
}

void *malloc(size_t bytes)
{
	size_t size = (bytes + sizeof(struct block) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	struct block *b;

	if (bytes > (size_t)1 << 40) {
		errno = ENOMEM;
		return NULL;
	}
	(void)pthread_mutex_lock(&heap);
	b = take(size);
	if (!b && grow(size))
		b = take(size);
	(void)pthread_mutex_unlock(&heap);
	if (!b)
		errno = ENOMEM;
	return b ? b + 1 : NULL;
}

void *calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : malloc(bytes);

	return p ? memset(p, 0, bytes) : NULL;
}

void free(void *p)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&heap);
	give((struct block *)p - 1);
	(void)pthread_mutex_unlock(&heap);
}

void *realloc(void *p, size_t bytes)
{
	const struct block *b = p ? (struct block *)p - 1 : NULL;
	size_t old = b ? b->size - sizeof(*b) : 0;
	void *q;

	if (b && bytes <= old)
		return p;
	q = malloc(bytes);
	if (!q)
		return NULL;
	(void)memcpy(q, p, old);
	free(p);
	return q;
}
