// SPDX-License-Identifier: GPL-2.0-only
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW(gpa)	((gpa) - QV_SCREEN_GPA)

_Static_assert(WINDOW(QV_STREAM_GPA) + QV_STREAM_LEN == QV_CONSOLE_LEN,
	       "the window ends with the stream");
_Static_assert(sizeof(struct qv_comm) <= 0x1000, "the comm page is a page");

bool console_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < QV_NAME_LEN && name[0] != '-' && name[0] != '_' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

int console_open(struct console *console, const char *folder, const char *name,
		 enum keyboard keyboard)
{
	static const int modes[] = { O_RDONLY, O_RDWR, O_RDWR | O_EXCL };
	char path[256];
	void *window;
	int error;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/console", folder, name) >= sizeof(path))
		return ENAMETOOLONG;
	console->fd = open(path, modes[keyboard] | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (console->fd < 0)
		return errno;
	window = mmap(NULL, QV_CONSOLE_LEN, PROT_READ, MAP_SHARED, console->fd, 0);
	if (window == MAP_FAILED) {
		error = errno;
		close(console->fd);
		return error;
	}
	console->writable = keyboard != KEYBOARD_NOT;
	console->window = window;
	console->comm = (const volatile void *)(console->window + WINDOW(QV_COMM_GPA));
	return 0;
}

void console_close(struct console *console)
{
	munmap((void *)(uintptr_t)console->window, QV_CONSOLE_LEN);
	close(console->fd);
}

enum cell_life console_life(const struct console *console)
{
	struct pollfd event = { .fd = console->fd };

	if (poll(&event, 1, 0) <= 0)
		return CELL_RUNNING;
	if (event.revents & (POLLHUP | POLLNVAL))
		return CELL_GONE;
	return event.revents & POLLERR ? CELL_STOPPED : CELL_RUNNING;
}

bool console_has_halted(const struct console *console)
{
	return console->comm->state == QV_INMATE_HALTED;
}

bool console_keyboard_is_lost(const struct console *console)
{
	struct pollfd event = { .fd = console->fd, .events = POLLPRI };

	return poll(&event, 1, 0) > 0 && event.revents & POLLPRI;
}

uint32_t console_leave(const struct console *console)
{
	return console->comm->leave;
}

void console_frame(const struct console *console, struct frame *frame)
{
	const volatile uint16_t *screen = (const volatile void *)console->window;
	int i;

	for (i = 0; i < SCREEN_CELLS; i++)
		frame->cell[i] = screen[i];
	frame->cursor = console->comm->cursor;
}

void console_stream(const struct console *console, struct stream *stream)
{
	stream_init(stream, console->window + WINDOW(QV_STREAM_GPA), &console->comm->stream_head);
}

uint32_t console_line_max(const struct console *console)
{
	return console->comm->line_max;
}

int console_line_status(const struct console *console)
{
	uint32_t status = console->comm->line_status;

	return status & QV_LINE_TOLD ? (int)(status & 0xff) : 0;
}

long console_type(const struct console *console, const void *keys, unsigned long len)
{
	return write(console->fd, keys, len);
}
