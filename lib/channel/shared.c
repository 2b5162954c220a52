// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "shared.h"

void shared_copy_out(void *to, const void *from, uint64_t size)
{
	const uint64_t *word = from;
	unsigned char *byte = to;
	uint64_t value;

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
	const unsigned char *byte = from;
	uint64_t *word = to, value, i;

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
