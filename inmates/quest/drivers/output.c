// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <qv/cell.h>
#include "output.h"

bool output_ready(void)
{
	return console_fits(OUTPUT_PIECE);
}

void output_wait(void)
{
	console_wait();
}

void output_write(char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (text[i] == QV_STREAM_READY)
			text[i] = '?';
	console_write(text, n);
}
