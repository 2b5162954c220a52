/* SPDX-License-Identifier: GPL-2.0-only */
/* The character set of VGA text screens, for terminals of today. */
#ifndef QUESH_CP437_H
#define QUESH_CP437_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

/* What a screen shows for this byte: never a control character. */
void cp437_put_glyph(struct buf *out, uint8_t byte, bool utf8);

/*
 * What a program printed: newline and tab stay, other control bytes are
 * dropped, so that nothing printed can act upon a terminal.
 */
void cp437_put_text(struct buf *out, uint8_t byte, bool utf8);

#endif
