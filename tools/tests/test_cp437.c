// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "cp437.h"
#include "unit.h"

static const char *glyph(uint8_t byte, bool utf8)
{
	static struct buf out;

	buf_clear(&out);
	cp437_put_glyph(&out, byte, utf8);
	return out.data;
}

TEST(ascii_is_itself)
{
	CHECK(!strcmp(glyph('A', false), "A"));
	CHECK(!strcmp(glyph('~', true), "~"));
	CHECK(!strcmp(glyph(' ', true), " "));
	CHECK(!strcmp(glyph(0, true), " "));
}

TEST(boxes)
{
	CHECK(!strcmp(glyph(0xc4, true), "─"));
	CHECK(!strcmp(glyph(0xb3, true), "│"));
	CHECK(!strcmp(glyph(0xc9, true), "╔"));
	CHECK(!strcmp(glyph(0xdb, true), "█"));
	CHECK(!strcmp(glyph(0xe1, true), "ß"));
	CHECK(!strcmp(glyph(0xc4, false), "-"));
	CHECK(!strcmp(glyph(0xba, false), "|"));
	CHECK(!strcmp(glyph(0xc9, false), "+"));
}

/* For no byte may the output contain a character that a terminal acts upon. */
TEST(nothing_acts_on_the_terminal)
{
	for (int utf8 = 0; utf8 < 2; utf8++) {
		for (int byte = 0; byte < 256; byte++) {
			const unsigned char *text = (const void *)glyph((uint8_t)byte, utf8);

			CHECK(text[0] >= 0x20 && text[0] != 0x7f);
			CHECK(utf8 || (!text[1] && text[0] < 0x7f));
			CHECK(!(text[0] == 0xc2 && text[1] < 0xa0));	/* C1 controls */
		}
	}
}

TEST(text_keeps_newline_and_tab_only)
{
	struct buf out = { 0 };

	for (int byte = 0; byte < 256; byte++)
		cp437_put_text(&out, (uint8_t)byte, false);
	for (size_t i = 0; i < out.len; i++)
		CHECK((out.data[i] >= 0x20 && out.data[i] < 0x7f) || out.data[i] == '\n' ||
		      out.data[i] == '\t');
	CHECK(out.len == 2 + 95 + 128);
	buf_free(&out);
}
