// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../timeword.h"
#include "iovcpu.h"
#include "vcpuword.h"

#define FIELDS	4

struct field {
	const char *text;
	size_t length;
};

static bool is(struct field f, const char *text)
{
	return strlen(text) == f.length && !memcmp(f.text, text, f.length);
}

/* Cuts the text at commas. Returns the number of fields, or 0 if there are more than FIELDS. */
static unsigned int cut(const char *text, struct field fields[FIELDS])
{
	unsigned int i = 0;

	fields[0] = (struct field){ text, 0 };
	for (; *text; text++) {
		if (*text != ',')
			fields[i].length++;
		else if (++i < FIELDS)
			fields[i] = (struct field){ text + 1, 0 };
		else
			return 0;
	}
	return i + 1;
}

bool vcpuword_is_name(const char *text, size_t length)
{
	size_t i;
	char c;

	for (i = 0; i < length; i++) {
		c = text[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '_' || c == '.'))
			return false;
	}
	return length && length < SCHED_NAME;
}

static bool read_name(struct field f, char name[SCHED_NAME])
{
	if (!vcpuword_is_name(f.text, f.length))
		return false;
	memcpy(name, f.text, f.length);
	name[f.length] = 0;
	return true;
}

/* Reads the classes behind "io", each after a dot. */
static bool read_classes(struct field f, int *io_class)
{
	size_t n;
	int one;

	for (*io_class = 0; f.length; f.text += n, f.length -= n) {
		if (*f.text != '.')
			return false;
		for (n = 1; n < f.length && f.text[n] != '.'; n++)
			;
		one = iovcpu_class_of(f.text + 1, n - 1);
		if (!one || one & *io_class)
			return false;
		*io_class |= one;
	}
	return true;
}

static bool read_type(struct field f, struct vcpu_wish *wish)
{
	size_t n;

	for (n = 0; n < f.length && f.text[n] != '.'; n++)
		;
	if (is((struct field){ f.text, n }, "io"))
		wish->type = IO_VCPU;
	else if (is(f, "main"))
		wish->type = MAIN_VCPU;
	else
		return false;
	return read_classes((struct field){ f.text + n, f.length - n }, &wish->io_class);
}

const char *vcpuword_read(const char *word, struct vcpu_wish *wish)
{
	struct field fields[FIELDS];
	unsigned int n = strlen(word) < VCPUWORD_MAX ? cut(word + strlen(VCPUWORD_KEY), fields) : 0;
	bool none = n == 2 && is(fields[1], "none");

	if (n != FIELDS && !none)
		return "use vcpu=NAME,main,C,T or vcpu=NAME,io,C,T or vcpu=NAME,none";
	if (!read_name(fields[0], wish->name))
		return "a name has 1 to 15 letters, digits, '-', '_' and '.'";
	wish->type = BACKGROUND_VCPU;
	wish->io_class = 0;
	wish->budget_us = wish->period_us = 0;
	if (none)
		return NULL;
	if (!read_type(fields[1], wish))
		return "a VCPU is main or io, or io.CLASS "
		       "(ata, net, usb, disk, cdrom, gpio, input)";
	if (!timeword_read(fields[2].text, fields[2].length, &wish->budget_us) ||
	    !timeword_read(fields[3].text, fields[3].length, &wish->period_us))
		return "C and T are times such as 500us, 20ms or 1s, of at most 600s";
	return NULL;
}
