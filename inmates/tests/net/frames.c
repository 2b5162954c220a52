// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "frames.h"
#include "unit.h"

#define ETHERNET	14
#define IP		20
#define TCP		20
#define MOST		1514

static const uint8_t ours[6] = { 2, 0, 0, 0, 0, 1 };
static const uint8_t theirs[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
static const uint8_t our_ip[4] = { 192, 168, 7, 1 }, their_ip[4] = { 192, 168, 7, 2 };

static void put16(uint8_t *to, uint32_t x)
{
	to[0] = (uint8_t)(x >> 8);
	to[1] = (uint8_t)x;
}

static void put32(uint8_t *to, uint32_t x)
{
	put16(to, x >> 16);
	put16(to + 2, x);
}

static uint32_t get16(const uint8_t *from)
{
	return (uint32_t)from[0] << 8 | from[1];
}

static uint32_t get32(const uint8_t *from)
{
	return get16(from) << 16 | get16(from + 2);
}

static uint32_t sum(uint32_t so_far, const uint8_t *data, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		so_far += get16(data + i);
	return n % 2 ? so_far + ((uint32_t)data[n - 1] << 8) : so_far;
}

static uint32_t folded(uint32_t total)
{
	while (total >> 16)
		total = (total & 0xFFFF) + (total >> 16);
	return ~total & 0xFFFF;
}

static size_t ethernet(uint8_t *f, uint32_t kind, size_t n)
{
	memcpy(f, theirs, sizeof(theirs));
	memcpy(f + 6, ours, sizeof(ours));
	put16(f + 12, kind);
	return ETHERNET + n;
}

size_t frame_arp(uint8_t *f, unsigned int operation)
{
	static const uint8_t begin[6] = { 0, 1, 8, 0, 6, 4 };

	memcpy(f + 14, begin, sizeof(begin));
	put16(f + 20, operation);
	memcpy(f + 22, ours, 6);
	memcpy(f + 28, our_ip, 4);
	memset(f + 32, 0, 6);
	memcpy(f + 38, their_ip, 4);
	return ethernet(f, 0x0806, 28);
}

size_t frame_ip(uint8_t *f, uint8_t protocol, const void *data, size_t n)
{
	uint8_t *h = f + ETHERNET;

	memmove(h + IP, data, n);
	memset(h, 0, IP);
	h[0] = 0x45;
	put16(h + 2, (uint32_t)(IP + n));
	h[8] = 64;
	h[9] = protocol;
	memcpy(h + 12, our_ip, 4);
	memcpy(h + 16, their_ip, 4);
	put16(h + 10, folded(sum(0, h, IP)));
	return ethernet(f, 0x0800, IP + n);
}

size_t frame_udp(uint8_t *f, uint16_t from, uint16_t to, const void *data, size_t n)
{
	uint8_t d[MOST];

	put16(d, from);
	put16(d + 2, to);
	put16(d + 4, (uint32_t)(8 + n));
	put16(d + 6, 0);
	memcpy(d + 8, data, n);
	return frame_ip(f, 17, d, 8 + n);
}

size_t frame_tcp(uint8_t *f, const struct peer *p, uint8_t flags, const void *data, size_t n,
		 size_t options)
{
	uint8_t d[MOST], pseudo[12] = { 0 };
	size_t i, head = TCP + options;

	put16(d, p->here);
	put16(d + 2, p->there);
	put32(d + 4, p->next);
	put32(d + 8, p->expected);
	d[12] = (uint8_t)(head / 4 << 4);
	d[13] = flags;
	put16(d + 14, p->window);
	put32(d + 16, 0);
	for (i = TCP; i < head; i++)
		d[i] = (uint8_t)rnd_below(16);
	memcpy(d + head, data, n);
	memcpy(pseudo, our_ip, 4);
	memcpy(pseudo + 4, their_ip, 4);
	pseudo[9] = 6;
	put16(pseudo + 10, (uint32_t)(head + n));
	put16(d + 16, folded(sum(sum(0, pseudo, sizeof(pseudo)), d, head + n)));
	return frame_ip(f, 6, d, head + n);
}

void frame_fix(uint8_t *f, size_t length)
{
	uint8_t *h = f + ETHERNET, *d = h + IP, pseudo[4] = { 0 };
	size_t n, at;

	if (length < ETHERNET + IP || get16(f + 12) != 0x0800)
		return;
	at = (size_t)(h[0] & 15) * 4;
	if (at < IP || ETHERNET + at > length)
		return;
	d = h + at;
	n = length - ETHERNET - at;
	put16(h + 2, (uint32_t)(at + n));
	put16(h + 10, 0);
	put16(h + 10, folded(sum(0, h, at)));
	pseudo[1] = h[9];
	put16(pseudo + 2, (uint32_t)n);
	if (h[9] == 17 && n >= 8) {
		put16(d + 6, 0);	/* none */
	} else if (h[9] == 1 && n >= 4) {
		put16(d + 2, 0);
		put16(d + 2, folded(sum(0, d, n)));
	} else if (h[9] == 6 && n >= TCP) {
		put16(d + 16, 0);
		put16(d + 16, folded(sum(sum(sum(0, pseudo, sizeof(pseudo)), h + 12, 8), d, n)));
	}
}

void frame_relate(uint8_t *f, size_t length, const struct peer *p)
{
	uint8_t *t = f + ETHERNET + IP;

	if (length < ETHERNET + IP + TCP)
		return;
	put32(t + 4, get32(t + 4) + p->next);
	put32(t + 8, get32(t + 8) + p->expected);
}

static void fill(uint8_t *to, size_t n)
{
	while (n--)
		*to++ = (uint8_t)rnd();
}

/* A part of a packet, of which others may overlap or lack. */
static size_t fragment(uint8_t *f, const uint8_t *data, size_t n)
{
	static const uint8_t protocols[] = { 1, 6, 17 };
	size_t length = frame_ip(f, protocols[rnd_below(3)], data, n);
	uint8_t *h = f + ETHERNET;

	put16(h + 4, (uint32_t)rnd_below(4));
	put16(h + 6, (uint32_t)(rnd_below(2) << 13 | rnd_below(0x2000) >> rnd_below(13)));
	put16(h + 10, 0);
	put16(h + 10, folded(sum(0, h, IP)));
	return length;
}

size_t frame_hostile(uint8_t *f)
{
	uint8_t data[MOST];
	size_t n = rnd_below(rnd_below(2) ? 1400 : 64), length, i;
	struct peer p = { (uint16_t)rnd(), (uint16_t)(rnd_below(3) + 7), (uint32_t)rnd(),
			  (uint32_t)rnd(), (uint16_t)rnd() };

	fill(data, n);
	switch (rnd_below(6)) {
	case 0: length = frame_arp(f, (unsigned int)rnd_below(4)); break;
	case 1: length = frame_udp(f, p.here, p.there, data, n); break;
	case 2: length = fragment(f, data, n); break;
	case 3: length = frame_tcp(f, &p, (uint8_t)rnd(), data, n, 4 * rnd_below(11)); break;
	case 4:
		data[0] = 8;		/* an echo of ICMP, whose checksum may be right */
		length = frame_ip(f, 1, data, n);
		break;
	default:
		memcpy(f + ETHERNET, data, n);
		length = ethernet(f, (uint32_t)rnd(), n);
	}
	for (i = rnd_below(4); i > 1; i--)
		f[12 + rnd_below(length - 12)] = (uint8_t)rnd();
	return rnd_below(3) ? length : ETHERNET + rnd_below(length - ETHERNET + 1);
}

const uint8_t *frame_segment(const uint8_t *f, size_t length, struct peer *p, uint8_t *flags,
			     size_t *n)
{
	const uint8_t *h = f + ETHERNET, *t = h + IP;
	size_t head;

	if (length < ETHERNET + IP + TCP || get16(f + 12) != 0x0800 || h[9] != 6)
		return NULL;
	head = (size_t)(t[12] >> 4) * 4;
	p->there = (uint16_t)get16(t);
	p->here = (uint16_t)get16(t + 2);
	p->expected = get32(t + 4);
	p->next = get32(t + 8);
	*flags = t[13];
	*n = get16(h + 2) - IP - head;
	return t + head;
}
