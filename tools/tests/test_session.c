// SPDX-License-Identifier: GPL-2.0-only
/* The history of a session, and a cell that stops and runs again: a console without a driver. */
#include "stream.h"
#include "unit.h"

static size_t read_and_print(struct stream *stream, uint8_t *to, size_t room);

#define stream_read read_and_print
#include "../quesh/history.c"
#undef stream_read
#include "../quesh/session.c"

#define main quesh_main
int main(int argc, char **argv);
#include "../quesh/main.c"

static uint8_t ring[QV_STREAM_LEN];
static volatile uint32_t head;
static enum cell_life life_now;
static uint32_t printed_meanwhile;	/* bytes that the cell prints during each read */

static size_t read_and_print(struct stream *stream, uint8_t *to, size_t room)
{
	size_t len = stream_read(stream, to, room);

	head += printed_meanwhile;
	return len;
}

void console_stream(const struct console *console, struct stream *stream)
{
	(void)console;
	stream_init(stream, ring, &head);
}

enum cell_life console_life(const struct console *console)
{
	(void)console;
	return life_now;
}

int console_open(struct console *console, const char *folder, const char *name, bool write)
{
	(void)folder;
	(void)name;
	console->writable = write;
	return 0;
}

void console_close(struct console *console)
{
	(void)console;
}

bool console_has_halted(const struct console *console)
{
	(void)console;
	return false;
}

void console_frame(const struct console *console, struct frame *frame)
{
	(void)console;
	memset(frame, 0, sizeof(*frame));
}

uint32_t console_line_max(const struct console *console)
{
	(void)console;
	return 0;
}

int console_line_status(const struct console *console)
{
	(void)console;
	return 0;
}

bool console_name_is_valid(const char *name)
{
	return *name;
}

long console_type(const struct console *console, const void *keys, unsigned long len)
{
	(void)console;
	(void)keys;
	return (long)len;
}

static void print(const char *text)
{
	uint32_t to = head;

	while (*text)
		ring[to++ % QV_STREAM_LEN] = (uint8_t)*text++;
	head = to;
}

/* A cell that has printed nothing yet, and a session with it */
static void begin(struct session *session, struct console *console)
{
	memset(ring, 0, sizeof(ring));
	memset(session, 0, sizeof(*session));
	head = 0;
	life_now = CELL_RUNNING;
	session->console = console;
	session->stay = true;
	history_init(&session->history, console, -1, true);
}

TEST(next_life_is_read_from_its_first_byte_on)
{
	struct console console = { 0 };
	struct session session;

	begin(&session, &console);
	print("one\n");
	CHECK(follow(&session) == GO_ON);
	life_now = CELL_STOPPED;
	CHECK(follow(&session) == GO_ON && session.stopped);
	head = 0;
	print("the second life\n");
	life_now = CELL_RUNNING;
	CHECK(follow(&session) == GO_ON && !session.stopped);
	CHECK_TEXT(session.history.text.data, "one\nthe second life\n");
	history_free(&session.history);
}

TEST(lost_bytes_are_told)
{
	const char *told;
	struct console console = { 0 };
	struct session session;

	begin(&session, &console);
	print("one\n");
	follow(&session);
	memset(ring, 'x', sizeof(ring));
	head += 10 + sizeof(ring);
	follow(&session);
	CHECK(session.history.text.data &&
	      strstr(session.history.text.data, "one\n\n(10 bytes were lost)\nxxx"));
	print("end\n");
	follow(&session);
	told = strstr(session.history.text.data, "lost");
	CHECK(told && !strstr(told + 1, "lost"));
	history_free(&session.history);
}

/* A cell that prints without end does not keep the keys waiting. */
TEST(reading_ends_though_the_cell_prints)
{
	struct console console = { 0 };
	struct session session;

	begin(&session, &console);
	memset(ring, 'x', sizeof(ring));
	print("x");
	printed_meanwhile = 4096;
	alarm(60);		/* ends a test that does not end */
	CHECK(history_collect(&session.history));
	alarm(0);
	printed_meanwhile = 0;
	CHECK(session.history.text.len > 1);
	history_free(&session.history);
}

TEST(a_cell_that_does_not_run_yet_is_waited_for)
{
	struct options options = { .folder = "", .name = "quest", .log_fd = -1, .stay = true };
	struct console console = { 0 };

	life_now = CELL_STOPPED;
	CHECK_EQ(attach(&options, &console), 0);
	options.stay = false;
	CHECK(attach(&options, &console) != 0);
}
