// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/screen.h>

enum { TEXT, ESCAPE, BRACKET };

#define DEFAULT_FORE	7
#define DEFAULT_BACK	0
#define BRIGHT		8
#define TAB		8

/* VGA and terminals swap blue and red. */
static uint8_t vga_colour(unsigned int ansi)
{
	return (ansi & 1) << 2 | (ansi & 2) | (ansi & 4) >> 2;
}

static uint16_t blank(const struct screen *s)
{
	return (uint16_t)(s->back << 12 | s->fore << 8 | ' ');
}

static uint16_t cell(const struct screen *s, unsigned char c)
{
	unsigned int fore = s->fore, back = s->back;

	if (s->bold)
		fore |= BRIGHT;
	if (s->reverse)
		return (uint16_t)(fore << 12 | back << 8 | c);
	return (uint16_t)(back << 12 | fore << 8 | c);
}

/* The screen as words of four cells: kernels print with interrupts off. */
#define PER_WORD	4
#define ALL_OF_WORD	0x0001000100010001ull

static volatile uint64_t *words_at(struct screen *s, uint32_t cell)
{
	return (volatile uint64_t *)&s->cells[cell];
}

static void fill(struct screen *s, uint32_t from, uint32_t to)
{
	uint16_t b = blank(s);

	for (; from < to && from % PER_WORD; from++)
		s->cells[from] = b;
	for (; from + PER_WORD <= to; from += PER_WORD)
		*words_at(s, from) = b * ALL_OF_WORD;
	for (; from < to; from++)
		s->cells[from] = b;
}

static void plain(struct screen *s)
{
	s->fore = DEFAULT_FORE;
	s->back = DEFAULT_BACK;
	s->bold = 0;
	s->reverse = 0;
}

void screen_init(struct screen *s, volatile uint16_t *cells)
{
	s->cells = cells;
	s->cursor = 0;
	s->state = TEXT;
	s->num_params = 0;
	plain(s);
	fill(s, 0, SCREEN_CELLS);
}

static void scroll(struct screen *s)
{
	uint32_t i;

	for (i = 0; i < SCREEN_CELLS - SCREEN_COLS; i += PER_WORD)
		*words_at(s, i) = *words_at(s, i + SCREEN_COLS);
	fill(s, SCREEN_CELLS - SCREEN_COLS, SCREEN_CELLS);
	s->cursor -= SCREEN_COLS;
}

static void advance(struct screen *s, uint32_t by)
{
	s->cursor += by;
	while (s->cursor >= SCREEN_CELLS)
		scroll(s);
}

static void put_text(struct screen *s, unsigned char c)
{
	uint32_t column = s->cursor % SCREEN_COLS;

	switch (c) {
	case '\n':
		advance(s, SCREEN_COLS - column);
		break;
	case '\r':
		s->cursor -= column;
		break;
	case '\b':
		if (s->cursor)
			s->cursor--;
		break;
	case '\t':
		advance(s, TAB - column % TAB);
		break;
	case 0x1B:
		s->state = ESCAPE;
		break;
	default:
		if (c < ' ' || c == 0x7F)
			break;
		s->cells[s->cursor] = cell(s, c);
		advance(s, 1);
	}
}

static void set_attribute(struct screen *s, unsigned int n)
{
	if (n == 0)
		plain(s);
	else if (n == 1)
		s->bold = 1;
	else if (n == 7)
		s->reverse = 1;
	else if (n >= 30 && n <= 37)
		s->fore = vga_colour(n - 30);
	else if (n == 39)
		s->fore = DEFAULT_FORE;
	else if (n >= 40 && n <= 47)
		s->back = vga_colour(n - 40);
	else if (n == 49)
		s->back = DEFAULT_BACK;
	else if (n >= 90 && n <= 97)
		s->fore = vga_colour(n - 90) | BRIGHT;
	else if (n >= 100 && n <= 107)
		s->back = vga_colour(n - 100) | BRIGHT;
}

static void move_to(struct screen *s, uint32_t row, uint32_t column)
{
	if (row >= SCREEN_ROWS)
		row = SCREEN_ROWS - 1;
	if (column >= SCREEN_COLS)
		column = SCREEN_COLS - 1;
	s->cursor = row * SCREEN_COLS + column;
}

/* Returns parameter i as a count or a 1-based position. */
static uint32_t param(const struct screen *s, unsigned int i)
{
	return i < s->num_params && s->params[i] ? s->params[i] : 1;
}

static void erase_display(struct screen *s)
{
	if (s->params[0] == 2)
		fill(s, 0, SCREEN_CELLS);
	else
		fill(s, s->cursor, SCREEN_CELLS);
}

static void command(struct screen *s, char letter)
{
	uint32_t row = s->cursor / SCREEN_COLS, column = s->cursor % SCREEN_COLS;
	unsigned int i;

	switch (letter) {
	case 'm':
		for (i = 0; i < s->num_params; i++)
			set_attribute(s, s->params[i]);
		break;
	case 'K':
		fill(s, s->cursor, s->cursor - column + SCREEN_COLS);
		break;
	case 'J':
		erase_display(s);
		break;
	case 'H':
		move_to(s, param(s, 0) - 1, param(s, 1) - 1);
		break;
	case 'C':
		move_to(s, row, column + param(s, 0));
		break;
	case 'D':
		move_to(s, row, column > param(s, 0) ? column - param(s, 0) : 0);
		break;
	}
}

static void put_bracket(struct screen *s, unsigned char c)
{
	uint16_t *p = &s->params[s->num_params - 1];

	if (c >= '0' && c <= '9') {
		if (*p < 1000)
			*p = (uint16_t)(*p * 10 + (c - '0'));
	} else if (c == ';') {
		if (s->num_params < SCREEN_PARAMS)
			s->num_params++;
	} else if (c >= 0x40 && c <= 0x7E) {
		command(s, (char)c);
		s->state = TEXT;
	}
}

static void put_escape(struct screen *s, unsigned char c)
{
	unsigned int i;

	s->state = c == '[' ? BRACKET : TEXT;
	s->num_params = 1;
	for (i = 0; i < SCREEN_PARAMS; i++)
		s->params[i] = 0;
}

void screen_write(struct screen *s, const char *text, size_t n)
{
	for (; n; n--, text++) {
		unsigned char c = (unsigned char)*text;

		if (s->state == TEXT)
			put_text(s, c);
		else if (s->state == ESCAPE)
			put_escape(s, c);
		else
			put_bracket(s, c);
	}
}
