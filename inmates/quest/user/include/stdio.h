/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Output is not buffered: it is written before the call returns. Conversions: d i u o x X c s p % f
 * F e E g G; flags - + space # 0; width and precision (also *); lengths hh h l ll z j t L. No %a
 * and %n.
 */
#ifndef QUEST_STDIO_H
#define QUEST_STDIO_H

#include <stdarg.h>
#include <stddef.h>

typedef struct quest_stream FILE;
extern FILE quest_stdin, quest_stdout, quest_stderr;

#define stdin	(&quest_stdin)
#define stdout	(&quest_stdout)
#define stderr	(&quest_stderr)
#define EOF	(-1)
#define BUFSIZ	256
#define _IOFBF	0
#define _IOLBF	1
#define _IONBF	2

int printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int sprintf(char *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int dprintf(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
int vfprintf(FILE *to, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int vsnprintf(char *to, size_t size, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
int puts(const char *line);
int fputs(const char *text, FILE *to);
int putchar(int c);
int fputc(int c, FILE *to);
#define putc(c, to) fputc(c, to)
size_t fwrite(const void *from, size_t size, size_t n, FILE *to);
int fflush(FILE *to);		/* returns 0, since no output is buffered */
int setvbuf(FILE *stream, char *buffer, int mode, size_t size);	/* returns 0 for _IONBF, else -1 */
void setbuf(FILE *stream, char *buffer);

int getchar(void);		/* reads a key without echo; EOF in the background */
int fgetc(FILE *from);
#define getc(from) fgetc(from)
char *fgets(char *to, int size, FILE *from);
size_t fread(void *to, size_t size, size_t n, FILE *from);
/* opens a file of the archive, with mode "r"; NULL: the errors of open() */
FILE *fopen(const char *file, const char *mode);
FILE *fdopen(int fd, const char *mode);
int fclose(FILE *stream);
int fileno(FILE *stream);
int feof(FILE *stream);
int ferror(FILE *stream);
void clearerr(FILE *stream);

void perror(const char *what);	/* prints the text, ": " and the sentence of errno to stderr */

#endif
