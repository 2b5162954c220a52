// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The string functions that inmates/lib/util/string.c does not have. */
#include <stdlib.h>
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

void *memchr(const void *at, int byte, size_t n)
{
	const unsigned char *p = at;

	for (; n; n--, p++)
		if (*p == (unsigned char)byte)
			return (void *)p;
	return NULL;
}

size_t strnlen(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

char *strncpy(char *to, const char *from, size_t n)
{
	size_t length = strnlen(from, n);

	(void)memcpy(to, from, length);
	(void)memset(to + length, 0, n - length);
	return to;
}

char *strncat(char *to, const char *from, size_t n)
{
	char *end = to + strlen(to);
	size_t length = strnlen(from, n);

	(void)memcpy(end, from, length);
	end[length] = 0;
	return to;
}

char *strstr(const char *text, const char *part)
{
	size_t n = strlen(part);

	for (; ; text++) {
		if (!strncmp(text, part, n))
			return (char *)text;
		if (!*text)
			return NULL;
	}
}

size_t strspn(const char *text, const char *bytes)
{
	size_t n = 0;

	while (text[n] && strchr(bytes, text[n]))
		n++;
	return n;
}

size_t strcspn(const char *text, const char *bytes)
{
	size_t n = 0;

	while (text[n] && !strchr(bytes, text[n]))
		n++;
	return n;
}

char *strtok_r(char *text, const char *bytes, char **rest)
{
	if (!text)
		text = *rest;
	text += strspn(text, bytes);
	*rest = text + strcspn(text, bytes);
	if (*rest == text)
		return NULL;
	if (**rest)
		*(*rest)++ = 0;
	return text;
}

char *strtok(char *text, const char *bytes)
{
	static char *rest;

	return strtok_r(text, bytes, &rest);
}

char *strdup(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}
