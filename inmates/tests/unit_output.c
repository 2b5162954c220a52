// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <inmate/console.h>
#include "../quest/drivers/output.h"
#include "unit.h"

/* Functions in place of console.c, which needs a screen. */
bool console_fits(size_t n)
{
	return n != 0;
}

void console_wait(void)
{
}

void console_write(const char *text, size_t n)
{
	(void)text;
	(void)n;
}

static size_t part(const char *text)
{
	return output_part(text, strlen(text));
}

TEST(output_scrolls_once_between_pauses)
{
	char lines[OUTPUT_PIECE];

	CHECK(part("no end of a line") == 16 && part("") == 0);
	CHECK(part("one\ntwo\n") == 4 && part("\n\n\n") == 1 && part("a\tb\tc") == 2);
	(void)memset(lines, '\n', sizeof(lines));
	CHECK(output_part(lines, sizeof(lines)) == 1);
}

TEST(output_clears_seldom_between_pauses)
{
	CHECK(part("\033[31mred\033[0m plain") == 18);
	CHECK(part("\033[2J\033[2J\033[2J\033[2J\033[2J") == 12);
	CHECK(part("\033") == 1);
}
