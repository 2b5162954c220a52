// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/printf.h>
#include <stdbool.h>
#include <stdint.h>

struct output {
	format_sink *sink;
	void *arg;
	size_t count;
};

/* One conversion specification: the text between % and the letter. */
struct spec {
	bool left, zero;
	int width;
	int precision;		/* -1: none */
	int length;		/* length of the argument: -2 hh, -1 h, 0 int, 1 l, 2 ll and z */
};

static void emit(struct output *out, const char *text, size_t n)
{
	if (!n)
		return;
	out->sink(out->arg, text, n);
	out->count += n;
}

static void pad(struct output *out, char c, int n)
{
	while (n-- > 0)
		emit(out, &c, 1);
}

static void put_text(struct output *out, const struct spec *s, const char *text, size_t n)
{
	int fill = s->width - (int)n;

	if (!s->left)
		pad(out, ' ', fill);
	emit(out, text, n);
	if (s->left)
		pad(out, ' ', fill);
}

static void put_string(struct output *out, const struct spec *s, const char *text)
{
	size_t n = 0;

	if (!text)
		text = "(null)";
	while ((s->precision < 0 || n < (size_t)s->precision) && text[n])
		n++;
	put_text(out, s, text, n);
}

static void put_number(struct output *out, const struct spec *s, uint64_t value,
		       const char *prefix, unsigned int base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[24];
	size_t at = sizeof(text), n_prefix = 0;
	int fill;

	do {
		text[--at] = digits[value % base];
		value /= base;
	} while (value);
	while (prefix[n_prefix])
		n_prefix++;
	fill = s->width - (int)(sizeof(text) - at + n_prefix);
	if (!s->left && !s->zero)
		pad(out, ' ', fill);
	emit(out, prefix, n_prefix);
	if (!s->left && s->zero)
		pad(out, '0', fill);
	emit(out, text + at, sizeof(text) - at);
	if (s->left)
		pad(out, ' ', fill);
}

static const char *parse_count(const char *fmt, int *value, va_list *ap)
{
	if (*fmt == '*') {
		*value = va_arg(*ap, int);
		return fmt + 1;
	}
	for (*value = 0; *fmt >= '0' && *fmt <= '9'; fmt++)
		if (*value < 10000)
			*value = *value * 10 + (*fmt - '0');
	return fmt;
}

static const char *parse_spec(const char *fmt, struct spec *s, va_list *ap)
{
	*s = (struct spec){ .precision = -1 };
	for (; *fmt == '-' || *fmt == '0'; fmt++) {
		if (*fmt == '-')
			s->left = true;
		else
			s->zero = true;
	}
	fmt = parse_count(fmt, &s->width, ap);
	if (s->width < 0) {
		s->left = true;
		s->width = -s->width;
	}
	if (*fmt == '.')
		fmt = parse_count(fmt + 1, &s->precision, ap);
	for (;; fmt++) {
		if (*fmt == 'l' || *fmt == 'z')
			s->length += *fmt == 'z' ? 2 : 1;
		else if (*fmt == 'h')
			s->length--;
		else
			return fmt;
	}
}

static int64_t next_signed(const struct spec *s, va_list *ap)
{
	switch (s->length) {
	case 0:
		return va_arg(*ap, int);
	case -1:
		return (short)va_arg(*ap, int);
	case -2:
		return (signed char)va_arg(*ap, int);
	default:
		return va_arg(*ap, long long);
	}
}

static uint64_t next_unsigned(const struct spec *s, va_list *ap)
{
	switch (s->length) {
	case 0:
		return va_arg(*ap, unsigned int);
	case -1:
		return (unsigned short)va_arg(*ap, unsigned int);
	case -2:
		return (unsigned char)va_arg(*ap, unsigned int);
	default:
		return va_arg(*ap, unsigned long long);
	}
}

static void convert(struct output *out, const struct spec *s, char letter, va_list *ap)
{
	int64_t v;
	char c;

	switch (letter) {
	case 'd':
	case 'i':
		v = next_signed(s, ap);
		put_number(out, s, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0 ? "-" : "", 10, false);
		break;
	case 'u':
		put_number(out, s, next_unsigned(s, ap), "", 10, false);
		break;
	case 'x':
	case 'X':
		put_number(out, s, next_unsigned(s, ap), "", 16, letter == 'X');
		break;
	case 'p':
		put_number(out, s, (uintptr_t)va_arg(*ap, void *), "0x", 16, false);
		break;
	case 's':
		put_string(out, s, va_arg(*ap, const char *));
		break;
	case 'c':
		c = (char)va_arg(*ap, int);
		put_text(out, s, &c, 1);
		break;
	case '%':
		emit(out, "%", 1);
		break;
	default:
		emit(out, "%", 1);
		emit(out, &letter, 1);
	}
}

size_t format_to(format_sink *sink, void *arg, const char *fmt, va_list args)
{
	struct output out = { sink, arg, 0 };
	struct spec s;
	const char *run;
	va_list ap;

	va_copy(ap, args);
	while (*fmt) {
		for (run = fmt; *fmt && *fmt != '%'; fmt++)
			;
		emit(&out, run, fmt - run);
		if (!*fmt)
			break;
		fmt = parse_spec(fmt + 1, &s, &ap);
		if (!*fmt)
			break;
		convert(&out, &s, *fmt++, &ap);
	}
	va_end(ap);
	return out.count;
}

struct buffer {
	char *at;
	size_t room;
};

static void buffer_sink(void *arg, const char *text, size_t n)
{
	struct buffer *b = arg;

	for (; n && b->room; n--, b->room--)
		*b->at++ = *text++;
}

size_t format_vbuf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct buffer b = { buf, size ? size - 1 : 0 };
	size_t n = format_to(buffer_sink, &b, fmt, ap);

	if (size)
		*b.at = 0;
	return n;
}

size_t format_buf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = format_vbuf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}
