// SPDX-License-Identifier: GPL-2.0-only
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void buf_grow(struct buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;
	size_t room = buf->room ? buf->room : 256;
	char *data;

	if (need <= buf->room)
		return;
	while (room < need)
		room *= 2;
	data = realloc(buf->data, room);
	if (!data)
		abort();	/* the terminal is restored by the handler of SIGABRT */
	buf->data = data;
	buf->room = room;
}

void buf_put(struct buf *buf, const void *bytes, size_t len)
{
	buf_grow(buf, len);
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_put(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char byte)
{
	buf_put(buf, &byte, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	char text[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		return;
	buf_put(buf, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

bool buf_ends_with(const struct buf *buf, const char *text, size_t len)
{
	return len <= buf->len && (!len || !memcmp(buf->data + buf->len - len, text, len));
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}
