// SPDX-License-Identifier: GPL-2.0-only
/* The history of a session, and a cell that stops and runs again: a console without a driver. */
#include <sys/stat.h>

#include "stream.h"
#include "unit.h"

static size_t read_and_print(struct stream *stream, uint8_t *to, size_t room);

#define stream_read read_and_print
#include "../quesh/history.c"
#undef stream_read
#include "past.h"
#include "../quesh/session.c"

#define main quesh_main
int main(int argc, char **argv);
#include "../quesh/main.c"

static uint8_t ring[QV_STREAM_LEN];
static volatile uint32_t head;
static enum cell_life life_now;
static bool keyboard_lost;
static uint32_t leave_now;
static size_t room_for_keys;	/* in the cell's queue */
static struct buf typed;	/* keys that the cell has got */
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

int console_open(struct console *console, const char *folder, const char *name,
		 enum keyboard keyboard)
{
	(void)folder;
	(void)name;
	console->writable = keyboard != KEYBOARD_NOT;
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

bool console_keyboard_is_lost(const struct console *console)
{
	(void)console;
	return keyboard_lost;
}

uint32_t console_leave(const struct console *console)
{
	(void)console;
	return leave_now;
}

long console_type(const struct console *console, const void *keys, unsigned long len)
{
	(void)console;
	if (len > room_for_keys)
		len = room_for_keys;
	room_for_keys -= len;
	buf_put(&typed, keys, len);
	errno = EAGAIN;
	return len ? (long)len : -1;
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

/* A session, whose history is `whole` when it begins. Then the cell prints `meanwhile`. */
static void next_session(const char *meanwhile, const char *whole)
{
	struct options options = { .name = "quest" };
	struct console console = { 0 };
	struct session session;

	memset(&session, 0, sizeof(session));
	session.console = &console;
	history_init(&session.history, &console, -1, true);
	begin_history(&session, &options);
	CHECK_TEXT(session.history.text.data, whole);
	print(meanwhile);
	CHECK(follow(&session) == GO_ON);
	end_history(&session, &options);
}

TEST(history_lasts_across_sessions)
{
	char folder[PATH_MAX], path[PATH_MAX + 16], line[1000];
	struct buf text = { 0 }, again = { 0 };
	struct console console = { 0 };
	struct session session;
	struct stat file;

	snprintf(folder, sizeof(folder), "%s/quesh-XXXXXX", out_folder());
	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1))
		unit_give_up("there is no folder for the history");
	begin(&session, &console);
	print("> one\n1\n> ");
	next_session("two\n2\n> ", "> one\n1\n> ");
	print("three\n3\n> ");	/* while there was no session */
	next_session("", "> one\n1\n> two\n2\n> three\n3\n> ");
	/* another life, whose output begins again */
	memset(ring, 0, sizeof(ring));
	head = 0;
	print("Quest\n> ");
	next_session("", "> one\n1\n> two\n2\n> three\n3\n> Quest\n> ");

	CHECK(past_path(path, sizeof(path), "quest"));
	CHECK(!stat(path, &file) && (file.st_mode & 07777) == 0600);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	while (text.len < 2 * PAST_MAX)
		buf_put(&text, line, sizeof(line));
	CHECK(past_save(&text, "quest"));
	CHECK(!stat(path, &file) && file.st_size <= PAST_MAX && file.st_size > PAST_MAX - 1000);
	past_load(&again, "quest");
	CHECK_EQ(again.len, file.st_size);
	CHECK(!memcmp(again.data, line, sizeof(line)));

	/* a link is not read, and a folder that is not writable is an error */
	CHECK(!unlink(path) && !symlink("/etc/passwd", path));
	buf_clear(&again);
	past_load(&again, "quest");
	CHECK(!again.len);
	CHECK(!setenv("XDG_STATE_HOME", "/proc/none", 1));
	CHECK(!past_save(&text, "quest") && errno);
	CHECK(!unsetenv("XDG_STATE_HOME") && !unlink(path));
	snprintf(path, sizeof(path), "%s/quesh", folder);
	CHECK(!rmdir(path) && !rmdir(folder));	/* nothing else was left there */
	buf_free(&text);
	buf_free(&again);
	history_free(&session.history);
}

/* A past shorter than 64 bytes is the beginning of the console's output, or is not in it. */
TEST(a_short_past_drops_no_output_before_it)
{
	static const struct { const char *past, *now, *whole; } cases[] = {
		{ "> ", "Quest\n> new\n", "> Quest\n> new\n" },
		{ "> ", "> new\n", "> new\n" },
		{ "> long", "> ", "> long> " },
		{ "0123456789012345678901234567890123456789012345678901234567890123",
		  "a0123456789012345678901234567890123456789012345678901234567890123b",
		  "0123456789012345678901234567890123456789012345678901234567890123b" },
	};
	struct buf text = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unit_case("%u", i);
		buf_clear(&text);
		buf_put(&text, cases[i].past, strlen(cases[i].past));
		buf_put(&text, cases[i].now, strlen(cases[i].now));
		past_join(&text, strlen(cases[i].past));
		CHECK_TEXT(text.data, cases[i].whole);
	}
	buf_free(&text);
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

/* Lets the session read from this end of a pipe as from its terminal. Returns the other end. */
static int type_by_pipe(void)
{
	int ends[2];

	CHECK(!pipe(ends));
	CHECK(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	close(ends[0]);
	return ends[1];
}

TEST(no_key_is_lost_while_the_queue_is_full)
{
	struct console console = { .writable = true };
	int keyboard = type_by_pipe(), i;
	struct session session;
	char text[200];

	begin(&session, &console);
	buf_clear(&typed);
	memset(text, 'k', sizeof(text));
	for (i = 0; i < 20; i++) {
		CHECK(write(keyboard, text, sizeof(text)) == sizeof(text));
		CHECK(take_keys(&session) == GO_ON);
		send_keys(&session);
	}
	CHECK_EQ(session.keys.len, 20 * sizeof(text));
	CHECK(session.waiting_since);
	CHECK(write(keyboard, "\x1e" "end", 4) == 4);
	CHECK(take_keys(&session) == HISTORY);
	for (i = 0; i < 100; i++) {
		room_for_keys = 50;
		send_keys(&session);
	}
	CHECK_EQ(typed.len, 20 * sizeof(text) + 3);
	CHECK_TEXT(typed.data + typed.len - 3, "end");
	CHECK(!session.keys.len && !session.waiting_since);
	close(keyboard);
	buf_free(&session.keys);
}

TEST(leaving_works_while_no_more_keys_can_wait)
{
	struct console console = { .writable = true };
	int keyboard = type_by_pipe(), out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
	struct session session;
	enum end end;

	begin(&session, &console);
	painter_init(&session.painter, 24, 80, false);
	while (session.keys.len < KEYS_MAX)
		buf_putc(&session.keys, 'k');
	room_for_keys = 0;
	CHECK(write(keyboard, "xy\x1d", 3) == 3);
	fflush(stdout);
	CHECK(dup2(null, STDOUT_FILENO) == STDOUT_FILENO);	/* the screen */
	end = step(&session);
	CHECK(dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
	CHECK(end == DETACHED);
	CHECK_EQ(session.keys.len, KEYS_MAX);
	CHECK_EQ(session.lost, 2);
	close(out);
	close(null);
	close(keyboard);
	history_free(&session.history);
	buf_free(&session.out);
	buf_free(&session.keys);
}

TEST(another_terminal_takes_the_keyboard)
{
	struct console console = { .writable = true };
	struct session session;

	begin(&session, &console);
	keyboard_lost = true;
	CHECK(follow(&session) == GO_ON && !console.writable);
	keyboard_lost = false;
	history_free(&session.history);
}

TEST(exit_in_the_cell_leaves_the_terminal_with_the_keyboard)
{
	struct console console = { .writable = true };
	struct session session;

	begin(&session, &console);
	leave_now = 1;
	CHECK(follow(&session) == DETACHED);
	leave_now = 0;		/* another life of the cell */
	CHECK(follow(&session) == GO_ON);
	console.writable = false;
	leave_now = 1;
	CHECK(follow(&session) == GO_ON);
	leave_now = 0;
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
