// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Beside inmates/lib/util/string.c, what programs are used to. */
#include <string.h>

char *strcpy(char *to, const char *from)
{
	return memcpy(to, from, strlen(from) + 1);
}

char *strcat(char *to, const char *from)
{
	(void)strcpy(to + strlen(to), from);
	return to;
}

char *strchr(const char *text, int c)
{
	for (; *text != (char)c; text++)
		if (!*text)
			return NULL;
	return (char *)text;
}

char *strrchr(const char *text, int c)
{
	const char *last = NULL;

	for (; ; text++) {
		if (*text == (char)c)
			last = text;
		if (!*text)
			return (char *)last;
	}
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}
