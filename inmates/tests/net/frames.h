/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames of the other machine, 192.168.7.1, to the world's interface. */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include "world.h"

#define FIN	0x01
#define SYN	0x02
#define RST	0x04
#define PSH	0x08
#define ACK	0x10

/* A connection as the other machine knows it; ports in the order of the processor */
struct peer {
	uint16_t here, there;
	uint32_t next, expected;	/* numbers of our next byte, and of the next one to come */
	uint16_t window;
};

/* They fill in `f`, and return the length. `options`: bytes of options of TCP, a multiple of 4 */
size_t frame_arp(uint8_t *f, unsigned int operation);
size_t frame_ip(uint8_t *f, uint8_t protocol, const void *data, size_t n);
size_t frame_udp(uint8_t *f, uint16_t from, uint16_t to, const void *data, size_t n);
size_t frame_tcp(uint8_t *f, const struct peer *p, uint8_t flags, const void *data, size_t n,
		 size_t options);

/* A frame that no honest machine sends. */
size_t frame_hostile(uint8_t *f);

/* Sets the right length and checksums of a packet of IPv4; UDP: no checksum. */
void frame_fix(uint8_t *f, size_t length);

/* Adds the numbers of a connection to those of a segment. */
void frame_relate(uint8_t *f, size_t length, const struct peer *p);

/* Returns the TCP segment in a frame, or NULL; `flags` and `n` are those of the segment. */
const uint8_t *frame_segment(const uint8_t *f, size_t length, struct peer *p, uint8_t *flags,
			     size_t *n);

#endif
