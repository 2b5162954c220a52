// SPDX-License-Identifier: GPL-2.0-only
/* Finds the cases of a file, and runs each with full preemptive and with non-preemptive tasks. */
#include <inmate/string.h>
#include "suite.h"

static const char *next_line(const char *at)
{
	while (*at && *at != '\n')
		at++;
	return *at ? at + 1 : at;
}

static bool begins(const char *at, const char *word)
{
	while (*word && *at == *word) {
		at++;
		word++;
	}
	return !*word;
}

static bool has(const char *line, const char *word)
{
	for (; *line && *line != '\n'; line++)
		if (begins(line, word))
			return true;
	return false;
}

/* `for full extended`: without a word of a kind, all of the kind. */
static bool wanted(const char *variants, const char *yes, const char *no)
{
	return !variants || has(variants, yes) || !has(variants, no);
}

static void run_variant(struct case_text *text, bool non, struct batch_count *count)
{
	enum verdict verdict;

	text->non = non;
	verdict = run_case(text);
	count->passed += verdict == CASE_PASSED;
	count->failed += verdict == CASE_FAILED;
}

static void run_variants(struct case_text *text, struct batch_count *count)
{
	const char *variants = NULL;

	count->cases++;
	if (begins(text->begin, "for ")) {
		variants = text->begin;
		text->begin = next_line(text->begin);
		text->line++;
	}
	if (!wanted(variants, OS_EXTENDED ? "extended" : "standard",
		    OS_EXTENDED ? "standard" : "extended"))
		return;
	if (wanted(variants, "full", "non"))
		run_variant(text, false, count);
	if (wanted(variants, "non", "full"))
		run_variant(text, true, count);
}

/* Copies the text of the line `case FAMILY NUMBER: TEXT` without its first word. */
static void copy_title(char *title, size_t size, const char *line)
{
	size_t n = 0;

	for (line += strlen("case "); *line && *line != '\n' && n < size - 1; line++)
		title[n++] = *line;
	title[n] = 0;
}

void batch_run(const char *file, const char *text, struct batch_count *count)
{
	struct case_text one = { .file = file };
	int line = 1;

	for (; *text; text = next_line(text), line++) {
		if (!begins(text, "case "))
			continue;
		if (one.begin) {
			one.end = text;
			run_variants(&one, count);
		}
		copy_title(one.title, sizeof(one.title), text);
		one.begin = next_line(text);
		one.line = line + 1;
	}
	if (one.begin) {
		one.end = text;
		run_variants(&one, count);
	}
}
