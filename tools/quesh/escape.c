// SPDX-License-Identifier: GPL-2.0-only
#include "escape.h"

#include <qv/cell.h>

#define ESC	0x1b
#define BEL	0x07

static bool enter(struct escape *escape, int state)
{
	escape->state = state;
	return true;
}

/* The byte behind ESC. 0x20 to 0x2f come before the last byte, which is 0x30 or more. */
static bool begin(struct escape *escape, uint8_t byte)
{
	if (byte == '[')
		return enter(escape, ESCAPE_CONTROL);
	if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')
		return enter(escape, ESCAPE_STRING);
	if (byte >= 0x20 && byte < 0x30)
		return true;
	escape->state = ESCAPE_OUTSIDE;
	return byte >= 0x30 && byte < 0x7f;
}

bool escape_takes(struct escape *escape, uint8_t byte)
{
	bool in_string = escape->state == ESCAPE_STRING || escape->state == ESCAPE_STRING_ESC;

	if (byte == '\n' || byte == QV_STREAM_READY) {
		escape->state = ESCAPE_OUTSIDE;
		return false;
	}
	if (byte == ESC)
		return enter(escape, in_string ? ESCAPE_STRING_ESC : ESCAPE_BEGUN);
	switch (escape->state) {
	case ESCAPE_BEGUN:
		return begin(escape, byte);
	case ESCAPE_CONTROL:
		return byte >= 0x40 && byte < 0x7f ? enter(escape, ESCAPE_OUTSIDE) : true;
	case ESCAPE_STRING:
		return byte == BEL ? enter(escape, ESCAPE_OUTSIDE) : true;
	case ESCAPE_STRING_ESC:
		/* ESC \ ends a string; any other byte begins another sequence */
		return byte == '\\' ? enter(escape, ESCAPE_OUTSIDE) : begin(escape, byte);
	default:
		return false;
	}
}
