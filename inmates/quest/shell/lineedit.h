/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edits a line. Pure: its input are bytes as a terminal sends them. Its output are bytes for a
 * terminal (text, BS, ESC [ K), which it passes to `echo`.
 *
 * Keys: Enter (CR or LF), Backspace (7F or 08), left, right, up, down, Home, End, Delete, ^A ^E ^U
 * ^C. Tab completes the word before the cursor, or prints the names that begin with that word. A
 * key that is not ASCII is left out, and noted.
 */
#ifndef QUEST_LINEEDIT_H
#define QUEST_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "complete.h"

#define LINE_LENGTH	160
#define LINE_HISTORY	16

typedef void line_echo(const char *text, size_t n);

struct lineedit {
	line_echo *echo;
	complete_name *names;			/* names that Tab completes; NULL: none */
	const char *prompt;
	size_t length, at;			/* characters; cursor */
	uint8_t escape;				/* state inside an escape sequence */
	uint8_t escape_number;			/* first number of the escape sequence */
	bool foreign;				/* a key that is not ASCII was left out */
	unsigned int num_history;		/* number of lines stored so far */
	/* the line that is shown. 0: the line being typed; n: the n-th last line */
	unsigned int shown;
	char text[LINE_LENGTH];			/* NUL-terminated when a line is done */
	char typed[LINE_LENGTH];		/* the line being typed, while history is shown */
	char history[LINE_HISTORY][LINE_LENGTH];
};

void lineedit_init(struct lineedit *l, line_echo *echo, complete_name *names, const char *prompt);

/* Starts an empty line. Prints nothing yet. */
void lineedit_begin(struct lineedit *l);

/* Prints the prompt and the line again. The cursor must be at the start of an empty row. */
void lineedit_show(struct lineedit *l);

/*
 * Hides the line so that other text can be printed: clears the row, and moves the cursor to its
 * start. A line of several rows stays visible, and the cursor moves below it.
 */
void lineedit_hide(const struct lineedit *l);

/*
 * Handles a byte that was typed. Returns true when `text` is a whole line (after ^C: an empty one);
 * the caller then prints a newline.
 */
bool lineedit_key(struct lineedit *l, uint8_t key);

#endif
