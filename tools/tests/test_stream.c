// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "stream.h"
#include "unit.h"

static uint8_t ring[QV_STREAM_LEN];
static uint32_t head;
static uint8_t bytes[2 * QV_STREAM_LEN];

static void print(const char *text)
{
	while (*text)
		ring[head++ % QV_STREAM_LEN] = (uint8_t)*text++;
}

static void begin(uint32_t start, struct stream *stream)
{
	memset(ring, 0, sizeof(ring));
	head = start;
	stream_init(stream, ring, &head);
}

TEST(reads_what_is_new)
{
	struct stream stream;

	begin(0, &stream);
	CHECK(stream_read(&stream, bytes, sizeof(bytes)) == 0);
	print("hello");
	CHECK(stream_read(&stream, bytes, sizeof(bytes)) == 5);
	CHECK(!memcmp(bytes, "hello", 5));
	print("more");
	CHECK(stream_read(&stream, bytes, 3) == 3);
	CHECK(stream_read(&stream, bytes, 3) == 1 && bytes[0] == 'e');
	CHECK(stream.lost == 0);
}

TEST(wraps_at_both_ends)
{
	struct stream stream;

	begin(0xfffffffe, &stream);
	print("across");
	CHECK(head == 4);
	CHECK(stream_read(&stream, bytes, sizeof(bytes)) == 6);
	CHECK(!memcmp(bytes, "across", 6));
	CHECK(stream.lost == 0);
}

TEST(counts_what_was_lost)
{
	struct stream stream;

	begin(0, &stream);
	for (int i = 0; i < QV_STREAM_LEN + 10; i++)
		print(i < 10 ? "a" : "b");
	CHECK(stream_read(&stream, bytes, sizeof(bytes)) == QV_STREAM_LEN);
	CHECK(stream.lost == 10);
	CHECK(bytes[0] == 'b');
}

/* A head that leaps about, as a broken or hostile inmate may write it */
TEST(survives_any_head)
{
	struct stream stream;
	unsigned int value = 12345;

	begin(0, &stream);
	for (int i = 0; i < 10000; i++) {
		value = value * 1103515245 + 12345;
		head = value;
		CHECK(stream_read(&stream, bytes, 4096) <= 4096);
		stream_at_ready(&stream);
	}
}

TEST(starts_where_the_shell_is_ready)
{
	struct stream stream;

	begin(0, &stream);
	CHECK(!stream_at_ready(&stream));
	print("boot\nquest> \x04");
	CHECK(stream.pos == 0 && stream_at_ready(&stream) && stream.pos == head);
	print("x");
	CHECK(!stream_at_ready(&stream));
	CHECK(stream_read(&stream, bytes, sizeof(bytes)) == 1 && bytes[0] == 'x');
}

static const char *prompt_of(struct stream *stream)
{
	static struct buf prompt;

	CHECK(stream_at_ready(stream));
	stream_prompt(stream, false, &prompt);
	return prompt.data ? prompt.data : "";
}

TEST(finds_the_prompt)
{
	struct stream stream;

	begin(0, &stream);
	print("\x04");
	CHECK(!strcmp(prompt_of(&stream), ""));
	begin(0xfffffff0, &stream);
	print("boot\nquest> \x04");
	CHECK(!strcmp(prompt_of(&stream), "quest> "));
	print("echo -n no newline\nno newlinequest> \x04");
	CHECK(!strcmp(prompt_of(&stream), "quest> "));
	for (int i = 0; i < 100; i++)
		print("much");
	print("\x04");
	begin(0, &stream);
	for (int i = 0; i < 100; i++)
		print("much");
	print("\x04");
	CHECK(!strcmp(prompt_of(&stream), ""));
}
