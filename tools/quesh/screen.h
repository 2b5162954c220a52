/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws a cell's 80x25 screen on a terminal. Only changes are drawn. A smaller terminal shows the
 * part with the cursor. A status line is drawn if there is one.
 */
#ifndef QUESH_SCREEN_H
#define QUESH_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include <qv/cell.h>

#include "buf.h"

#define SCREEN_CELLS	(QV_SCREEN_COLS * QV_SCREEN_ROWS)

/* A copy of the cell's screen: the low byte is the character, the high byte the attribute */
struct frame {
	uint16_t cell[SCREEN_CELLS];
	uint32_t cursor;	/* cursor position; SCREEN_CELLS or more: hidden */
};

struct painter {
	struct frame shown;
	bool valid;		/* the terminal shows the content of .shown */
	bool utf8;
	int rows, cols;		/* the terminal's */
	int top, left;		/* the first row and column of the cell's screen in view */
	char status[128];	/* text of the status line in the last row; empty: no status line */

	/* cursor position of the terminal while drawing; -1: unknown */
	int at_row, at_col, attr;
};

void painter_init(struct painter *painter, int rows, int cols, bool utf8);
void painter_resize(struct painter *painter, int rows, int cols);
void painter_set_status(struct painter *painter, const char *text);

/* Adds to `out` the bytes that make the terminal show this frame. */
void painter_draw(struct painter *painter, const struct frame *frame, struct buf *out);

/* Returns the frame as lines of text, without trailing blanks and blank lines. */
void frame_to_text(const struct frame *frame, bool utf8, struct buf *out);

#endif
