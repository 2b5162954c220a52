/* SPDX-License-Identifier: GPL-2.0-only */
/* A buffer of bytes that grows. If no memory is left, the program ends. */
#ifndef QUESH_BUF_H
#define QUESH_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data;	/* NUL-terminated after the first put */
	size_t len;
	size_t room;
};

void buf_put(struct buf *buf, const void *bytes, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char byte);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buf_ends_with(const struct buf *buf, const char *text, size_t len);
void buf_clear(struct buf *buf);
void buf_free(struct buf *buf);

#endif
