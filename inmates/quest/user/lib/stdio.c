// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Streams. Output is collected only within a call, and written before it returns. Input is read
 * byte by byte, so that exactly the requested bytes are read from a descriptor.
 */
#include <inmate/printf.h>
#include <stdio.h>
#include <string.h>
#include "raw.h"

#define GATHERED	256

struct quest_stream {
	int fd;
	int ended, failed;
	int own;		/* the stream was allocated by malloc() */
};

FILE quest_stdin = { .fd = 0 }, quest_stdout = { .fd = 1 }, quest_stderr = { .fd = 2 };

/* Collects what format_to() delivers in small pieces. */
struct gather {
	FILE *to;
	size_t n;
	char text[GATHERED];
};

/* Writes everything. Returns 0 on an error, which the stream keeps. */
static int put_bytes(FILE *to, const char *text, size_t n)
{
	ssize_t written;

	for (; n; text += written, n -= (size_t)written) {
		written = posix_answer(quest_write(to->fd, text, n));
		if (written < 0) {
			to->failed = 1;
			return 0;
		}
	}
	return 1;
}

static void flush(struct gather *g)
{
	if (g->n)
		(void)put_bytes(g->to, g->text, g->n);
	g->n = 0;
}

static void gather(void *arg, const char *text, size_t n)
{
	struct gather *g = arg;

	for (; n; n--) {
		g->text[g->n++] = *text++;
		if (g->n == sizeof(g->text))
			flush(g);
	}
}

static int format_to_stream(FILE *to, const char *fmt, va_list ap)
{
	struct gather g = { .to = to };
	int before = to->failed, failed_now;
	size_t n;

	to->failed = 0;
	n = format_to(gather, &g, fmt, ap);
	flush(&g);
	failed_now = to->failed;
	to->failed |= before;
	return failed_now ? -1 : (int)n;
}

int vfprintf(FILE *to, const char *fmt, va_list ap)
{
	return format_to_stream(to, fmt, ap);
}

int vprintf(const char *fmt, va_list ap)
{
	return format_to_stream(stdout, fmt, ap);
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

int fprintf(FILE *to, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vfprintf(to, fmt, ap);
	va_end(ap);
	return n;
}

int dprintf(int fd, const char *fmt, ...)
{
	FILE stream = { .fd = fd };
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vfprintf(&stream, fmt, ap);
	va_end(ap);
	return n;
}

int vsnprintf(char *to, size_t size, const char *fmt, va_list ap)
{
	return (int)format_vbuf(to, size, fmt, ap);
}

int snprintf(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(to, size, fmt, ap);
	va_end(ap);
	return n;
}

int sprintf(char *to, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(to, (size_t)1 << 30, fmt, ap);
	va_end(ap);
	return n;
}

int fputs(const char *text, FILE *to)
{
	return put_bytes(to, text, strlen(text)) ? 0 : EOF;
}

int puts(const char *line)
{
	return printf("%s\n", line) < 0 ? EOF : 0;
}

int fputc(int c, FILE *to)
{
	char byte = (char)c;

	return put_bytes(to, &byte, 1) ? (unsigned char)c : EOF;
}

int putchar(int c)
{
	return fputc(c, stdout);
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *to)
{
	return put_bytes(to, from, size * n) ? n : 0;
}

int fflush(FILE *to)
{
	(void)to;
	return 0;
}

int setvbuf(FILE *stream, char *buffer, int mode, size_t size)
{
	(void)stream;
	(void)buffer;
	(void)size;
	return mode == _IONBF ? 0 : -1;
}

void setbuf(FILE *stream, char *buffer)
{
	(void)stream;
	(void)buffer;
}

int fgetc(FILE *from)
{
	unsigned char byte;
	ssize_t n = posix_answer(quest_read(from->fd, &byte, 1));

	if (n == 1)
		return byte;
	if (n < 0)
		from->failed = 1;
	else
		from->ended = 1;
	return EOF;
}

int getchar(void)
{
	return fgetc(stdin);
}

char *fgets(char *to, int size, FILE *from)
{
	int n = 0, c = 0;

	while (n < size - 1 && c != '\n' && (c = fgetc(from)) != EOF)
		to[n++] = (char)c;
	if (!n || from->failed)
		return NULL;
	to[n] = 0;
	return to;
}

size_t fread(void *to, size_t size, size_t n, FILE *from)
{
	size_t bytes = size * n, got = 0;
	ssize_t more;

	while (got < bytes) {
		more = posix_answer(quest_read(from->fd, (char *)to + got, bytes - got));
		if (more < 0)
			from->failed = 1;
		else if (!more)
			from->ended = 1;
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	return size ? got / size : 0;
}

FILE *fdopen(int fd, const char *mode)
{
	FILE *stream = malloc(sizeof(*stream));

	(void)mode;
	if (!stream) {
		errno = ENOMEM;
		return NULL;
	}
	*stream = (FILE){ .fd = fd, .own = 1 };
	return stream;
}

FILE *fopen(const char *file, const char *mode)
{
	int fd = (int)posix_answer(quest_open(file, mode[0] == 'r' && !strchr(mode, '+') ?
					      O_RDONLY : O_RDWR));
	FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);

	if (fd >= 0 && !stream)
		(void)quest_close(fd);
	return stream;
}

int fclose(FILE *stream)
{
	int fd = stream->fd;

	if (stream->own)
		free(stream);
	return posix_answer(quest_close(fd)) ? EOF : 0;
}

int fileno(FILE *stream)
{
	return stream->fd;
}

int feof(FILE *stream)
{
	return stream->ended;
}

int ferror(FILE *stream)
{
	return stream->failed;
}

void clearerr(FILE *stream)
{
	stream->ended = stream->failed = 0;
}

void perror(const char *what)
{
	int error = errno;

	if (what && *what)
		(void)fprintf(stderr, "%s: %s\n", what, strerror(error));
	else
		(void)fprintf(stderr, "%s\n", strerror(error));
	errno = error;
}

void perror_of(const char *what, int error)
{
	(void)printf("%s: %s\n", what, strerror(error));
}
