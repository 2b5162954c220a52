/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address space of a program. All memory is mapped when it is requested, so that a program
 * never waits for a page later. Interrupts are off in every call; long work enables them between
 * pages (space_set_hooks()).
 *
 *   USER_BASE             64 TiB: nothing up to USER_STACKS
 *   USER_STACKS           STACKS_MAX stacks, each above a guard of the same size
 *   USER_IMAGE            the ELF file's segments, and the heap behind them
 *   USER_SHARED           foreign pages, which the space does not own
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
/* largest number of threads of a program at the same time */
#define STACKS_MAX	16

/* Rights of a user page. No page is both writable and executable. */
#define USER_READ	(PTE_USER | PTE_NO_EXECUTE)
#define USER_DATA	(PTE_USER | PTE_NO_EXECUTE | PTE_WRITE)
#define USER_CODE	PTE_USER

/* Plain data: addresses are physical, or the program's own. */
struct space {
	uint64_t root;			/* physical; 0: none */
	uint64_t heap, brk;		/* addresses where the heap begins and ends */
	size_t pages;			/* number of pages of the program, without page tables */
	unsigned int generation;	/* version of the kernel's entries in `root` */
};

/* The kind of access that space_translate() and space_explain() check. */
enum space_access { SPACE_READ, SPACE_WRITE, SPACE_EXECUTE };

/*
 * Sets two functions; NULL: none. Long work calls `pause` between pages. When pages are freed,
 * `flush` is called before they can be allocated again, since their space may be the current one.
 */
void space_set_hooks(void (*pause)(void), void (*flush)(void));

/* Creates an empty space with the kernel's part. Returns false if there is no memory. */
bool space_create(struct space *s);

/* Frees everything. `s` must not be the current space. */
void space_destroy(struct space *s);

/*
 * Copies all pages of `from` to the new space `to`. Returns false if there is no memory; then `to`
 * uses no memory.
 */
bool space_copy(struct space *to, const struct space *from);

/*
 * Maps zeroed pages at [start, end) with `rights` (USER_*): whole pages within USER_BASE..USER_END
 * of which none is mapped. Returns false if the range is outside, a page is mapped, or there is no
 * memory; then nothing has changed.
 */
bool space_map(struct space *s, uint64_t start, uint64_t end, uint64_t rights);

/*
 * Maps `n` foreign pages, contiguous from physical `page` on, at `start` with `rights`. The space
 * does not own them: they are not counted, space_unmap() and space_destroy() do not free them, and
 * a copy of the space does not have them. Returns false if the range is outside
 * USER_SHARED..USER_END, a page is mapped, or there is no memory for tables; then nothing has
 * changed. One thread of a program at a time finds and maps foreign pages.
 */
bool space_map_foreign(struct space *s, uint64_t start, uint64_t page, size_t n, uint64_t rights);

/* Returns the lowest address where `n` foreign pages fit; 0 if they fit nowhere. */
uint64_t space_find_foreign(const struct space *s, size_t n);

/*
 * Returns the lowest page from `va` on that the space owns, and its entry in *entry; 0: it owns no
 * page there. Long work: lets interrupts in.
 */
uint64_t space_next_page(const struct space *s, uint64_t va, uint64_t *entry);

/* Unmaps all pages of [start, end) that are mapped, and frees those that are not foreign. */
void space_unmap(struct space *s, uint64_t start, uint64_t end);

/*
 * Moves the end of the heap by `delta` bytes, for one caller at a time. Returns false if the new
 * end would be below the heap's start or too high, or if there is no memory.
 */
bool space_move_brk(struct space *s, int64_t delta);

/* Returns the top of stack `n`, which has STACK_BYTES below it. */
uint64_t space_stack_top(unsigned int n);

/*
 * Returns the physical address of the byte at `va` if the program itself has the right to this
 * access, else 0. The kernel accesses no registers of a device for a program.
 */
uint64_t space_translate(const struct space *s, uint64_t va, enum space_access access);

/* Explains in words why the program may not access `va`. */
const char *space_explain(const struct space *s, uint64_t va, enum space_access access);

/* Updates the kernel's entries in the top table, then loads CR3. */
void space_activate(struct space *s);

#endif
