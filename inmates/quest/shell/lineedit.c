// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/screen.h>
#include <inmate/string.h>
#include "lineedit.h"

#define CTRL(letter)	((letter) & 0x1F)
#define ESC		0x1B
#define DEL		0x7F
#define TAB		'\t'

enum { NO_ESCAPE, AFTER_ESC, IN_NUMBER, AFTER_NUMBER };

void lineedit_init(struct lineedit *l, line_echo *echo, complete_name *names, const char *prompt)
{
	memset(l, 0, sizeof(*l));
	l->echo = echo;
	l->names = names;
	l->prompt = prompt;
}

static void empty(struct lineedit *l)
{
	l->length = l->at = 0;
	l->text[0] = 0;
	l->escape = NO_ESCAPE;
	l->foreign = false;
	l->shown = 0;
}

void lineedit_begin(struct lineedit *l)
{
	empty(l);
}

static void back(struct lineedit *l, size_t n)
{
	while (n--)
		l->echo("\b", 1);
}

void lineedit_show(struct lineedit *l)
{
	l->echo(l->prompt, strlen(l->prompt));
	if (l->length)
		l->echo(l->text, l->length);
	back(l, l->length - l->at);
}

void lineedit_hide(const struct lineedit *l)
{
	size_t prompt = strlen(l->prompt);
	size_t row = (prompt + l->at) / SCREEN_COLS, last = (prompt + l->length) / SCREEN_COLS;

	if (!last) {
		l->echo("\r\033[K", 4);
		return;
	}
	for (; row <= last; row++)
		l->echo("\n", 1);
}

/* Redraws from the cursor on. The cursor does not move. */
static void draw_tail(struct lineedit *l)
{
	size_t n = l->length - l->at;

	if (n)
		l->echo(l->text + l->at, n);
	l->echo("\033[K", 3);
	back(l, n);
}

static void move(struct lineedit *l, size_t to)
{
	if (to < l->at)
		back(l, l->at - to);
	else if (to > l->at)
		l->echo(l->text + l->at, to - l->at);
	l->at = to;
}

static void insert(struct lineedit *l, char c)
{
	if (l->length + 1 >= LINE_LENGTH)
		return;
	memmove(l->text + l->at + 1, l->text + l->at, l->length - l->at);
	l->text[l->at++] = c;
	l->length++;
	l->echo(&c, 1);
	if (l->at != l->length)
		draw_tail(l);
}

static void erase(struct lineedit *l)
{
	if (l->at == l->length)
		return;
	memmove(l->text + l->at, l->text + l->at + 1, l->length - l->at - 1);
	l->length--;
	draw_tail(l);
}

static void replace(struct lineedit *l, const char *text)
{
	l->foreign = false;
	move(l, 0);
	l->length = copy_string(l->text, text, LINE_LENGTH);
	draw_tail(l);
	move(l, l->length);
}

static void recall(struct lineedit *l, unsigned int n)
{
	unsigned int stored = l->num_history < LINE_HISTORY ? l->num_history : LINE_HISTORY;

	if (n > stored || n == l->shown)
		return;
	l->text[l->length] = 0;
	if (!l->shown)
		copy_string(l->typed, l->text, LINE_LENGTH);
	l->shown = n;
	replace(l, n ? l->history[(l->num_history - n) % LINE_HISTORY] : l->typed);
}

/* Stores the line in the history, unless it is empty or equal to the last line there. */
static void remember(struct lineedit *l)
{
	const char *last = l->history[(l->num_history - 1) % LINE_HISTORY];

	if (!l->length || (l->num_history && !strcmp(last, l->text)))
		return;
	copy_string(l->history[l->num_history++ % LINE_HISTORY], l->text, LINE_LENGTH);
}

static void letter_key(struct lineedit *l, uint8_t letter)
{
	switch (letter) {
	case 'A':
		recall(l, l->shown + 1);
		break;
	case 'B':
		if (l->shown)
			recall(l, l->shown - 1);
		break;
	case 'C':
		if (l->at < l->length)
			move(l, l->at + 1);
		break;
	case 'D':
		if (l->at)
			move(l, l->at - 1);
		break;
	case 'H':
		move(l, 0);
		break;
	case 'F':
		move(l, l->length);
		break;
	}
}

/* ESC [ number ~ */
static void number_key(struct lineedit *l, uint8_t number)
{
	switch (number) {
	case 1:
	case 7:
		move(l, 0);
		break;
	case 3:
		erase(l);
		break;
	case 4:
	case 8:
		move(l, l->length);
		break;
	}
}

/*
 * Handles three forms of escape sequences: ESC letter; ESC [ numbers letter; ESC O letter. Drops
 * unknown sequences.
 */
static void escape_key(struct lineedit *l, uint8_t key)
{
	if (l->escape == AFTER_ESC) {
		l->escape = key == '[' || key == 'O' ? IN_NUMBER : NO_ESCAPE;
		l->escape_number = 0;
	} else if (key >= '0' && key <= '9') {
		if (l->escape == IN_NUMBER && l->escape_number < 20)
			l->escape_number = (uint8_t)(l->escape_number * 10 + key - '0');
	} else if (key < 0x40) {
		l->escape = AFTER_NUMBER;
	} else {
		l->escape = NO_ESCAPE;
		if (key == '~')
			number_key(l, l->escape_number);
		else
			letter_key(l, key);
	}
}

/* Prints all names that begin with the word at `begin`, then prints the line again. */
static void show_names(struct lineedit *l, size_t begin)
{
	const char *name;
	unsigned int i;

	l->echo("\n", 1);
	for (i = 0; (name = l->names(i)); i++) {
		if (!complete_fits(name, l->text + begin, l->at - begin))
			continue;
		l->echo(name, strlen(name));
		l->echo("  ", 2);
	}
	l->echo("\n", 1);
	lineedit_show(l);
}

/*
 * Completes the word before the cursor. Finds the names that begin with it, and inserts the next
 * letters that they have in common. If there is one name, adds a blank. If there is no common
 * letter, prints all these names.
 */
static void complete_word(struct lineedit *l)
{
	size_t begin = l->at, typed, i;
	struct completion found;

	while (begin && l->text[begin - 1] != ' ')
		begin--;
	if (!l->names || begin == l->at)
		return;
	typed = l->at - begin;
	found = complete(l->names, l->text + begin, typed);
	if (found.matches > 1 && found.common == typed)
		show_names(l, begin);
	for (i = typed; found.matches && i < found.common; i++)
		insert(l, found.first[i]);
	if (found.matches == 1)
		insert(l, ' ');
}

static void control_key(struct lineedit *l, uint8_t key)
{
	switch (key) {
	case ESC:
		l->escape = AFTER_ESC;
		break;
	case '\b':
	case DEL:
		if (l->at) {
			move(l, l->at - 1);
			erase(l);
		}
		break;
	case TAB:
		complete_word(l);
		break;
	case CTRL('A'):
		move(l, 0);
		break;
	case CTRL('E'):
		move(l, l->length);
		break;
	case CTRL('U'):
		replace(l, "");
		break;
	}
}

static void finish(struct lineedit *l)
{
	l->escape = NO_ESCAPE;
	move(l, l->length);
	l->text[l->length] = 0;
	remember(l);
}

bool lineedit_key(struct lineedit *l, uint8_t key)
{
	if (l->escape && key >= ' ') {
		escape_key(l, key);
	} else if (key == '\r' || key == '\n') {
		finish(l);
		return true;
	} else if (key == CTRL('C')) {
		empty(l);
		l->echo("^C", 2);
		return true;
	} else if (key < ' ' || key == DEL) {
		control_key(l, key);
	} else if (key < DEL) {
		insert(l, (char)key);
	} else {
		l->foreign = true;
	}
	return false;
}
