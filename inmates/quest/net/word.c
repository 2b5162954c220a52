// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "word.h"

#define PREFIX_MAX	30

/* The part of the word that is not read yet. */
struct rest {
	const char *at;
	size_t length;
};

static bool take(struct rest *r, const char *text)
{
	size_t n = strlen(text);

	if (r->length < n || memcmp(r->at, text, n))
		return false;
	r->at += n;
	r->length -= n;
	return true;
}

/* Reads a decimal number of at most three digits, without needless zeros before it. */
static bool number(struct rest *r, unsigned int max, unsigned int *value)
{
	unsigned int digits;

	for (*value = digits = 0; r->length && *r->at >= '0' && *r->at <= '9' && digits < 3;
	     r->at++, r->length--, digits++) {
		if (digits && !*value)
			return false;
		*value = *value * 10 + (unsigned int)(*r->at - '0');
	}
	return digits && *value <= max;
}

static bool address(struct rest *r, uint8_t out[4])
{
	unsigned int i, value;

	for (i = 0; i < 4; i++) {
		if ((i && !take(r, ".")) || !number(r, 255, &value))
			return false;
		out[i] = (uint8_t)value;
	}
	return true;
}

static uint32_t bits(const uint8_t a[4])
{
	return (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];
}

/* Returns whether one interface can have the address: neither the network nor a group has it. */
static bool usable(const struct net_wish *w)
{
	uint32_t host = bits(w->address) & ~0u >> w->prefix;

	return host && host != ~0u >> w->prefix && w->address[0] && w->address[0] != 127 &&
	       w->address[0] < 224;
}

static bool near(const struct net_wish *w)
{
	return !((bits(w->address) ^ bits(w->gateway)) >> (32 - w->prefix)) &&
	       bits(w->address) != bits(w->gateway);
}

/* Reads share:NAME, if it is there. Returns whether it can be read. */
static bool read_share(struct rest *r, struct net_wish *wish)
{
	size_t n;

	if (!take(r, "share:"))
		return true;
	for (n = 0; n < r->length && r->at[n] != ','; n++)
		;
	if (!n || n > NETWORD_NAME || n == r->length)
		return false;
	memcpy(wish->share, r->at, n);
	r->at += n + 1;
	r->length -= n + 1;
	return true;
}

/* Reads the name of the program behind `apart`, if it is there. Returns whether it can be read. */
static bool read_program(struct rest *r, struct net_wish *wish)
{
	size_t n;

	if (!take(r, "=")) {
		memcpy(wish->driver, NETWORD_DRIVER, sizeof(NETWORD_DRIVER));
		return true;
	}
	for (n = 0; n < r->length && r->at[n] != ','; n++)
		;
	if (!n || n > NETWORD_PROGRAM)
		return false;
	memcpy(wish->driver, r->at, n);
	r->at += n;
	r->length -= n;
	return true;
}

/* Reads the address and its network, or `dhcp`. */
static const char *read_address(struct rest *r, struct net_wish *wish)
{
	wish->dhcp = take(r, "dhcp");
	if (wish->dhcp)
		return NULL;
	if (!address(r, wish->address) || !take(r, "/") || !number(r, PREFIX_MAX, &wish->prefix) ||
	    !wish->prefix)
		return "use net=ADDRESS/PREFIX[,via=GATEWAY], such as net=192.168.7.2/24, or "
		       "net=dhcp; behind it ,polled, ,share or ,apart";
	return usable(wish) ? NULL : "no interface can have that address";
}

const char *netword_read(const char *word, size_t length, struct net_wish *wish)
{
	struct rest r = { word + strlen(NETWORD_KEY), length - strlen(NETWORD_KEY) };
	const char *wrong;
	bool via = false;

	memset(wish, 0, sizeof(*wish));
	if (!read_share(&r, wish))
		return "use net=share:NAME,ADDRESS/PREFIX or net=share:NAME,dhcp";
	wrong = read_address(&r, wish);
	if (wrong)
		return wrong;
	while (r.length) {
		if (!via && !wish->dhcp && take(&r, ",via=")) {
			via = true;
			if (!address(&r, wish->gateway))
				return "via= needs an address, such as via=192.168.7.1";
			if (!near(wish))
				return "the gateway is not in the network of that address";
		} else if (!wish->polled && take(&r, ",polled")) {
			wish->polled = true;
		} else if (!wish->shares && !*wish->share && take(&r, ",share")) {
			wish->shares = true;
		} else if (!*wish->driver && !*wish->share && take(&r, ",apart")) {
			if (!read_program(&r, wish))
				return "apart= needs the name of a program (31 characters at most)";
		} else {
			return "behind the address there is ,via=GATEWAY, ,polled, ,share "
			       "or ,apart; behind dhcp ,polled, ,share or ,apart";
		}
	}
	return NULL;
}
