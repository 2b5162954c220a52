// SPDX-License-Identifier: GPL-2.0-only
/* The rings of the log: see log_book.h. */
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif
#include "log_book.h"

#define MERGES	8	/* a line is compared with so many last lines of its ring */

/* Number of lines of the rings of a source */
static u32 book_size(u32 source, u32 class)
{
	static const u32 cell[] = { [BOOK_KEPT] = 64, [BOOK_OTHER] = 32 };
	static const u32 driver[] = { [BOOK_KEPT] = 128, [BOOK_OTHER] = 32 };
	static const u32 front_end[] = { [BOOK_KEPT] = 192, [BOOK_OTHER] = 256 };

	return source == BOOK_DRIVER ? driver[class] :
	       source == BOOK_FRONT_END ? front_end[class] : cell[class];
}

static struct book_ring *book_ring(struct book *b, u32 source, u32 class)
{
	return &b->rings[source * BOOK_CLASSES + class];
}

/* Returns the n-th line of a ring, from the oldest on */
static struct book_line *book_line(const struct book_ring *r, u32 n)
{
	return &r->lines[(r->first + n) % r->size];
}

void book_init(struct book *b, struct book_line lines[BOOK_LINES])
{
	u32 source, class, used = 0;

	memset(b, 0, sizeof(*b));
	for (source = 0; source < BOOK_SOURCES; source++)
		for (class = 0; class < BOOK_CLASSES; class++) {
			struct book_ring *r = book_ring(b, source, class);

			r->size = book_size(source, class);
			r->lines = lines + used;
			used += r->size;
		}
	strcpy(b->names[BOOK_DRIVER], "driver");
	strcpy(b->names[BOOK_FRONT_END], QV_FRONT_END);
}

/* Returns the order of the source's last line, 0 if it has none */
static u64 book_last(struct book *b, u32 source)
{
	u64 last = 0;
	u32 class;

	for (class = 0; class < BOOK_CLASSES; class++) {
		const struct book_ring *r = book_ring(b, source, class);

		if (r->used && book_line(r, r->used - 1)->order > last)
			last = book_line(r, r->used - 1)->order;
	}
	return last;
}

/* There are more sources of cells than cells: one does not live */
u32 book_cell(struct book *b, const char *name)
{
	u32 source, oldest = 0;

	for (source = BOOK_CELLS; source < BOOK_SOURCES; source++) {
		if (!strncmp(b->names[source], name, QV_NAME_LEN))
			return source;
		if (!b->live[source] &&
		    (!oldest || book_last(b, source) < book_last(b, oldest)))
			oldest = source;
	}
	if (!oldest)
		return BOOK_DRIVER;
	memset(b->names[oldest], 0, QV_NAME_LEN);
	strncpy(b->names[oldest], name, QV_NAME_LEN - 1);
	return oldest;
}

void book_live(struct book *b, const char *name, bool live)
{
	b->live[book_cell(b, name)] = live;
}

/* An equal line that no reader has counts the new one. Returns false if no line is equal */
static bool book_merge(const struct book_ring *r, const char *text, u64 time_ns)
{
	u32 n = r->used, end = n > MERGES ? n - MERGES : 0;

	for (; n > end; n--) {
		struct book_line *l = book_line(r, n - 1);

		if (l->number <= r->handed)
			return false;
		if (strcmp(l->text, text))
			continue;
		l->times++;
		if (time_ns > l->last_ns)
			l->last_ns = time_ns;
		return true;
	}
	return false;
}

/* Moves the contents of a line to the next place. Numbers belong to places */
static void book_move(struct book_line *to, const struct book_line *from)
{
	u64 number = to->number;

	*to = *from;
	to->number = number;
}

/* Makes room for a line with this time, before later lines that no reader has */
static struct book_line *book_room(struct book_ring *r, u64 tsc)
{
	struct book_line *l;
	u32 n;

	if (r->used == r->size) {
		r->first = (r->first + 1) % r->size;
		r->used--;
	}
	n = r->used++;
	l = book_line(r, n);
	l->number = ++r->count;
	for (; n && book_line(r, n - 1)->tsc > tsc && book_line(r, n - 1)->number > r->handed; n--)
		book_move(book_line(r, n), book_line(r, n - 1));
	return book_line(r, n);
}

void book_add(struct book *b, u32 source, enum book_class class, u64 tsc, u64 time_ns,
	      const char *text)
{
	struct book_ring *r = book_ring(b, source, class);
	struct book_line *l;

	if (class == BOOK_OTHER && book_merge(r, text, time_ns))
		return;
	l = book_room(r, tsc);
	l->order = ++b->order;
	l->tsc = tsc;
	l->time_ns = time_ns;
	l->last_ns = time_ns;
	l->times = 1;
	strncpy(l->text, text, sizeof(l->text) - 1);
	l->text[sizeof(l->text) - 1] = 0;
}

void book_lose(struct book *b, u32 source, enum book_class class, u64 lines)
{
	book_ring(b, source, class)->count += lines;
}

/* Returns how many lines of the ring have numbers below @number */
static u32 book_below(const struct book_ring *r, u64 number)
{
	u32 low = 0, high = r->used;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (book_line(r, middle)->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the next line for a reader whose place is @next, or NULL */
static const struct book_line *book_next(const struct book_ring *r, u64 next, u64 until)
{
	u32 n;

	for (n = book_below(r, next); n < r->used; n++)
		if (book_line(r, n)->order <= until)
			return book_line(r, n);
	return NULL;
}

/* Returns how many lines from number @next on, and before @line if there is one, are lost */
static u64 book_lost(const struct book_ring *r, u64 next, const struct book_line *line)
{
	u64 end = line ? line->number : r->count + 1, from = next ?: 1;
	u32 there = book_below(r, end) - book_below(r, from);

	return from < end ? end - from - there : 0;
}

/* Finds the ring that has the earliest line, or else a ring that ends with lines that are lost */
static const struct book_line *book_earliest(struct book *b, const struct book_place *place,
					     u64 until, u32 *ring)
{
	const struct book_line *best = NULL;
	u32 i;

	*ring = BOOK_RINGS;
	for (i = 0; i < BOOK_RINGS; i++) {
		const struct book_ring *r = &b->rings[i];
		const struct book_line *l = book_next(r, place->next[i], until);

		if (l ? !best || l->tsc < best->tsc :
			!best && book_lost(r, place->next[i], NULL)) {
			best = l;
			*ring = i;
		}
	}
	return best;
}

/* Readers have the line with that number, and those before */
static void book_hand(struct book_ring *r, u64 number)
{
	if (number > r->count)
		number = r->count;
	if (number > r->handed)
		r->handed = number;
}

static u64 book_later(u64 a, u64 b)
{
	return a > b ? a : b;
}

bool book_take(struct book *b, const struct book_place *place, u64 until, struct book_found *found,
	       struct book_place *after)
{
	u32 ring;
	const struct book_line *line = book_earliest(b, place, until, &ring);
	struct book_ring *r = &b->rings[ring];

	if (ring == BOOK_RINGS)
		return false;
	*after = *place;
	found->source = b->names[ring / BOOK_CLASSES];
	found->lost = book_lost(r, place->next[ring], line);
	found->time_ns = place->time_ns;
	if (line)
		found->time_ns = book_later(line->time_ns, place->time_ns);
	after->time_ns = found->time_ns;
	if (found->lost) {
		after->next[ring] = line ? line->number :
				    until == BOOK_END ? r->count + 1 : BOOK_END;
		return true;
	}
	found->times = line->times;
	found->last_ns = book_later(line->last_ns, found->time_ns);
	memcpy(found->text, line->text, sizeof(found->text));
	after->next[ring] = line->number + 1;
	book_hand(r, line->number);
	return true;
}
