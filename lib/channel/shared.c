// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "shared.h"

#define WORDS	8	/* in one turn of a loop: a cache line */
#define LINE	(WORDS * sizeof(uint64_t))
#define LONG	512	/* bytes from which the processor's string instruction is faster */

#if defined(QV_CHAN_HOOKS) || defined(__SANITIZE_THREAD__)
/* The checkers need single accesses that they can see. */
static uint64_t copy_lines(void *to, const void *from, uint64_t size)
{
	(void)to;
	(void)from;
	(void)size;
	return 0;
}
#else
/* Two words, which the compiler may access at once if it may use SSE */
typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));

/*
 * Copies whole cache lines, or whole words if there are at least LONG bytes. Returns how many bytes
 * it copied. It accesses each word once, in any order. All its stores are visible after all earlier
 * stores of this CPU and before all later ones, those of the string instruction too (Intel SDM vol.
 * 3, "Fast-String Operation and Out-of-Order Stores"). So the words that publish an item keep their
 * place.
 */
static uint64_t copy_lines(void *to, const void *from, uint64_t size)
{
	uint64_t words = size / sizeof(uint64_t), done = 0;
	const volatile pair *source = from;
	volatile pair *target = to;

	if (size >= LONG) {
		__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
		return size & ~(sizeof(uint64_t) - 1);
	}
	for (; size - done >= LINE; done += LINE, source += 4, target += 4) {
		pair a = source[0], b = source[1], c = source[2], d = source[3];

		target[0] = a;
		target[1] = b;
		target[2] = c;
		target[3] = d;
	}
	return done;
}
#endif

void shared_copy_out(void *to, const void *from, uint64_t size)
{
	uint64_t done = copy_lines(to, from, size), value;
	const uint64_t *word = (const uint64_t *)from + done / sizeof(value);
	unsigned char *byte = (unsigned char *)to + done;
	int i;

	size -= done;
	for (; size >= WORDS * sizeof(value); size -= WORDS * sizeof(value), word += WORDS)
#pragma GCC unroll 8
		for (i = 0; i < WORDS; i++, byte += sizeof(value)) {
			value = shared_load(word + i);
			__builtin_memcpy(byte, &value, sizeof(value));
		}
	for (; size >= sizeof(value); size -= sizeof(value), byte += sizeof(value)) {
		value = shared_load(word++);
		__builtin_memcpy(byte, &value, sizeof(value));
	}
	if (size) {
		value = shared_load(word);
		for (; size; size--, value >>= 8)
			*byte++ = (unsigned char)value;
	}
}

void shared_copy_in(void *to, const void *from, uint64_t size)
{
	uint64_t done = copy_lines(to, from, size), value, i;
	const unsigned char *byte = (const unsigned char *)from + done;
	uint64_t *word = (uint64_t *)to + done / sizeof(value);

	size -= done;
	for (; size >= WORDS * sizeof(value); size -= WORDS * sizeof(value), word += WORDS)
#pragma GCC unroll 8
		for (i = 0; i < WORDS; i++, byte += sizeof(value)) {
			__builtin_memcpy(&value, byte, sizeof(value));
			shared_store(word + i, value);
		}
	for (; size >= sizeof(value); size -= sizeof(value), byte += sizeof(value)) {
		__builtin_memcpy(&value, byte, sizeof(value));
		shared_store(word++, value);
	}
	if (size) {
		for (value = 0, i = 0; i < size; i++)
			value |= (uint64_t)byte[i] << (8 * i);
		shared_store(word, value);
	}
}
