/* SPDX-License-Identifier: GPL-2.0-only */
/* A terminal with only the functions that quesh uses, for tests of its screen. */
#ifndef TESTS_VT_H
#define TESTS_VT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VT_ROWS	60
#define VT_COLS	200

struct vt {
	int rows, cols, row, col, fg, bg;
	bool cursor, bad;
	char cell[VT_ROWS][VT_COLS];
	/* colours: fg | bg << 4 in VGA's order; 0xff: another colour */
	unsigned char attr[VT_ROWS][VT_COLS];
};

static const int vt_vga[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };

static void vt_init(struct vt *vt, int rows, int cols)
{
	memset(vt, 0, sizeof(*vt));
	memset(vt->cell, ' ', sizeof(vt->cell));
	vt->rows = rows;
	vt->cols = cols;
}

static void vt_sgr(struct vt *vt, int value)
{
	if (value == 0 || value == 7)
		vt->fg = vt->bg = 7;
	else if (value >= 30 && value < 38)
		vt->fg = vt_vga[value - 30];
	else if (value >= 90 && value < 98)
		vt->fg = 8 + vt_vga[value - 90];
	else if (value >= 40 && value < 48)
		vt->bg = vt_vga[value - 40];
	else if (value >= 100 && value < 108)
		vt->bg = 8 + vt_vga[value - 100];
	else
		vt->bad = true;
}

static const char *vt_escape(struct vt *vt, const char *at)
{
	int value[4] = { 0 }, values = 0;
	bool question = *at == '?';

	at += question;
	for (; (*at >= '0' && *at <= '9') || *at == ';'; at++) {
		if (*at == ';')
			values++;
		else if (values < 4)
			value[values] = value[values] * 10 + *at - '0';
	}
	if (*at == 'H') {
		vt->row = value[0] - 1;
		vt->col = value[1] - 1;
	} else if (*at == 'm') {
		for (int i = 0; i <= values; i++)
			vt_sgr(vt, value[i]);
	} else if (*at == 'J') {
		memset(vt->cell, ' ', sizeof(vt->cell));
	} else if (question && value[0] == 25) {
		vt->cursor = *at == 'h';
	} else if (*at != 'K') {
		vt->bad = true;
	}
	return at + 1;
}

static void vt_feed(struct vt *vt, const char *at)
{
	while (*at) {
		if (at[0] == '\033' && at[1] == '[') {
			at = vt_escape(vt, at + 2);
			continue;
		}
		if (vt->row < 0 || vt->row >= vt->rows || vt->col < 0 || vt->col >= vt->cols ||
		    *at < 0x20) {
			vt->bad = true;
			return;
		}
		vt->attr[vt->row][vt->col] = (unsigned char)(vt->fg | vt->bg << 4);
		vt->cell[vt->row][vt->col++] = *at++;
	}
}

static bool vt_shows(const struct vt *vt, int row, int col, const char *text)
{
	return !memcmp(&vt->cell[row][col], text, strlen(text));
}

#endif
