/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A text screen of VGA cells (character | attribute << 8), driven by the bytes of a terminal. It
 * implements CR LF BS TAB, and the escape sequences ESC [ n ; .. with m (0 1 7 30-37 39 40-47 49
 * 90-97 100-107), K (0), J (0 2), H, C, D. It drops all others. It accesses no hardware: the cells
 * are plain memory.
 */
#ifndef INMATE_SCREEN_H
#define INMATE_SCREEN_H

#include <stddef.h>
#include <stdint.h>

#define SCREEN_COLS	80
#define SCREEN_ROWS	25
#define SCREEN_CELLS	(SCREEN_COLS * SCREEN_ROWS)
#define SCREEN_PARAMS	4

struct screen {
	volatile uint16_t *cells;
	uint32_t cursor;		/* row * 80 + column */
	uint8_t fore, back, bold, reverse;
	uint8_t state;
	uint8_t num_params;
	uint16_t params[SCREEN_PARAMS];
};

/* Clears the cells and moves the cursor to the first one. */
void screen_init(struct screen *s, volatile uint16_t *cells);
void screen_write(struct screen *s, const char *text, size_t n);

#endif
