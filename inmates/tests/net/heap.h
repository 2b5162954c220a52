/* SPDX-License-Identifier: GPL-2.0-only */
/* lwIP's heap in the world: the sanitizers see each allocation. */
#ifndef NET_HEAP_H
#define NET_HEAP_H

#include <stddef.h>

void *world_malloc(size_t n);
void *world_calloc(size_t count, size_t n);
void world_free(void *at);

#endif
