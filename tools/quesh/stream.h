/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the output stream of a cell, which may write at the same time. The code trusts no data in
 * it.
 */
#ifndef QUESH_STREAM_H
#define QUESH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <qv/cell.h>

#include "buf.h"

struct stream {
	const volatile uint8_t *ring;	/* the ring in the cell's window: QV_STREAM_LEN bytes */
	const volatile uint32_t *head;	/* number of bytes ever written, mod 2^32 */
	uint32_t pos;			/* number of the next byte to read */
	uint64_t lost;			/* number of bytes overwritten before they were read */
};

/* Reading starts with the next byte that the cell writes. */
void stream_init(struct stream *stream, const volatile uint8_t *ring,
		 const volatile uint32_t *head);

/* Copies new bytes, at most `room`. Counts overwritten bytes. */
size_t stream_read(struct stream *stream, uint8_t *to, size_t room);

/*
 * Returns whether the last byte is READY, which means that a shell waits for a line. If so, reading
 * starts behind it: nothing that comes between this check and the line is missed.
 */
bool stream_at_ready(struct stream *stream);

/* Finds the shell's prompt: the printable bytes between the last newline and that READY. */
void stream_prompt(const struct stream *stream, bool utf8, struct buf *prompt);

#endif
