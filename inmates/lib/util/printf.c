// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/printf.h>
#include <inmate/string.h>
#include <stdbool.h>
#include <stdint.h>
#include "decimal.h"

struct output {
	format_sink *sink;
	void *arg;
	size_t count;
};

/* One conversion: the text between % and the letter. */
struct spec {
	bool left, zero, plus, space, alternate;
	int width;
	int precision;		/* -1: none */
	int length;		/* -2 hh, -1 h, 0 int, 1 or more: long; L counts as 1 */
	bool long_double;
	char letter;
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

/*
 * Writes `sign` and `body`, which has `n` bytes, in the field's width. Fills the field with blanks
 * before, zeros after the sign, or blanks after the text.
 */
static void put_field(struct output *out, const struct spec *s, const char *sign, const char *body,
		      size_t n)
{
	size_t n_sign = strlen(sign);
	int fill = s->width - (int)(n_sign + n);

	if (!s->left && !s->zero)
		pad(out, ' ', fill);
	emit(out, sign, n_sign);
	if (!s->left && s->zero)
		pad(out, '0', fill);
	emit(out, body, n);
	if (s->left)
		pad(out, ' ', fill);
}

static void put_string(struct output *out, struct spec *s, const char *text)
{
	size_t n = 0;

	if (!text)
		text = "(null)";
	while ((s->precision < 0 || n < (size_t)s->precision) && text[n])
		n++;
	s->zero = false;
	put_field(out, s, "", text, n);
}

static const char *sign_of(const struct spec *s, bool negative)
{
	return negative ? "-" : s->plus ? "+" : s->space ? " " : "";
}

static void put_number(struct output *out, struct spec *s, uint64_t value, const char *prefix,
		       unsigned int base)
{
	const char *digits = s->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	size_t n_prefix = strlen(prefix);
	char text[24];
	size_t at = sizeof(text);
	int zeros, fill;

	for (; value; value /= base)
		text[--at] = digits[value % base];
	zeros = (s->precision < 0 ? 1 : s->precision) - (int)(sizeof(text) - at);
	if (base == 8 && s->alternate && zeros <= 0)
		zeros = 1;
	if (zeros < 0)
		zeros = 0;
	fill = s->width - (int)(n_prefix + sizeof(text) - at) - zeros;
	if (!s->left && s->zero && s->precision < 0 && fill > 0) {
		zeros += fill;
		fill = 0;
	}
	if (!s->left)
		pad(out, ' ', fill);
	emit(out, prefix, n_prefix);
	pad(out, '0', zeros);
	emit(out, text + at, sizeof(text) - at);
	if (s->left)
		pad(out, ' ', fill);
}

/* ---- floating point, where the compiler may use its registers ---- */

#ifdef __SSE2__

/* Writes the digits [from, to), and 0 for each place without a digit. */
static void emit_digits(struct output *out, const struct decimal *d, int from, int to)
{
	for (; from < to; from++)
		pad(out, from >= 0 && from < d->n ? (char)('0' + d->digits[from]) : '0', 1);
}

/* Returns the first digit that is not 0; the last one before the point if all are 0. */
static int first_digit(const struct decimal *d)
{
	int i;

	for (i = 0; i < d->n; i++)
		if (d->digits[i])
			return i;
	return d->point - 1;
}

/* Writes blanks or zeros and the sign before a number of `n` bytes. */
static void begin_float(struct output *out, const struct spec *s, const char *sign, int n)
{
	int fill = s->width - n - (int)strlen(sign);

	if (!s->left && !s->zero)
		pad(out, ' ', fill);
	emit(out, sign, strlen(sign));
	if (!s->left && s->zero)
		pad(out, '0', fill);
}

static void put_fixed(struct output *out, const struct spec *s, const char *sign,
		      const struct decimal *d, int precision)
{
	int first = first_digit(d), n;

	if (first >= d->point)
		first = d->point - 1;
	n = d->point - first + precision + (precision || s->alternate);
	begin_float(out, s, sign, n);
	emit_digits(out, d, first, d->point);
	if (precision || s->alternate)
		emit(out, ".", 1);
	emit_digits(out, d, d->point, d->point + precision);
	if (s->left)
		pad(out, ' ', s->width - n - (int)strlen(sign));
}

static void put_exponent(struct output *out, const struct spec *s, const char *sign,
			 const struct decimal *d, int precision)
{
	int first = first_digit(d), e = d->point - 1 - first, n;
	char letter = s->letter < 'a' ? 'E' : 'e', text[5];
	size_t at = sizeof(text);
	int rest = e < 0 ? -e : e;

	while (rest || at > sizeof(text) - 2) {
		text[--at] = (char)('0' + rest % 10);
		rest /= 10;
	}
	text[--at] = e < 0 ? '-' : '+';
	n = 1 + precision + (precision || s->alternate) + 1 + (int)(sizeof(text) - at);
	begin_float(out, s, sign, n);
	emit_digits(out, d, first, first + 1);
	if (precision || s->alternate)
		emit(out, ".", 1);
	emit_digits(out, d, first + 1, first + 1 + precision);
	emit(out, &letter, 1);
	emit(out, text + at, sizeof(text) - at);
	if (s->left)
		pad(out, ' ', s->width - n - (int)strlen(sign));
}

/* %g: significant digits without trailing zeros, with an exponent where that is shorter. */
static void put_general(struct output *out, const struct spec *s, const char *sign,
			struct decimal *d, int count)
{
	int first, e;

	count += !count;
	decimal_round(d, first_digit(d) + count);
	first = first_digit(d);
	e = d->point - 1 - first;
	if (!s->alternate)
		while (count > 1 && (first + count > d->n || !d->digits[first + count - 1]) &&
		       (count > e + 1 || e < -4 || e >= s->precision))
			count--;
	if (e < -4 || e >= (s->precision ? s->precision : 1))
		put_exponent(out, s, sign, d, count - 1);
	else
		put_fixed(out, s, sign, d, count - 1 - e);
}

static void put_float(struct output *out, struct spec *s, double value)
{
	bool negative = __builtin_signbit(value);
	const char *sign = sign_of(s, negative);
	struct decimal d;

	if (s->precision < 0)
		s->precision = 6;
	if (!__builtin_isfinite(value)) {
		s->zero = false;
		put_field(out, s, sign, __builtin_isnan(value) ? s->letter < 'a' ? "NAN" : "nan" :
			  s->letter < 'a' ? "INF" : "inf", 3);
		return;
	}
	decimal_digits(&d, negative ? -value : value);
	if (s->letter == 'f' || s->letter == 'F') {
		decimal_round(&d, d.point + s->precision);
		put_fixed(out, s, sign, &d, s->precision);
	} else if (s->letter == 'e' || s->letter == 'E') {
		decimal_round(&d, first_digit(&d) + 1 + s->precision);
		put_exponent(out, s, sign, &d, s->precision);
	} else {
		put_general(out, s, sign, &d, s->precision);
	}
}

static bool convert_float(struct output *out, struct spec *s, va_list *ap)
{
	char lower = s->letter | 32;

	if (lower != 'f' && lower != 'e' && lower != 'g')
		return false;
	put_float(out, s, s->long_double ? (double)va_arg(*ap, long double) : va_arg(*ap, double));
	return true;
}

#else

static bool convert_float(struct output *out, struct spec *s, va_list *ap)
{
	(void)out;
	(void)s;
	(void)ap;
	return false;
}

#endif

/* ---- the part between % and the letter ---- */

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

static const char *parse_flags(const char *fmt, struct spec *s)
{
	for (;; fmt++) {
		switch (*fmt) {
		case '-':
			s->left = true;
			break;
		case '0':
			s->zero = true;
			break;
		case '+':
			s->plus = true;
			break;
		case ' ':
			s->space = true;
			break;
		case '#':
			s->alternate = true;
			break;
		default:
			return fmt;
		}
	}
}

static bool is_length(char c)
{
	return c == 'h' || c == 'l' || c == 'z' || c == 'j' || c == 't' || c == 'L';
}

static const char *parse_spec(const char *fmt, struct spec *s, va_list *ap)
{
	*s = (struct spec){ .precision = -1 };
	fmt = parse_count(parse_flags(fmt, s), &s->width, ap);
	if (s->width < 0) {
		s->left = true;
		s->width = -s->width;
	}
	if (*fmt == '.')
		fmt = parse_count(fmt + 1, &s->precision, ap);
	for (; is_length(*fmt); fmt++) {
		s->long_double = *fmt == 'L';
		s->length += *fmt == 'h' ? -1 : 1;
	}
	s->letter = *fmt;
	return fmt + (*fmt != 0);
}

static int64_t next_signed(const struct spec *s, va_list *ap)
{
	if (s->length > 0)
		return va_arg(*ap, long);
	if (s->length == 0)
		return va_arg(*ap, int);
	return s->length == -1 ? (short)va_arg(*ap, int) : (signed char)va_arg(*ap, int);
}

static uint64_t next_unsigned(const struct spec *s, va_list *ap)
{
	if (s->length > 0)
		return va_arg(*ap, unsigned long);
	if (s->length == 0)
		return va_arg(*ap, unsigned int);
	return s->length == -1 ? (unsigned short)va_arg(*ap, unsigned int) :
	       (unsigned char)va_arg(*ap, unsigned int);
}

static void put_unsigned(struct output *out, struct spec *s, uint64_t value)
{
	const char *prefix = "";

	if (s->alternate && value && (s->letter | 32) == 'x')
		prefix = s->letter == 'x' ? "0x" : "0X";
	put_number(out, s, value, prefix, s->letter == 'u' ? 10 : s->letter == 'o' ? 8 : 16);
}

static void convert(struct output *out, struct spec *s, va_list *ap)
{
	int64_t v;
	char c;

	switch (s->letter) {
	case 'd':
	case 'i':
		v = next_signed(s, ap);
		s->alternate = false;
		put_number(out, s, v < 0 ? -(uint64_t)v : (uint64_t)v, sign_of(s, v < 0), 10);
		break;
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		put_unsigned(out, s, next_unsigned(s, ap));
		break;
	case 'p':
		put_number(out, s, (uintptr_t)va_arg(*ap, void *), "0x", 16);
		break;
	case 's':
		put_string(out, s, va_arg(*ap, const char *));
		break;
	case 'c':
		c = (char)va_arg(*ap, int);
		s->zero = false;
		put_field(out, s, "", &c, 1);
		break;
	case '%':
		emit(out, "%", 1);
		break;
	default:
		if (convert_float(out, s, ap))
			break;
		emit(out, "%", 1);
		emit(out, &s->letter, s->letter != 0);
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
		emit(&out, run, (size_t)(fmt - run));
		if (!*fmt)
			break;
		fmt = parse_spec(fmt + 1, &s, &ap);
		convert(&out, &s, &ap);
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
