// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <qv/cell.h>
#include "output.h"

#define ESCAPE	0x1B
#define ESCAPES	3		/* sequences in a part: each may clear the screen */

bool output_ready(void)
{
	return console_fits(OUTPUT_PIECE);
}

void output_wait(void)
{
	console_wait();
}

size_t output_part(const char *text, size_t n)
{
	size_t i, escapes = 0;

	for (i = 0; i < n; i++) {
		if (text[i] == ESCAPE && escapes++ == ESCAPES)
			return i;
		if (text[i] == '\n' || text[i] == '\t')
			return i + 1;
	}
	return n;
}

void output_write(char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (text[i] == QV_STREAM_READY)
			text[i] = '?';
	console_write(text, n);
}
