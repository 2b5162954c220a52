// SPDX-License-Identifier: GPL-2.0-only
#include "screen.h"

#include <stdio.h>
#include <string.h>

#include "cp437.h"

#define ESC	"\033"

/* The colour numbers of terminals, indexed by those of VGA: blue and red are swapped. */
static const int ansi_colour[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };

static int min(int a, int b)
{
	return a < b ? a : b;
}

void painter_init(struct painter *painter, int rows, int cols, bool utf8)
{
	memset(painter, 0, sizeof(*painter));
	painter->utf8 = utf8;
	painter_resize(painter, rows, cols);
}

void painter_resize(struct painter *painter, int rows, int cols)
{
	painter->rows = rows > 0 ? rows : 24;
	painter->cols = cols > 0 ? cols : 80;
	painter->valid = false;
}

void painter_set_status(struct painter *painter, const char *text)
{
	if (!strcmp(painter->status, text))
		return;
	snprintf(painter->status, sizeof(painter->status), "%s", text);
	painter->valid = false;
}

/* Returns the number of rows of the cell's screen in view. The status line takes one row. */
static int view_rows(const struct painter *painter)
{
	int rows = painter->rows - (painter->status[0] ? 1 : 0);

	return min(rows > 0 ? rows : 1, QV_SCREEN_ROWS);
}

static int view_cols(const struct painter *painter)
{
	return min(painter->cols, QV_SCREEN_COLS);
}

/*
 * Returns where a view of `shown` out of `all` positions begins: as near to `start` as possible,
 * with `want` in view.
 */
static int scrolled(int start, int shown, int all, int want)
{
	if (want < start)
		start = want;
	if (want >= start + shown)
		start = want - shown + 1;
	if (start > all - shown)
		start = all - shown;
	return start > 0 ? start : 0;
}

static void follow_cursor(struct painter *painter, uint32_t cursor)
{
	int row = painter->top, col = painter->left;
	int top, left;

	if (cursor < SCREEN_CELLS) {
		row = (int)cursor / QV_SCREEN_COLS;
		col = (int)cursor % QV_SCREEN_COLS;
	}
	top = scrolled(painter->top, view_rows(painter), QV_SCREEN_ROWS, row);
	left = scrolled(painter->left, view_cols(painter), QV_SCREEN_COLS, col);
	if (top != painter->top || left != painter->left)
		painter->valid = false;
	painter->top = top;
	painter->left = left;
}

static void move_to(struct painter *painter, int row, int col, struct buf *out)
{
	if (painter->at_row == row && painter->at_col == col)
		return;
	buf_printf(out, ESC "[%d;%dH", row + 1, col + 1);
	painter->at_row = row;
	painter->at_col = col;
}

static void set_attribute(struct painter *painter, int attr, struct buf *out)
{
	int fg = attr & 0xf, bg = attr >> 4;

	if (painter->attr == attr)
		return;
	buf_printf(out, ESC "[0;%d;%dm", (fg & 8 ? 90 : 30) + ansi_colour[fg & 7],
		   (bg & 8 ? 100 : 40) + ansi_colour[bg & 7]);
	painter->attr = attr;
}

static void draw_cell(struct painter *painter, int row, int col, uint16_t cell, struct buf *out)
{
	move_to(painter, row, col, out);
	set_attribute(painter, cell >> 8, out);
	cp437_put_glyph(out, (uint8_t)cell, painter->utf8);
	/* terminals put the cursor at different positions after the last column */
	painter->at_col = col + 1 < painter->cols ? col + 1 : -1;
}

static void draw_status(struct painter *painter, struct buf *out)
{
	int len = min((int)strlen(painter->status), painter->cols);

	if (!len)
		return;
	buf_printf(out, ESC "[%d;1H" ESC "[0;7m", painter->rows);
	buf_put(out, painter->status, (size_t)len);
	buf_puts(out, ESC "[0m" ESC "[K");
	painter->at_row = -1;
	painter->attr = -1;
}

static void draw_cursor(struct painter *painter, uint32_t cursor, struct buf *out)
{
	int row = (int)(cursor / QV_SCREEN_COLS) - painter->top;
	int col = (int)(cursor % QV_SCREEN_COLS) - painter->left;

	if (cursor >= SCREEN_CELLS) {
		buf_puts(out, ESC "[?25l");
		return;
	}
	painter->at_row = -1;
	move_to(painter, row, col, out);
	buf_puts(out, ESC "[?25h");
}

static bool same(const struct painter *painter, const struct frame *frame)
{
	return painter->valid && painter->shown.cursor == frame->cursor &&
	       !memcmp(painter->shown.cell, frame->cell, sizeof(frame->cell));
}

void painter_draw(struct painter *painter, const struct frame *frame, struct buf *out)
{
	int row, col;
	bool all;

	if (same(painter, frame))
		return;
	follow_cursor(painter, frame->cursor);
	all = !painter->valid;
	painter->at_row = painter->at_col = painter->attr = -1;
	buf_puts(out, ESC "[?25l");
	if (all)
		buf_puts(out, ESC "[0m" ESC "[2J");
	for (row = 0; row < view_rows(painter); row++) {
		for (col = 0; col < view_cols(painter); col++) {
			int i = (row + painter->top) * QV_SCREEN_COLS + col + painter->left;

			if (all || painter->shown.cell[i] != frame->cell[i])
				draw_cell(painter, row, col, frame->cell[i], out);
		}
	}
	if (all)
		draw_status(painter, out);
	draw_cursor(painter, frame->cursor, out);
	painter->shown = *frame;
	painter->valid = true;
}

static bool is_blank(uint16_t cell)
{
	uint8_t byte = (uint8_t)cell;

	return byte == 0 || byte == ' ' || byte == 0xff;
}

void frame_to_text(const struct frame *frame, bool utf8, struct buf *out)
{
	int row, col, cols, newlines = 0;

	for (row = 0; row < QV_SCREEN_ROWS; row++) {
		const uint16_t *line = &frame->cell[row * QV_SCREEN_COLS];

		for (cols = QV_SCREEN_COLS; cols && is_blank(line[cols - 1]); cols--)
			;
		for (; cols && newlines; newlines--)
			buf_putc(out, '\n');
		for (col = 0; col < cols; col++)
			cp437_put_glyph(out, (uint8_t)line[col], utf8);
		newlines++;
	}
	if (out->len)
		buf_putc(out, '\n');
}
