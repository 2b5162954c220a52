// SPDX-License-Identifier: GPL-2.0-only
/* driver/log_book.h: the rings of the log, and their readers */
#include <string.h>
#include "log_book.h"
#include "unit.h"

static struct book_line lines[BOOK_LINES];
static struct book book;
static struct book_place place;
static struct book_found found;
static u64 now;

/* Reading a line is the place's next step */
static bool step(u64 until)
{
	struct book_place after;

	if (!book_take(&book, &place, until, &found, &after))
		return false;
	place = after;
	return true;
}

static void fresh(void)
{
	now = 0;
	memset(&place, 0, sizeof(place));
	book_init(&book, lines);
}

static u32 cell(const char *name)
{
	book_live(&book, name, true);
	return book_cell(&book, name);
}

static void add(u32 source, enum book_class class, const char *text)
{
	now++;
	book_add(&book, source, class, now * 1000, now, text);
}

/* @number tells the lines of a flood apart, else they are merged */
static void flood(u32 source, enum book_class class, u32 times, bool number)
{
	char text[40] = "quest: VMRUN";
	u32 i;

	for (i = 0; i < times; i++) {
		if (number)
			snprintf(text, sizeof(text), "quest: touched %u", i);
		add(source, class, text);
	}
}

static bool reads(const char *text)
{
	struct book_place start = place;
	bool there = false;

	while (!there && step(BOOK_END))
		there = !found.lost && !strcmp(found.text, text);
	place = start;
	return there;
}

static void flood_spares_failures(void)
{
	u32 one, two;

	fresh();
	one = cell("one");
	two = cell("two");
	add(BOOK_DRIVER, BOOK_KEPT, "driver: enabled");
	add(one, BOOK_KEPT, "one: cell failed");
	add(two, BOOK_OTHER, "two: an IPI was dropped");
	add(BOOK_FRONT_END, BOOK_KEPT, "linux: CPU is under the monitor");
	flood(one, BOOK_OTHER, 10000, true);
	flood(BOOK_FRONT_END, BOOK_OTHER, 10000, true);
	CHECK(reads("driver: enabled"));
	CHECK(reads("one: cell failed"));
	CHECK(reads("two: an IPI was dropped"));
	CHECK(reads("linux: CPU is under the monitor"));
	CHECK(reads("quest: touched 9999"));
}

static void flood_of_failures(void)
{
	u32 one, two;

	fresh();
	one = cell("one");
	two = cell("two");
	add(two, BOOK_KEPT, "two: cell failed");
	flood(one, BOOK_KEPT, 1000, true);
	CHECK(reads("two: cell failed"));
}

static void equal_lines_are_counted(void)
{
	u32 one;

	fresh();
	one = cell("one");
	add(one, BOOK_OTHER, "one: first");
	flood(one, BOOK_OTHER, 500, false);
	add(one, BOOK_OTHER, "one: other");
	flood(one, BOOK_OTHER, 500, false);
	CHECK(step(BOOK_END) && found.times == 1);
	CHECK(step(BOOK_END));
	CHECK_TEXT(found.text, "quest: VMRUN");
	CHECK_EQ(found.times, 1000);
	CHECK_EQ(found.time_ns, 2);
	CHECK_EQ(found.last_ns, now);
	CHECK(step(BOOK_END) && !strcmp(found.text, "one: other"));
	CHECK(!step(BOOK_END));
	/* a reader has that line: a new one begins */
	flood(one, BOOK_OTHER, 3, false);
	CHECK(step(BOOK_END));
	CHECK_EQ(found.times, 3);
	/* events of a cell's life are listed each time */
	add(one, BOOK_KEPT, "driver: one: runs");
	add(one, BOOK_KEPT, "driver: one: runs");
	CHECK(step(BOOK_END) && step(BOOK_END));
	CHECK_EQ(found.times, 1);
}

static void lost_lines_are_counted(void)
{
	u32 one, size, seen = 0;

	fresh();
	one = cell("one");
	size = book.rings[one * BOOK_CLASSES + BOOK_OTHER].size;
	flood(one, BOOK_OTHER, 100, true);
	CHECK(step(BOOK_END));
	CHECK_EQ(found.lost, 100 - size);
	CHECK_TEXT(found.source, "one");
	while (step(BOOK_END))
		seen += !found.lost;
	CHECK_EQ(seen, size);
	/* between two reads */
	flood(one, BOOK_OTHER, size + 5, true);
	CHECK(step(BOOK_END));
	CHECK_EQ(found.lost, 5);
	CHECK(step(BOOK_END));
	CHECK_TEXT(found.text, "quest: touched 5");
	while (step(BOOK_END))
		CHECK_EQ(found.lost, 0);
}

/* Lines that never came, before a line and at the end */
static void missing_events_are_counted(void)
{
	u32 one;

	fresh();
	one = cell("one");
	add(one, BOOK_OTHER, "one: first");
	book_lose(&book, one, BOOK_OTHER, 700);
	add(one, BOOK_OTHER, "one: second");
	book_lose(&book, one, BOOK_OTHER, 7);
	CHECK(step(BOOK_END) && !found.lost);
	CHECK(step(BOOK_END));
	CHECK_EQ(found.lost, 700);
	CHECK(step(BOOK_END) && !found.lost);
	CHECK(step(BOOK_END));
	CHECK_EQ(found.lost, 7);
	CHECK(!step(BOOK_END));
	book_lose(&book, one, BOOK_OTHER, 3);
	CHECK(step(BOOK_END));
	CHECK_EQ(found.lost, 3);
	CHECK(!step(BOOK_END));
}

/* Each step of the reader is followed by more lines, of a source and of another */
static void read_ends_under_a_flood(void)
{
	u32 one, steps = 0, i;
	u64 until;

	for (i = 0; i < 2; i++) {
		fresh();
		one = cell("one");
		flood(one, BOOK_OTHER, 10, true);
		add(BOOK_DRIVER, BOOK_KEPT, "driver: enabled");
		until = book.order;
		for (steps = 0; steps < 1000 && step(until); steps++) {
			flood(one, BOOK_OTHER, 50, i);
			book_lose(&book, one, BOOK_OTHER, 9);
			add(BOOK_FRONT_END, BOOK_OTHER, "linux: late");
			CHECK(found.lost || strcmp(found.text, "linux: late"));
		}
		CHECK(steps < 20);
	}
}

/* Entries of an instance arrive late. Those that a reader has keep their places */
static void lines_are_in_order_of_time(void)
{
	static const u64 order[] = { 10, 20, 30, 40 };
	u32 one, i;

	fresh();
	one = cell("one");
	book_add(&book, one, BOOK_OTHER, 40, 40, "one: 40");
	book_add(&book, BOOK_DRIVER, BOOK_KEPT, 20, 20, "driver: 20");
	book_add(&book, one, BOOK_OTHER, 10, 10, "one: 10");
	book_add(&book, one, BOOK_OTHER, 30, 30, "one: 30");
	for (i = 0; i < 4; i++) {
		CHECK(step(BOOK_END) && !found.lost);
		CHECK_EQ(found.time_ns, order[i]);
	}
	book_add(&book, one, BOOK_OTHER, 15, 15, "one: 15");
	book_add(&book, BOOK_DRIVER, BOOK_KEPT, 12, 12, "driver: 12");
	CHECK(step(BOOK_END) && !found.lost);
	CHECK_TEXT(found.text, "driver: 12");
	CHECK_EQ(found.time_ns, 40);	/* times never decrease */
	CHECK(step(BOOK_END) && !found.lost);
	CHECK_TEXT(found.text, "one: 15");
	CHECK_EQ(found.time_ns, 40);
	CHECK(!step(BOOK_END));
}

/* A cell that exists keeps its lines whatever other cells come and go */
static void rings_of_live_cells_stay(void)
{
	char name[16];
	u32 i, k;

	fresh();
	book_live(&book, "mine", true);
	add(book_cell(&book, "mine"), BOOK_KEPT, "mine: cell failed");
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "cell%u", i);
		book_live(&book, name, true);
		for (k = 0; k < 5; k++)
			add(book_cell(&book, name), BOOK_KEPT, "driver: created");
		book_live(&book, name, false);
	}
	CHECK(reads("mine: cell failed"));
	book_live(&book, "mine", false);
	CHECK_EQ(book_cell(&book, "mine"), book_cell(&book, "mine"));
	CHECK(reads("mine: cell failed"));
}

/* The place comes from a program */
static void any_place_is_harmless(void)
{
	u32 i, k;

	fresh();
	flood(BOOK_DRIVER, BOOK_KEPT, 300, true);
	flood(book_cell(&book, "one"), BOOK_OTHER, 300, true);
	for (i = 0; i < 200; i++) {
		for (k = 0; k < BOOK_RINGS; k++)
			place.next[k] = rnd_below(2) ? rnd() : rnd_below(400);
		for (k = 0; k < 5000 && step(rnd_below(2) ? BOOK_END : rnd()); k++)
			CHECK(found.lost || found.times == 1);
		CHECK(k < 5000);
	}
	memset(&place, 0, sizeof(place));
	CHECK(reads("quest: touched 299"));
}

UNIT_SUITE(log_book) = {
	{ "log book: a flood spares failures, management and other sources",
	  flood_spares_failures },
	{ "log book: a flood of failures pushes out the cell's own only",
	  flood_of_failures },
	{ "log book: equal lines are counted until a reader has them", equal_lines_are_counted },
	{ "log book: readers learn how many lines are lost", lost_lines_are_counted },
	{ "log book: events that came too fast are said to be lost",
	  missing_events_are_counted },
	{ "log book: a read ends under a flood", read_ends_under_a_flood },
	{ "log book: lines are in order of time", lines_are_in_order_of_time },
	{ "log book: cells that exist keep their lines", rings_of_live_cells_stay },
	{ "log book: any place of a reader is harmless", any_place_is_harmless },
	{ 0 }
};
