// SPDX-License-Identifier: GPL-2.0-only
#include "line.h"

#include <string.h>

#include <qv/cell.h>

#include "cp437.h"

#define LINE_MAX_HELD	4096	/* largest number of bytes of a line that are held back */

void answer_init(struct answer *answer, const char *command, const char *prompt, bool utf8)
{
	memset(answer, 0, sizeof(*answer));
	answer->command = command;
	answer->prompt = prompt;
	answer->utf8 = utf8;
	answer->first = true;
}

void answer_free(struct answer *answer)
{
	buf_free(&answer->line);
}

/*
 * Finds the line as typed at the end of this line, perhaps after a prompt that the shell has
 * printed again. Returns the number of bytes in front of it, which are other output, or -1.
 */
static long echo_at(const struct answer *answer)
{
	const char *line = answer->line.data ? answer->line.data : "";
	size_t prompt = strlen(answer->prompt), typed = strlen(answer->command), at;

	if (answer->echoed)
		return -1;
	if (answer->first && !strcmp(line, answer->command))
		return 0;
	if (!prompt || answer->line.len < prompt + typed)
		return -1;
	at = answer->line.len - prompt - typed;
	if ((at && !answer->hidden) || strncmp(line + at, answer->prompt, prompt) ||
	    strcmp(line + at + prompt, answer->command))
		return -1;
	return (long)at;
}

static void end_line(struct answer *answer, struct buf *out)
{
	long at = echo_at(answer);

	if (at >= 0) {
		answer->echoed = true;
		answer->line.len = (size_t)at;
	}
	if (at) {
		buf_put(out, answer->line.data, answer->line.len);
		buf_putc(out, '\n');
	}
	answer->first = false;
	buf_clear(&answer->line);
}

/*
 * READY ends the answer, unless the shell only shows its prompt again after other output and has
 * not yet seen the line.
 */
static void take_ready(struct answer *answer, struct buf *out)
{
	size_t prompt = strlen(answer->prompt);

	if (buf_ends_with(&answer->line, answer->prompt, prompt))
		answer->line.len -= prompt;
	if (answer->line.len) {
		answer->line.data[answer->line.len] = '\0';
		end_line(answer, out);
	}
	answer->done = !answer->hidden || answer->echoed;
	answer->hidden = false;
	answer->first = true;
	buf_clear(&answer->line);
}

/*
 * Before other output, a shell clears the row of the line that is being typed. After this output,
 * it prints prompt and line again. Returns whether `byte` ends the sequence that clears the row.
 */
static bool clears_row(struct answer *answer, uint8_t byte)
{
	static const char sequence[] = "\r\033[K";

	if (byte != (uint8_t)sequence[answer->cleared])
		answer->cleared = 0;
	if (byte != (uint8_t)sequence[answer->cleared] || sequence[++answer->cleared])
		return false;
	answer->cleared = 0;
	answer->hidden = true;
	buf_clear(&answer->line);
	return true;
}

size_t answer_feed(struct answer *answer, const uint8_t *bytes, size_t len, struct buf *out)
{
	size_t i;

	for (i = 0; i < len && !answer->done; i++) {
		bool control = escape_takes(&answer->escape, bytes[i]);

		if (clears_row(answer, bytes[i]) || control)
			continue;
		if (bytes[i] == QV_STREAM_READY)
			take_ready(answer, out);
		else if (bytes[i] == '\n')
			end_line(answer, out);
		else
			cp437_put_text(&answer->line, bytes[i], answer->utf8);
		if (answer->line.len > LINE_MAX_HELD) {
			buf_put(out, answer->line.data, answer->line.len);
			buf_clear(&answer->line);
			answer->first = false;
		}
	}
	return i;
}

void answer_flush(struct answer *answer, struct buf *out)
{
	if (answer->line.len)
		end_line(answer, out);
}

bool command_is_valid(const char *command)
{
	for (; *command; command++)
		if ((unsigned char)*command < 0x20 || (unsigned char)*command > 0x7e)
			return false;
	return true;
}
