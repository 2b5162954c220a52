/* SPDX-License-Identifier: GPL-2.0-only */
/* BLAKE2b with 256 bits and no key (RFC 7693): no cell can make other data of that hash. Pure. */
#ifndef QUEST_RECOVERY_DIGEST_H
#define QUEST_RECOVERY_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_WORDS	4
#define DIGEST_BLOCK	128

struct hash {
	uint64_t word[DIGEST_WORDS];
};

struct digest {
	uint64_t state[8];
	uint64_t count;			/* bytes so far */
	uint64_t block[DIGEST_BLOCK / 8];
};

void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t n);
struct hash digest_end(struct digest *d);

#endif
