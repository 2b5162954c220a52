/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the output stream of a cell, which may write at the same time. Nothing in it is trusted. */
#ifndef QUESH_STREAM_H
#define QUESH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <qv/cell.h>

#include "buf.h"

struct stream {
	const volatile uint8_t *ring;	/* QV_STREAM_LEN bytes */
	const volatile uint32_t *head;	/* bytes ever written, mod 2^32 */
	uint32_t pos;			/* next byte to read */
	uint64_t lost;			/* bytes overwritten before they were read */
};

/* Starts with the next byte that the cell writes. */
void stream_init(struct stream *stream, const volatile uint8_t *ring, const volatile uint32_t *head);

/* Copies new bytes, at most `room`. Counts overwritten bytes. */
size_t stream_read(struct stream *stream, uint8_t *to, size_t room);

/* Whether the last byte written says that a shell is ready for a line. */
bool stream_is_ready(const struct stream *stream);

/* The shell's prompt: printable bytes between the last newline and that READY. */
void stream_prompt(const struct stream *stream, bool utf8, struct buf *prompt);

#endif
