// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "line.h"
#include "unit.h"

static struct buf out;

/* Feeds the stream of an answer in pieces of `piece` bytes. Returns the output. */
static const char *answer(const char *stream, size_t piece, bool *done)
{
	struct answer answer;
	size_t len = strlen(stream), at, part;

	buf_clear(&out);
	buf_puts(&out, "");
	answer_init(&answer, "cmd", "quest> ", false);
	for (at = 0; at < len && !answer.done; at += part) {
		part = len - at < piece ? len - at : piece;
		answer_feed(&answer, (const uint8_t *)stream + at, part, &out);
	}
	*done = answer.done;
	if (!answer.done)
		answer_flush(&answer, &out);
	answer_free(&answer);
	return out.data;
}

static void expect(const char *stream, const char *wanted, bool ends)
{
	for (size_t piece = 1; piece < 40; piece++) {
		bool done;

		CHECK(!strcmp(answer(stream, piece, &done), wanted));
		CHECK(done == ends);
	}
}

TEST(strips_echo_and_prompt)
{
	expect("cmd\r\nout\r\nquest> \x04", "out\n", true);
	expect("cmd\nquest> \x04", "", true);
	expect("quest> cmd\nout\nquest> \x04", "out\n", true);
	expect("cmd\na\n\nb\nquest> \x04", "a\n\nb\n", true);
}

TEST(line_is_shown_again_behind_others_output)
{
	expect("cm\r\033[Kother\nquest> cmd\nout\nquest> \x04", "other\nout\n", true);
	expect("quest> \r\033[Kother\nquest> cmd\nquest> cmd\nquest> \x04", "other\nquest> cmd\n",
	       true);
	expect("cmd\n\r\033[31mred\nquest> \x04", "red\n", true);
}

TEST(prompt_shown_again_is_not_the_end)
{
	expect("\r\033[Kother\nquest> \x04" "cmd\nout\nquest> \x04", "other\nout\n", true);
	expect("\r\033[Kother\nquest> \x04\r\033[Kmore\nquest> \x04" "cmd\nquest> \x04",
	       "other\nmore\n", true);
	expect("\r\033[Kother\nquest> \x04", "other\n", false);
	expect("\r\033[Kother\nquest> cmd\nquest> \x04", "other\n", true);
	expect("cmd\n\r\033[Kout\nquest> \x04", "out\n", true);
	/* the cursor is in column 0, so the shell prints no LF before its prompt */
	expect("\r\033[K50%\rquest> cmd\nout\nquest> \x04", "50%\nout\n", true);
	expect("50%\rquest> cmd\nquest> \x04", "50%quest> cmd\n", true);
}

TEST(keeps_what_is_output)
{
	expect("out\ncmd\nquest> \x04", "out\ncmd\n", true);
	expect("cmd\ncmd\nquest> \x04", "cmd\n", true);
	expect("cmd\nno newlinequest> \x04", "no newline\n", true);
	expect("cmd\nother> \x04", "other> \n", true);
}

TEST(drops_controls)
{
	expect("cmd\n\x1b[31mred\x07\x7f\tx\r\nquest> \x04", "red\tx\n", true);
}

TEST(drops_escape_sequences_whole)
{
	expect("cmd\n\x1b[1;92mgreen\x1b[0m, \x1b[2J\x1b[10;20Hx\nquest> \x04", "green, x\n",
	       true);
	expect("cmd\n\x1b]0;title\x07" "a\x1b]8;;http://x\x1b\\b\x1bPq1\x1b\\c\nquest> \x04",
	       "abc\n", true);
	expect("cmd\n\x1b(Bascii\x1b" "7\x1b\x1b[Kend\nquest> \x04", "asciiend\n", true);
	expect("cmd\n\x1b]0;never ends\nnext\n\x1b[31\nlast\nquest> \x04", "\nnext\n\nlast\n",
	       true);
	expect("cmd\nout\n\x1b]0;never ends\x04", "out\n", true);
}

TEST(ends_without_the_end)
{
	expect("cmd\nhalf", "half\n", false);
	expect("", "", false);
}

TEST(stops_at_ready)
{
	struct answer one;
	const uint8_t bytes[] = "cmd\nquest> \x04more";

	buf_clear(&out);
	answer_init(&one, "cmd", "quest> ", false);
	CHECK(answer_feed(&one, bytes, sizeof(bytes) - 1, &out) == sizeof(bytes) - 5);
	answer_free(&one);
}

TEST(holds_back_a_bounded_line)
{
	struct answer one;

	buf_clear(&out);
	answer_init(&one, "cmd", "", false);
	for (int i = 0; i < 100000; i++)
		answer_feed(&one, (const uint8_t *)"x", 1, &out);
	CHECK(out.len > 90000 && one.line.room < 10000);
	answer_free(&one);
}

TEST(valid_commands)
{
	CHECK(command_is_valid(""));
	CHECK(command_is_valid("crash memory 0x1000"));
	CHECK(!command_is_valid("two\nlines"));
	CHECK(!command_is_valid("\x1b[A"));
	CHECK(!command_is_valid("\x7f"));
}
