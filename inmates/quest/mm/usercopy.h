/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies between the kernel and a program's memory. The program's page tables give the physical
 * address of each byte, and the program's right to access it. The kernel then accesses the byte
 * through its own mapping. So a program's pointer cannot make the kernel fault, and SMAP stays on.
 * Copy once, then check the copy: other threads of the program may change the memory meanwhile.
 */
#ifndef QUEST_USERCOPY_H
#define QUEST_USERCOPY_H

#include <stdbool.h>
#include "space.h"

/*
 * Return false if the program may not read (or write) all of its bytes. Then a part may have been
 * copied.
 */
bool copy_from_user(const struct space *s, void *to, uint64_t from, size_t n);
bool copy_to_user(const struct space *s, uint64_t to, const void *from, size_t n);

/* Returns whether copy_to_user() would succeed now. */
bool user_writable(const struct space *s, uint64_t va, size_t n);

/*
 * Copies a string with its NUL, `size` bytes at most. Returns its length; -1: the program may not
 * read all of it; -2: it is longer.
 */
int copy_string_from_user(const struct space *s, char *to, uint64_t from, size_t size);

#endif
