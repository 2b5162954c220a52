// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/printf.h>
#include <quest.h>
#include <stdio.h>
#include <string.h>

#define GATHERED	256

/* Gathers what format_to() delivers in small pieces. */
struct gather {
	size_t n;
	char text[GATHERED];
};

static void put(const char *text, size_t n)
{
	(void)write(1, text, n);
}

static void sink(void *arg, const char *text, size_t n)
{
	struct gather *g = arg;

	for (; n; n--) {
		g->text[g->n++] = *text++;
		if (g->n == sizeof(g->text)) {
			put(g->text, g->n);
			g->n = 0;
		}
	}
}

int vprintf(const char *fmt, va_list ap)
{
	struct gather g = { .n = 0 };
	size_t n = format_to(sink, &g, fmt, ap);

	put(g.text, g.n);
	return (int)n;
}

int printf(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vprintf(fmt, ap);
	va_end(ap);
	return n;
}

int snprintf(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = format_vbuf(to, size, fmt, ap);
	va_end(ap);
	return (int)n;
}

int puts(const char *line)
{
	return printf("%s\n", line);
}

int putchar(int c)
{
	char byte = (char)c;

	put(&byte, 1);
	return c;
}

int getchar(void)
{
	unsigned char key;

	return read(0, &key, 1) == 1 ? key : EOF;
}

void perror_of(const char *what, int error)
{
	printf("%s: %s\n", what, strerror(error));
}
