// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/screen.h>
#include <stdlib.h>
#include <string.h>
#include "../quest/shell/lineedit.h"
#include "../quest/shell/stages.h"
#include "../quest/shell/words.h"
#include "unit.h"

#define UP	"\033[A"
#define DOWN	"\033[B"
#define RIGHT	"\033[C"
#define LEFT	"\033[D"

static struct lineedit l;
static struct screen s;
static uint16_t cells[SCREEN_CELLS];

static void echo(const char *text, size_t n)
{
	screen_write(&s, text, n);
}

/* The words that Tab can complete. */
static const char *names(unsigned int i)
{
	static const char *const list[] = { "echo", "canny", "count", "cpu", "counter" };

	return i < sizeof(list) / sizeof(list[0]) ? list[i] : NULL;
}

static void fresh(void)
{
	screen_init(&s, cells);
	lineedit_init(&l, echo, names, "");
	lineedit_begin(&l);
}

static bool key(uint8_t k)
{
	bool done = lineedit_key(&l, k);

	if (done)
		echo("\n", 1);
	return done;
}

/* Types keys. Returns how many lines were finished. The last one is in l.text. */
static int type(const char *keys)
{
	int lines = 0;

	for (; *keys; keys++) {
		if (!key((uint8_t)*keys))
			continue;
		lines++;
		if (keys[1])
			lineedit_begin(&l);
	}
	return lines;
}

/* Types a line on an empty screen. The line must be `want`, and the screen must show it. */
static bool gives(const char *keys, const char *want)
{
	size_t i, n = strlen(want);

	screen_init(&s, cells);
	lineedit_begin(&l);
	if (type(keys) != 1 || strcmp(l.text, want))
		return false;
	for (i = 0; i < n; i++)
		if ((cells[i] & 0xFF) != (unsigned char)want[i])
			return false;
	return (cells[n] & 0xFF) == ' ' && s.cursor == SCREEN_COLS;
}

TEST(line_plain)
{
	fresh();
	CHECK(gives("help\r", "help"));
	CHECK(gives("help\n", "help"));
	CHECK(gives("\r", ""));
}

TEST(line_edits)
{
	fresh();
	CHECK(gives("hexx\177\177lp\r", "help"));
	CHECK(gives("\177\177a\b\bb\r", "b"));
	CHECK(gives("hlp" LEFT LEFT "e\r", "help"));
	CHECK(gives("xhelp\001\033[3~\r", "help"));
	CHECK(gives("elp\033[Hh\033[F!\r", "help!"));
	CHECK(gives("abc" LEFT "\177" RIGHT "d\r", "acd"));
	CHECK(gives("abc\025de\r", "de"));
	CHECK(gives("bc\001a\005d\r", "abcd"));
}

TEST(line_history)
{
	fresh();
	CHECK(gives("one\r", "one"));
	CHECK(gives("two\r", "two"));
	CHECK(gives(UP "\r", "two"));
	CHECK(gives(UP UP "\r", "one"));
	CHECK(gives("dra" UP UP DOWN DOWN "ft\r", "draft"));
	CHECK(gives(UP UP UP UP UP UP UP UP UP "\r", "one"));
	CHECK(gives(DOWN "x\r", "x"));
}

TEST(line_history_forgets_the_oldest)
{
	char keys[16], want[16];
	int i;

	fresh();
	for (i = 0; i < LINE_HISTORY + 5; i++) {
		snprintf(keys, sizeof(keys), "c%d\r", i);
		snprintf(want, sizeof(want), "c%d", i);
		CHECK(gives(keys, want));
	}
	lineedit_begin(&l);
	for (i = 0; i < LINE_HISTORY + 5; i++)
		type(UP);
	type("\r");
	CHECK(!strcmp(l.text, "c5"));
}

TEST(line_abort_and_junk)
{
	fresh();
	CHECK(type("abc\003") == 1 && !strcmp(l.text, "") && l.length == 0);
	CHECK(gives("a\001\002\006\033[5~\033xb\302\r", "ba") && l.foreign);
	CHECK(gives("a\r", "a") && !l.foreign);
	CHECK(gives("\303\274\025b\r", "b") && !l.foreign);	/* ^U empties the line */
	CHECK(gives("gr\303\274n\r", "grn") && l.foreign);
	CHECK(gives(UP "\r", "grn") && !l.foreign);
	CHECK(gives("b\033[12;34Ha\r", "ab"));
	CHECK(gives("ok\033[200~\r", "ok"));
	CHECK(gives("cut\033[\r", "cut"));
}

/* Returns true if the screen shows `want` from cell `n` on. */
static bool row_is(unsigned int n, const char *want)
{
	for (; *want; want++, n++)
		if ((cells[n] & 0xFF) != (unsigned char)*want)
			return false;
	return true;
}

TEST(tab_lists_what_it_may_become)
{
	screen_init(&s, cells);
	lineedit_init(&l, echo, names, "> ");
	lineedit_begin(&l);
	lineedit_show(&l);
	type("x c\t");
	CHECK(row_is(0, "> x c ") && row_is(SCREEN_COLS, "canny  count  cpu  counter   ") &&
	      row_is(2 * SCREEN_COLS, "> x c "));
	CHECK(s.cursor == 2 * SCREEN_COLS + 5);
	type("o\t");
	CHECK(row_is(2 * SCREEN_COLS, "> x count ") && s.cursor == 2 * SCREEN_COLS + 9);
	type("\t");
	CHECK(row_is(3 * SCREEN_COLS, "count  counter   ") &&
	      row_is(4 * SCREEN_COLS, "> x count "));
	CHECK(type("\r") == 1 && !strcmp(l.text, "x count"));
}

TEST(line_is_shown_again)
{
	screen_init(&s, cells);
	lineedit_init(&l, echo, names, "> ");
	lineedit_begin(&l);
	lineedit_show(&l);
	type("help" LEFT LEFT);
	echo("\nnews\n", 6);
	lineedit_show(&l);
	CHECK(row_is(2 * SCREEN_COLS, "> help ") && s.cursor == 2 * SCREEN_COLS + 4);
	CHECK(type("x\r") == 1 && !strcmp(l.text, "hexlp"));
}

TEST(line_makes_room)
{
	int i;

	screen_init(&s, cells);
	lineedit_init(&l, echo, names, "> ");
	lineedit_begin(&l);
	lineedit_show(&l);
	type("help" LEFT LEFT);
	lineedit_hide(&l);
	CHECK(s.cursor == 0);
	echo("news\n", 5);
	CHECK(row_is(0, "news   "));
	lineedit_show(&l);
	CHECK(row_is(SCREEN_COLS, "> help ") && s.cursor == SCREEN_COLS + 4);
	for (i = 0; i < SCREEN_COLS; i++)
		type("x");
	lineedit_hide(&l);
	CHECK(row_is(SCREEN_COLS, "> hexxx") && s.cursor == 3 * SCREEN_COLS);
	screen_init(&s, cells);
	lineedit_show(&l);
	type("\001");
	lineedit_hide(&l);
	CHECK(row_is(0, "> hexxx") && s.cursor == 2 * SCREEN_COLS);
}

TEST(line_never_overflows)
{
	int i;

	fresh();
	for (i = 0; i < 3 * LINE_LENGTH; i++)
		CHECK(!lineedit_key(&l, 'x'));
	CHECK(lineedit_key(&l, '\r') && strlen(l.text) == LINE_LENGTH - 1);
}

TEST(line_survives_random_keys)
{
	static const char alphabet[] = "abc\033\033[[ABCDHF34~\r\177\010\001\005\025\003\000\377";
	int i;

	fresh();
	srand(3);
	for (i = 0; i < 300000; i++) {
		if (lineedit_key(&l, (uint8_t)alphabet[rand() % (sizeof(alphabet) - 1)]))
			lineedit_begin(&l);
		CHECK(l.at <= l.length && l.length < LINE_LENGTH);
	}
}

TEST(words_are_split)
{
	char line[] = "  echo  a b ", blank[] = "   ",
	     many[] = "1 2 3 4 5 6 7 8 9 a b c d e f g h i";
	char *words[WORDS_MAX];

	CHECK(words_split(line, words) == 3);
	CHECK(!strcmp(words[0], "echo") && !strcmp(words[2], "b"));
	CHECK(words_split(blank, words) == 0);
	CHECK(words_ascii("echo ~") && words_ascii("") && !words_ascii("gr\303\274n"));
	CHECK(words_split(many, words) == WORDS_MAX + 1 && !strcmp(words[15], "g"));
}

TEST(words_numbers)
{
	uint64_t v = 99;

	CHECK(words_number("0", 10, &v) && v == 0);
	CHECK(words_number("10", 10, &v) && v == 10);
	CHECK(!words_number("11", 10, &v) && !words_number("", 10, &v));
	CHECK(!words_number("9", 5, &v));
	CHECK(!words_number("1x", 10, &v) && !words_number("-1", 10, &v));
	CHECK(words_number("18446744073709551615", UINT64_MAX, &v) && v == UINT64_MAX);
	CHECK(!words_number("18446744073709551616", UINT64_MAX, &v));
}

static bool completed(const char *keys, const char *line)
{
	fresh();
	return type(keys) == 1 && !strcmp(l.text, line);
}

TEST(tab_completes)
{
	CHECK(completed("e\t\r", "echo "));
	CHECK(completed("co\t\r", "count"));
	CHECK(completed("counte\t!\r", "counter !"));
	CHECK(completed("c\t\r", "c"));
	CHECK(completed("x\t\r", "x"));
	CHECK(completed("\t\r", ""));
	CHECK(completed("run can\t1\r", "run canny 1"));
	CHECK(completed("can run\001\033[C\033[C\033[C\t\r", "canny  run"));
}

TEST(stages)
{
	char *plain[] = { "canny", "10" },
	     *two[] = { "vcpu=a", "prime", "100", "|", "vcpu=b", "wc" };
	char *odd[] = { "|", "wc", "|" }, *many[WORDS_MAX];
	struct stage s[STAGES_MAX];
	int i;

	CHECK(stages_split(2, plain, s) == 1 && s[0].argc == 2 && s[0].argv == plain && !s[0].vcpu);
	CHECK(stages_split(6, two, s) == 2 && s[0].vcpu == two[0] && s[0].argc == 2 &&
	      s[0].argv == two + 1);
	CHECK(s[1].vcpu == two[4] && s[1].argc == 1 && s[1].argv == two + 5);
	CHECK(stages_split(3, odd, s) == 3 && !s[0].argc && s[1].argc == 1 && !s[2].argc);
	CHECK(stages_split(1, two, s) == 1 && s[0].vcpu && !s[0].argc);
	for (i = 0; i < WORDS_MAX; i++)
		many[i] = "|";
	CHECK(stages_split(WORDS_MAX, many, s) == STAGES_MAX && !s[0].argc);
	for (i = 0; i < WORDS_MAX; i += 2)
		many[i] = "wc";
	CHECK(stages_split(WORDS_MAX - 1, many, s) == WORDS_MAX / 2 &&
	      s[WORDS_MAX / 2 - 1].argc == 1);
}

static const char *one_name(unsigned int n)
{
	return n ? NULL : "first";
}

/* A word that is no choice is answered with all that are. */
TEST(choice)
{
	char text[WORDS_CHOICES] = "";

	CHECK_EQ(words_choice("canny", names, text), 1);
	CHECK_EQ(words_choice("counter", names, text), 4);
	CHECK_TEXT(text, "");
	CHECK_EQ(words_choice("coun", names, text), -1);
	CHECK_TEXT(text, "echo, canny, count, cpu or counter");
	CHECK_EQ(words_choice("", one_name, text), -1);
	CHECK_TEXT(text, "first");
}
