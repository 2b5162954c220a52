// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "screen.h"
#include "unit.h"
#include "vt.h"

static struct painter painter;
static struct frame frame;
static struct buf out;
static struct vt vt;

static void begin(int rows, int cols)
{
	memset(&frame, 0, sizeof(frame));
	for (int i = 0; i < SCREEN_CELLS; i++)
		frame.cell[i] = 0x0720;
	vt_init(&vt, rows, cols);
	painter_init(&painter, rows, cols, false);
}

static void write_at(int row, int col, int attr, const char *text)
{
	for (int i = 0; text[i]; i++)
		frame.cell[row * 80 + col + i] = (uint16_t)(attr << 8 | (unsigned char)text[i]);
}

static size_t draw(void)
{
	buf_clear(&out);
	painter_draw(&painter, &frame, &out);
	if (out.len)
		vt_feed(&vt, out.data);
	CHECK(!vt.bad);
	return out.len;
}

TEST(draws_text_colours_and_cursor)
{
	begin(25, 80);
	write_at(0, 0, 0x1f, "Quest");
	write_at(24, 75, 0xc1, "right");
	frame.cursor = 3 * 80 + 7;
	draw();
	CHECK(vt_shows(&vt, 0, 0, "Quest"));
	CHECK(vt_shows(&vt, 24, 75, "right"));
	CHECK(vt.attr[0][0] == 0x1f);
	CHECK(vt.attr[24][79] == 0xc1);
	CHECK(vt.row == 3 && vt.col == 7 && vt.cursor);
}

TEST(draws_only_what_changed)
{
	begin(25, 80);
	draw();
	CHECK(draw() == 0);
	write_at(10, 10, 0x07, "x");
	CHECK(draw() < 60);
	CHECK(vt_shows(&vt, 10, 10, "x "));
	frame.cursor = 5;
	CHECK(draw() < 40);
	CHECK(vt.row == 0 && vt.col == 5);
}

TEST(every_attribute)
{
	begin(25, 80);
	for (int attr = 0; attr < 256; attr++)
		frame.cell[attr] = (uint16_t)(attr << 8 | 'a');
	draw();
	for (int attr = 0; attr < 256; attr++)
		CHECK(vt.attr[attr / 80][attr % 80] == attr);
}

TEST(hides_a_cursor_that_is_nowhere)
{
	begin(25, 80);
	frame.cursor = 2000;
	draw();
	CHECK(!vt.cursor);
	frame.cursor = 0xffffffff;
	draw();
	CHECK(!vt.cursor);
	frame.cursor = 1999;
	draw();
	CHECK(vt.cursor && vt.row == 24 && vt.col == 79);
}

TEST(small_terminal_shows_the_cursor)
{
	begin(10, 40);
	for (int row = 0; row < 25; row++)
		write_at(row, 0, 7, (char[]){ (char)('a' + row), 0 });
	write_at(24, 70, 7, "end");
	frame.cursor = 24 * 80 + 73;
	draw();
	CHECK(vt.cursor && vt.row == 9 && vt.col == 39);
	CHECK(vt_shows(&vt, 9, 36, "end"));
	frame.cursor = 0;
	draw();
	CHECK(vt.row == 0 && vt.col == 0);
	CHECK(vt_shows(&vt, 0, 0, "a"));
	CHECK(vt_shows(&vt, 9, 0, "j"));
}

TEST(follows_resizes)
{
	begin(25, 80);
	write_at(24, 0, 7, "bottom");
	frame.cursor = 24 * 80;
	draw();
	painter_resize(&painter, 5, 20);
	vt_init(&vt, 5, 20);
	draw();
	CHECK(vt_shows(&vt, 4, 0, "bottom"));
	painter_resize(&painter, 50, 150);
	vt_init(&vt, 50, 150);
	draw();
	CHECK(vt_shows(&vt, 24, 0, "bottom"));
	painter_resize(&painter, 1, 1);
	vt_init(&vt, 1, 1);
	draw();
	CHECK(vt_shows(&vt, 0, 0, "b"));
	painter_resize(&painter, 0, 0);
	CHECK(painter.rows == 24 && painter.cols == 80);
}

TEST(status_line)
{
	begin(26, 80);
	write_at(24, 0, 7, "last");
	painter_set_status(&painter, "view only");
	draw();
	CHECK(vt_shows(&vt, 25, 0, "view only"));
	CHECK(vt_shows(&vt, 24, 0, "last"));
	begin(25, 8);
	painter_set_status(&painter, "view only: long");
	frame.cursor = 24 * 80;
	write_at(24, 0, 7, "last");
	draw();
	CHECK(vt_shows(&vt, 24, 0, "view onl"));
	CHECK(vt_shows(&vt, 23, 0, "last"));
	begin(1, 80);
	painter_set_status(&painter, "s");
	draw();
}

/* Any frame, any size: never a byte outside the terminal. */
TEST(random_frames)
{
	unsigned int seed = 1;

	for (int round = 0; round < 300; round++) {
		begin(1 + rand_r(&seed) % 40, 1 + rand_r(&seed) % 120);
		for (int i = 0; i < SCREEN_CELLS; i++)
			frame.cell[i] = (uint16_t)rand_r(&seed);
		frame.cursor = (uint32_t)rand_r(&seed) % 2100;
		draw();
		frame.cell[rand_r(&seed) % SCREEN_CELLS] ^= 0x5555;
		frame.cursor = (uint32_t)rand_r(&seed) % 2100;
		draw();
	}
}

TEST(as_text)
{
	begin(25, 80);
	buf_clear(&out);
	frame_to_text(&frame, false, &out);
	CHECK(out.len == 0);
	write_at(1, 0, 7, "one");
	write_at(3, 2, 7, "two \x1b");
	frame_to_text(&frame, false, &out);
	CHECK(!strcmp(out.data, "\none\n\n  two ?\n"));
}
