/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Accesses to memory that a peer may change at any time. Each function accesses its word exactly
 * once. The checkers of tests/prove and tests/fuzz define QV_CHAN_HOOKS and bring their own
 * functions, which let a peer act between any two accesses.
 */
#ifndef QV_LIB_SHARED_H
#define QV_LIB_SHARED_H

#include <stdint.h>

#ifdef QV_CHAN_HOOKS
uint64_t shared_load(const uint64_t *word);
void shared_store(uint64_t *word, uint64_t value);
void shared_store_fenced(uint64_t *word, uint64_t value);
#else
/* Loads a word. Later accesses are not moved before this one. */
static inline uint64_t shared_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Stores a word. Earlier accesses are not moved behind this one. */
static inline void shared_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Stores a word that every CPU sees before this CPU's later loads take place (x86: XCHG). */
static inline void shared_store_fenced(uint64_t *word, uint64_t value)
{
	(void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}
#endif

/* Keeps the compiler from moving a caller's own accesses to the payload over this place. */
static inline void shared_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Copies `size` bytes out of shared memory, whose words are aligned, to any address. */
void shared_copy_out(void *to, const void *from, uint64_t size);
/* Copies `size` bytes into shared memory. The last word is filled with zeros. */
void shared_copy_in(void *to, const void *from, uint64_t size);

#endif
