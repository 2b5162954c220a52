/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of the log, in rings: two for each source. A line pushes out only lines of its own
 * source and class. Callers hold a lock.
 */
#ifndef QV_DRIVER_LOG_BOOK_H
#define QV_DRIVER_LOG_BOOK_H

#include "abi/limits.h"
#include "abi/types.h"

enum book_class {
	BOOK_KEPT,		/* life, management, failures */
	BOOK_OTHER,		/* all that a program, a guest or a device can cause at will */
	BOOK_CLASSES
};

/* Sources: the driver, the front end's instance, and cells by name */
#define BOOK_DRIVER	0
#define BOOK_FRONT_END	1
#define BOOK_CELLS	2		/* number of the first cell's rings */
#define BOOK_SOURCES	(BOOK_CELLS + QV_INSTANCES)
#define BOOK_RINGS	(BOOK_SOURCES * BOOK_CLASSES)

#define BOOK_TEXT	180	/* length of a line with its NUL */

struct book_line {
	/*
	 * Its number in its ring, from 1 on. A gap before it stands for lines that were never
	 * written. Lines in a ring are in order of .tsc and of .number
	 */
	u64 number;
	u64 order;			/* its number among the lines of all rings, from 1 on */
	u64 tsc, time_ns;
	u64 last_ns;			/* time of the last line that was merged into this one */
	u32 times;			/* number of equal lines; 1: no other */
	char text[BOOK_TEXT];		/* "SOURCE: sentence" */
};

struct book_ring {
	struct book_line *lines;
	u32 size;
	u32 used;
	u32 first;			/* index of the oldest line */
	u64 count;			/* number of the last line, or of the last one lost */
	u64 handed;			/* readers have this line and those before, so they stay */
};

struct book {
	struct book_ring rings[BOOK_RINGS];
	char names[BOOK_SOURCES][QV_NAME_LEN];
	bool live[BOOK_SOURCES];	/* the cell exists: its rings are not given to another */
	u64 order;			/* of the last line */
};

/* Where a reader is. All zeros: at the oldest line */
struct book_place {
	u64 next[BOOK_RINGS];	/* number of the first line wanted; BOOK_END: none */
	u64 time_ns;		/* of the last line read */
};
#define BOOK_END	(~0ull)

struct book_found {
	u64 lost;		/* this is no line, but so many lines of .source are lost here */
	const char *source;
	u64 time_ns;		/* not before that of the reader's last line */
	u64 last_ns;
	u32 times;
	char text[BOOK_TEXT];
};

#define BOOK_LINES	2144		/* number of lines of all rings */

void book_init(struct book *b, struct book_line lines[BOOK_LINES]);
/* Returns the source of the cell with that name. A new name takes the rings of a cell that ended */
u32 book_cell(struct book *b, const char *name);
void book_live(struct book *b, const char *name, bool live);
void book_add(struct book *b, u32 source, enum book_class class, u64 tsc, u64 time_ns,
	      const char *text);
/* So many lines of that source and class never came */
void book_lose(struct book *b, u32 source, enum book_class class, u64 lines);
/*
 * Copies the next line, in order of time, to @found, and the place behind it to @after. A line
 * whose .order is greater than @until is skipped: a reader with a fixed @until comes to an end
 * whatever is added. Returns false at the end.
 */
bool book_take(struct book *b, const struct book_place *place, u64 until, struct book_found *found,
	       struct book_place *after);

#endif
