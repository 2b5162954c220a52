/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address space of a program. All of it is mapped when it is asked for:
 * a program never waits for a page later. Interrupts are off in every call;
 * what takes long lets them in between pages (space_set_hooks()).
 *
 *   USER_BASE             64 TiB: nothing up to USER_STACKS
 *   USER_STACKS           STACKS_MAX stacks, a guard as large as the stack below each
 *   USER_IMAGE            the ELF file's segments, the heap behind them
 *   USER_SHARED           foreign pages: others own them
 *   USER_END              nothing from here on
 */
#ifndef QUEST_SPACE_H
#define QUEST_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pages.h"
#include "table.h"

#define USER_BASE	0x400000000000ull
#define USER_STACKS	(USER_BASE + (2ull << 20))
#define USER_IMAGE	(USER_BASE + (4ull << 20))
#define USER_SHARED	(USER_END - (64ull << 20))
#define USER_END	(USER_BASE + (1ull << 30))

#define STACK_BYTES	(64ull << 10)
#define STACKS_MAX	16		/* threads of a program at once */

/* What may be done with a user page. None may be written and executed. */
#define USER_READ	(PTE_USER | PTE_NO_EXECUTE)
#define USER_DATA	(PTE_USER | PTE_NO_EXECUTE | PTE_WRITE)
#define USER_CODE	PTE_USER

/* Plain data: addresses are physical, or the program's own. */
struct space {
	uint64_t root;			/* physical; 0: none */
	uint64_t heap, brk;		/* where the heap begins and ends */
	size_t pages;			/* of the program: tables not counted */
	unsigned int generation;	/* of the kernel's entries in `root` */
};

/* How space_translate() and space_explain() are asked. */
enum space_access { SPACE_READ, SPACE_WRITE, SPACE_EXECUTE };

/*
 * `pause` is called between pages of long work, `flush` when pages of what may be the current space are freed,
 * before anybody else can get them. NULL: never.
 */
void space_set_hooks(void (*pause)(void), void (*flush)(void));

/* An empty space with the kernel's part in it. False: no memory. */
bool space_create(struct space *s);

/* Give all back. It must not be the current one. */
void space_destroy(struct space *s);

/* A copy of all of `from`'s pages in the new space `to`. False: no memory, and nothing is left of it. */
bool space_copy(struct space *to, const struct space *from);

/*
 * Zeroed pages for [start, end), whole pages within USER_BASE..USER_END of which none is mapped, with
 * `rights` (USER_*). False: out of place, mapped already, or no memory; then nothing has changed.
 */
bool space_map(struct space *s, uint64_t start, uint64_t end, uint64_t rights);

/*
 * Foreign pages: `n` adjoining ones from physical `page` on, at `start` on, with `rights`. The space does not own them:
 * they are not counted, not freed by space_unmap() and space_destroy(), and a copy of the space does not have them.
 * False: outside USER_SHARED..USER_END, mapped already, or no memory for tables; then nothing has changed.
 */
bool space_map_foreign(struct space *s, uint64_t start, uint64_t page, size_t n, uint64_t rights);

/* The lowest address where `n` foreign pages fit; 0: nowhere. */
uint64_t space_find_foreign(const struct space *s, size_t n);

/* Unmap what of [start, end) is mapped, and free it unless it is foreign. */
void space_unmap(struct space *s, uint64_t start, uint64_t end);

/* Move the end of the heap by `delta` bytes, one caller at a time. False: below its begin, too large, or no memory. */
bool space_move_brk(struct space *s, int64_t delta);

/* Top of stack `n`; its STACK_BYTES lie below. */
uint64_t space_stack_top(unsigned int n);

/* Where the byte `va` lies, if the program itself may access it so; 0 if not. */
uint64_t space_translate(const struct space *s, uint64_t va, enum space_access access);

/* Why the program may not access `va`, in words. */
const char *space_explain(const struct space *s, uint64_t va, enum space_access access);

/* The kernel's entries as they are now; then CR3. */
void space_activate(struct space *s);

#endif
