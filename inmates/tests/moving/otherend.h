/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of migration/stream.h: the test answers for the cell at the other end of a link. */
#ifndef MOVING_OTHEREND_H
#define MOVING_OTHEREND_H

#include "../../quest/migration/link.h"

extern struct mig_message otherend_sent;	/* the last message that was sent; kind 0: none */

/*
 * Is called while the sender awaits the answer. Fills in s->message, and the body at
 * s->slot + s->at. Returns false if the other end does not answer.
 */
extern bool (*otherend_answer)(struct mig_stream *s);

#endif
