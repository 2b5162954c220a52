/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts the character set of VGA text screens for today's terminals. */
#ifndef QUESH_CP437_H
#define QUESH_CP437_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

/* Returns the character that a screen shows for this byte; never a control character. */
void cp437_put_glyph(struct buf *out, uint8_t byte, bool utf8);

/*
 * Converts the output of a program. Newline and tab stay; other control bytes are dropped, so that
 * no output can control the terminal.
 */
void cp437_put_text(struct buf *out, uint8_t byte, bool utf8);

#endif
