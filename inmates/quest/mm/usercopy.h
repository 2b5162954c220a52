/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the kernel and a program's memory. The program's own tables say
 * where a byte lies and whether the program may access it; the bytes are then
 * reached through the kernel's mapping. So no access of the kernel can fault on
 * a program's pointer, and SMAP stays on all the time. Copy once, then check
 * the copy: the program's other threads may change the memory meanwhile.
 */
#ifndef QUEST_USERCOPY_H
#define QUEST_USERCOPY_H

#include <stdbool.h>
#include "space.h"

/* False: not all of it is the program's to read (to write); then part of it may have been copied. */
bool copy_from_user(const struct space *s, void *to, uint64_t from, size_t n);
bool copy_to_user(const struct space *s, uint64_t to, const void *from, size_t n);

/* Would copy_to_user() succeed now? Nothing is touched. */
bool user_writable(const struct space *s, uint64_t va, size_t n);

/*
 * A string with its NUL, at most `size` bytes. Returns its length, -1: not all of it is the program's
 * to read, -2: longer than that.
 */
int copy_string_from_user(const struct space *s, char *to, uint64_t from, size_t size);

#endif
