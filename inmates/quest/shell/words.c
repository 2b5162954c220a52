// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "words.h"

int words_split(char *line, char *words[WORDS_MAX])
{
	int n = 0;

	for (;;) {
		while (*line == ' ')
			*line++ = 0;
		if (!*line || n == WORDS_MAX)
			return *line ? n + 1 : n;
		words[n++] = line;
		while (*line && *line != ' ')
			line++;
	}
}

bool words_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

bool words_number(const char *word, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;

	if (!*word)
		return false;
	for (; *word; word++) {
		if (*word < '0' || *word > '9' || v > (max - (*word - '0')) / 10)
			return false;
		v = v * 10 + (*word - '0');
	}
	*value = v;
	return v <= max;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool words_value(const char *word, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;

	if (word[0] != '0' || word[1] != 'x')
		return words_number(word, max, value);
	word += 2;
	if (!*word)
		return false;
	for (; *word; word++) {
		int d = digit(*word);

		if (d < 0 || v > max >> 4)
			return false;
		v = v << 4 | d;
	}
	*value = v;
	return v <= max;
}

int words_choice(const char *word, const char *(*name)(unsigned int n), char names[WORDS_CHOICES])
{
	size_t used = 0;
	unsigned int n;

	for (n = 0; name(n); n++)
		if (!strcmp(name(n), word))
			return (int)n;
	for (n = 0; name(n); n++) {
		if (n)
			used += copy_string(names + used, name(n + 1) ? ", " : " or ",
					    WORDS_CHOICES - used);
		used += copy_string(names + used, name(n), WORDS_CHOICES - used);
	}
	return -1;
}
