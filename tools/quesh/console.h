/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/qv-cell/NAME/console: the window shared with the cell, and the cell's keyboard */
#ifndef QUESH_CONSOLE_H
#define QUESH_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/qv.h>
#include <qv/cell.h>

#include "screen.h"
#include "stream.h"

#define CONSOLE_FOLDER	"/dev/qv-cell"

enum cell_life {
	CELL_RUNNING,
	CELL_STOPPED,	/* the cell has not started, was shut down, or has failed */
	CELL_GONE,	/* destroyed */
};

struct console {
	int fd;
	bool writable;
	const volatile uint8_t *window;		/* the cell's window: QV_CONSOLE_LEN bytes */
	const volatile struct qv_comm *comm;	/* inside it */
};

bool console_name_is_valid(const char *name);

enum keyboard {
	KEYBOARD_NOT,	/* view only */
	KEYBOARD_FREE,	/* unless another program has it: EBUSY */
	KEYBOARD_TAKE,	/* away from the program that has it */
};

/* Returns 0 or an errno. */
int console_open(struct console *console, const char *folder, const char *name,
		 enum keyboard keyboard);
void console_close(struct console *console);

enum cell_life console_life(const struct console *console);
bool console_has_halted(const struct console *console);
/* Another program took the keyboard (KEYBOARD_TAKE). */
bool console_keyboard_is_lost(const struct console *console);
/* Returns how often the cell's shell has asked its terminal to leave. */
uint32_t console_leave(const struct console *console);
void console_frame(const struct console *console, struct frame *frame);
/* Returns the length of the longest line that the cell's shell accepts; 0: unknown. */
uint32_t console_line_max(const struct console *console);
/* Returns the status of the last line that the shell executed, 0 to 255; 0 if unknown. */
int console_line_status(const struct console *console);
void console_stream(const struct console *console, struct stream *stream);

/* Puts keys into the cell's queue. Returns how many fitted, or -1 with errno. */
long console_type(const struct console *console, const void *keys, unsigned long len);

#endif
