/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two directions of a link (wire.h): messages, each of which waits for its turn, and the stream
 * of bytes in them. For threads, with interrupts on. Nothing that the other end does can make a
 * call access memory outside the channel or the caller's buffer.
 */
#ifndef QUEST_MIGRATION_STREAM_H
#define QUEST_MIGRATION_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/end.h>
#include "protocol.h"
#include "wire.h"

struct mig_stream {
	struct qv_end *end;
	unsigned int n;			/* number of the channel (drivers/channel.h) */
	struct mig_message message;	/* copy of the header of the message that was read last */
	/* the message that is written or read, and the place of the next byte in it; NULL: none */
	unsigned char *slot;
	size_t at;
	int error;			/* why a call returned false: an error of errors.h */
};

/*
 * Waits until TSC `until` (UINT64_MAX: no limit) for a message, and copies its header. A message
 * that makes no sense has kind 0 and no payload. Returns false on time-out (ETIMEDOUT), or if the
 * other end is lost (another error).
 */
bool mig_receive(struct mig_stream *s, uint64_t until);

/* Ends the reading of the message: it is this end's turn. Returns false if it was damaged. */
bool mig_release(struct mig_stream *s);

/*
 * Begins a message; its payload is at s->slot + s->at, mig_room() bytes at most. Returns false if
 * it is not this end's turn, or the other end is lost.
 */
bool mig_claim(struct mig_stream *s);
size_t mig_room(const struct mig_stream *s);

/* Makes the message visible, with header->bytes of payload. mig_ring() then wakes its reader. */
bool mig_commit(struct mig_stream *s, const struct mig_message *header);
void mig_ring(struct mig_stream *s);

/*
 * ask.c: writes a message with `bytes` of `body`, and awaits the answer for `us`. Returns 0, and
 * the caller reads the answer and calls mig_release(); or minus an error.
 */
int mig_ask(struct mig_stream *s, enum mig_kind kind, const void *body, uint32_t bytes,
	    uint64_t us);

#endif
