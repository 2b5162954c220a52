// SPDX-License-Identifier: GPL-2.0-only
/* lwIP's client of DHCP: an honest server, and a server that answers anything. */
#include <string.h>
#include "../../quest/net/interface.h"
#include "frames.h"
#include "unit.h"

#define UDP		42		/* where the data of a datagram begins in a frame */
#define SERVER		67
#define CLIENT		68
#define OPTIONS		240		/* after BOOTP's fields and the magic number */
#define DISCOVER	1
#define OFFER		2
#define REQUEST		3
#define ACCEPT		5
#define ROUNDS		3000

static const uint8_t address[4] = { 192, 168, 7, 2 }, server[4] = { 192, 168, 7, 1 };
static const uint8_t mask[4] = { 255, 255, 255, 0 };
static unsigned int named;

static uint8_t *option(uint8_t *at, uint8_t number, const uint8_t *value, uint8_t n)
{
	*at++ = number;
	*at++ = n;
	memcpy(at, value, n);
	return at + n;
}

/* Fills in an answer to the request in `f`. Returns its length. */
static size_t answer(const uint8_t *f, uint8_t *d, uint8_t kind)
{
	static const uint8_t lease[4] = { 0, 0, 14, 16 };
	uint8_t *at = d + OPTIONS;

	memcpy(d, f + UDP, OPTIONS);
	d[0] = 2;
	memcpy(d + 16, address, 4);
	at = option(at, 53, &kind, 1);
	at = option(at, 54, server, 4);
	at = option(at, 51, lease, 4);
	at = option(at, 1, mask, 4);
	at = option(at, 3, server, 4);
	*at++ = 255;
	return (size_t)(at - d);
}

/* Returns the kind of the request in a frame; 0: it has none. */
static uint8_t kind_of(const uint8_t *f, size_t length)
{
	const uint8_t *at;
	uint8_t kind = 0;

	if (length < UDP + OPTIONS + 3 || f[23] != 17 || f[37] != SERVER)
		return 0;
	for (at = f + UDP + OPTIONS; at + 2 < f + length && *at != 255; at += 2 + at[1]) {
		if (*at == 53)
			kind = at[2];
		if (*at == 12 && at[1] == 5 && !memcmp(at + 2, "quest", 5))
			named++;
	}
	return kind;
}

/* Serves what the cell sends. `odd`: changes bytes of the answers. */
static void serve(bool odd)
{
	uint8_t f[FRAME_MAX], d[600] = { 0 }, kind;
	size_t length, n, i;

	while ((length = world_sent(f))) {
		kind = kind_of(f, length);
		if (!kind)
			continue;
		n = answer(f, d, kind == DISCOVER ? OFFER : ACCEPT);
		for (i = odd ? rnd_below(6) : 0; i; i--)
			d[rnd_below(2) ? OPTIONS + rnd_below(n - OPTIONS) : rnd_below(n)] =
				(uint8_t)rnd();
		if (odd && !rnd_below(4))
			n = rnd_below(n);
		world_receive(f, frame_udp(f, SERVER, CLIENT, d, n));
	}
}

TEST(dhcp_gives_addresses_and_extends_the_lease)
{
	struct interface_now now;
	unsigned int i;

	world_begin(true);
	CHECK(!interface_now().address[0]);
	for (i = 0; i < 40; i++) {
		serve(false);
		world_work(250000);
	}
	now = interface_now();
	CHECK(!memcmp(now.address, address, 4) && !memcmp(now.gateway, server, 4));
	CHECK_EQ(now.prefix, 24);
	CHECK_EQ(now.lease_s, 3600);
	CHECK(!memcmp(now.server, server, 4) && named >= 2);
	named = 0;
	for (i = 0; i < 3 * 3600; i++) {
		serve(false);
		world_work(1000000);
	}
	CHECK(named && !memcmp(interface_now().address, address, 4));
	/* without a server the lease ends */
	for (i = 0; i < 3700; i++)
		world_work(1000000);
	CHECK(!interface_now().address[0]);
}

TEST(dhcp_survives_odd_answers)
{
	unsigned int i, given = 0;

	world_begin(true);
	for (i = 0; i < ROUNDS; i++) {
		serve(true);
		world_work(rnd_below(4) ? 250000 : 100000000);
		given += interface_now().address[0] != 0;
	}
	CHECK(given > 10 && given < ROUNDS);
}
