// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <inmate/string.h>
#include "digest.h"

#define ROUNDS		12

static const uint64_t iv[8] = {
	0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
	0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
};

/* The order of message words in each round (RFC 7693, section 2.7); rounds 10 and 11 repeat. */
static const uint8_t order[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t turn(uint64_t x, unsigned int by)
{
	return x >> by | x << (64 - by);
}

/* The mixing function G. */
static void mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
	*a += *b + x;
	*d = turn(*d ^ *a, 32);
	*c += *d;
	*b = turn(*b ^ *c, 24);
	*a += *b + y;
	*d = turn(*d ^ *a, 16);
	*c += *d;
	*b = turn(*b ^ *c, 63);
}

/* The compression function F for the block. */
static void compress(struct digest *d, bool last)
{
	const uint64_t *m = d->block;
	const uint8_t *o;
	uint64_t v[16];
	unsigned int i;

	memcpy(v, d->state, sizeof(d->state));
	memcpy(v + 8, iv, sizeof(iv));
	v[12] ^= d->count;
	if (last)
		v[14] = ~v[14];
	for (i = 0; i < ROUNDS; i++) {
		o = order[i % 10];
		mix(&v[0], &v[4], &v[8], &v[12], m[o[0]], m[o[1]]);
		mix(&v[1], &v[5], &v[9], &v[13], m[o[2]], m[o[3]]);
		mix(&v[2], &v[6], &v[10], &v[14], m[o[4]], m[o[5]]);
		mix(&v[3], &v[7], &v[11], &v[15], m[o[6]], m[o[7]]);
		mix(&v[0], &v[5], &v[10], &v[15], m[o[8]], m[o[9]]);
		mix(&v[1], &v[6], &v[11], &v[12], m[o[10]], m[o[11]]);
		mix(&v[2], &v[7], &v[8], &v[13], m[o[12]], m[o[13]]);
		mix(&v[3], &v[4], &v[9], &v[14], m[o[14]], m[o[15]]);
	}
	for (i = 0; i < 8; i++)
		d->state[i] ^= v[i] ^ v[i + 8];
}

void digest_begin(struct digest *d)
{
	memcpy(d->state, iv, sizeof(iv));
	/* the parameters: 32 bytes of hash, no key, no tree */
	d->state[0] ^= 0x01010000 ^ DIGEST_WORDS * sizeof(uint64_t);
	d->count = 0;
}

/* The last block is compressed by digest_end(), so a full one waits until more comes. */
void digest_add(struct digest *d, const void *data, size_t n)
{
	const uint8_t *from = data;
	size_t used, part;

	for (; n; n -= part, from += part) {
		used = d->count % DIGEST_BLOCK;
		if (!used && d->count)
			compress(d, false);
		part = n < DIGEST_BLOCK - used ? n : DIGEST_BLOCK - used;
		memcpy((uint8_t *)d->block + used, from, part);
		d->count += part;
	}
}

struct hash digest_end(struct digest *d)
{
	size_t used = d->count % DIGEST_BLOCK;
	struct hash h;

	if (used || !d->count)
		memset((uint8_t *)d->block + used, 0, DIGEST_BLOCK - used);
	compress(d, true);
	memcpy(h.word, d->state, sizeof(h.word));
	return h;
}
