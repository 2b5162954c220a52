// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/screen.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

static uint16_t cells[SCREEN_CELLS];
static struct screen s;

static void fresh(const char *text)
{
	screen_init(&s, cells);
	screen_write(&s, text, strlen(text));
}

TEST(screen_text_and_lines)
{
	fresh("ab\ncd\re");
	CHECK(cells[0] == 0x0761 && cells[1] == 0x0762);
	CHECK(cells[80] == 0x0765 && cells[81] == 0x0764);
	CHECK(s.cursor == 81);
	CHECK(cells[2] == 0x0720 && cells[1999] == 0x0720);
}

TEST(screen_scrolls)
{
	int i;

	fresh("first");
	for (i = 0; i < 24; i++)
		screen_write(&s, "\n", 1);
	CHECK((cells[0] & 0xFF) == 'f');
	screen_write(&s, "\nx", 2);
	CHECK((cells[0] & 0xFF) == ' ');
	CHECK(s.cursor == 24 * 80 + 1 && (cells[24 * 80] & 0xFF) == 'x');
}

TEST(screen_wraps_at_the_end)
{
	int i;

	fresh("");
	for (i = 0; i < 2001; i++)
		screen_write(&s, "z", 1);
	CHECK(s.cursor == 24 * 80 + 1);
	CHECK((cells[24 * 80] & 0xFF) == 'z' && (cells[24 * 80 + 1] & 0xFF) == ' ');
}

TEST(screen_backspace_and_tab)
{
	fresh("a\tb\b\b\b");
	CHECK(s.cursor == 6);
	CHECK((cells[8] & 0xFF) == 'b');
	fresh("\b");
	CHECK(s.cursor == 0);
}

TEST(screen_colours)
{
	fresh("\033[31mr\033[97;41mw\033[0mn\033[1;34mb\033[7mi");
	CHECK(cells[0] == (0x0400 | 'r'));
	CHECK(cells[1] == (0x4F00 | 'w'));
	CHECK(cells[2] == (0x0700 | 'n'));
	CHECK(cells[3] == (0x0900 | 'b'));
	CHECK(cells[4] == (0x9000 | 'i'));
}

TEST(screen_erases_and_moves)
{
	fresh("hello\033[3D\033[K!");
	CHECK((cells[1] & 0xFF) == 'e' && (cells[2] & 0xFF) == '!' && (cells[3] & 0xFF) == ' ');
	screen_write(&s, "\033[2J\033[H*", 8);
	CHECK((cells[0] & 0xFF) == '*' && (cells[1] & 0xFF) == ' ' && s.cursor == 1);
	screen_write(&s, "\033[99;99H", 8);
	CHECK(s.cursor == 1999);
	screen_write(&s, "\033[3;5H", 6);
	CHECK(s.cursor == 2 * 80 + 4);
}

TEST(screen_survives_random_bytes)
{
	static const char alphabet[] = "\033\033\033[[;;0123456789mKJHCD\n\r\b\tzq\177\200\377";
	char c;
	int i;

	srand(2);
	fresh("");
	for (i = 0; i < 200000; i++) {
		c = alphabet[rand() % (sizeof(alphabet) - 1)];
		screen_write(&s, &c, 1);
		CHECK(s.cursor < SCREEN_CELLS);
	}
}
