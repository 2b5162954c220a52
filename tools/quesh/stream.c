// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <string.h>

#include "cp437.h"

#define MASK		(QV_STREAM_LEN - 1)
#define PROMPT_MAX	80

static uint32_t load(const volatile uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void stream_init(struct stream *stream, const volatile uint8_t *ring, const volatile uint32_t *head)
{
	stream->ring = ring;
	stream->head = head;
	stream->pos = load(head);
	stream->lost = 0;
}

/* Skips the bytes that the writer has overwritten. Returns the number of bytes that can be read. */
static uint32_t skip_lost(struct stream *stream, uint32_t head)
{
	uint32_t there = head - stream->pos;

	if (there > QV_STREAM_LEN) {
		stream->lost += there - QV_STREAM_LEN;
		stream->pos = head - QV_STREAM_LEN;
		there = QV_STREAM_LEN;
	}
	return there;
}

size_t stream_read(struct stream *stream, uint8_t *to, size_t room)
{
	uint32_t start, gone, len, i;

	len = skip_lost(stream, load(stream->head));
	if (len > room)
		len = (uint32_t)room;
	start = stream->pos;
	for (i = 0; i < len; i++)
		to[i] = stream->ring[(start + i) & MASK];
	/* bytes that were overwritten during the copy are lost, too */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	skip_lost(stream, load(stream->head));
	gone = stream->pos - start;
	if (gone >= len)
		return 0;
	for (i = gone; i < len && gone; i++)
		to[i - gone] = to[i];
	stream->pos = start + len;
	return len - gone;
}

bool stream_at_ready(struct stream *stream)
{
	uint32_t head = load(stream->head);

	if (stream->ring[(head - 1) & MASK] != QV_STREAM_READY || load(stream->head) != head)
		return false;
	stream->pos = head;
	return true;
}

/* Copies the line that ends before this position of the stream, its last byte first. */
static int line_before(const struct stream *stream, uint32_t place, uint8_t *bytes)
{
	int len;

	for (len = 0; len < PROMPT_MAX; len++) {
		uint8_t byte = stream->ring[(place - 1 - (uint32_t)len) & MASK];

		if (byte == '\n' || byte == '\0' || byte == QV_STREAM_READY)
			return len;
		bytes[len] = byte;
	}
	return 0;
}

/*
 * Output without a newline is before the prompt on the same line. Earlier prompts in the ring show
 * where the prompt begins: the prompt is the shortest earlier one with which this line ends.
 */
void stream_prompt(const struct stream *stream, bool utf8, struct buf *prompt)
{
	uint32_t head = stream->pos, back;
	uint8_t bytes[PROMPT_MAX], earlier[PROMPT_MAX];
	int len, other;

	buf_clear(prompt);
	len = line_before(stream, head - 1, bytes);
	for (back = 2; back < QV_STREAM_LEN - PROMPT_MAX; back++) {
		if (stream->ring[(head - back) & MASK] != QV_STREAM_READY)
			continue;
		other = line_before(stream, head - back, earlier);
		if (other && other < len && !memcmp(earlier, bytes, (size_t)other))
			len = other;
	}
	while (len--)
		cp437_put_text(prompt, bytes[len], utf8);
}
