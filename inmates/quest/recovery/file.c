// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "component.h"
#include "file.h"

#define LINE_MAX	256		/* with the NUL */

/* Reads one line, of `length` bytes. Returns NULL, or a sentence that says how to correct it. */
static const char *read_line(const uint8_t *at, size_t length)
{
	char line[LINE_MAX];
	const char *wrong;

	if (length >= sizeof(line))
		return "a line has at most 255 bytes";
	memcpy(line, at, length);
	line[length] = 0;
	if (rule_is_blank(line))
		return NULL;
	if (num_components == COMPONENTS_MAX)
		return "there are at most 16 components";
	wrong = rule_read(line, rules, num_components, &rules[num_components]);
	if (!wrong)
		num_components++;
	return wrong;
}

bool file_read(const struct archive_file *f)
{
	size_t at, length;
	const char *wrong;
	unsigned int n = 1, declared = num_components;
	bool fine = true;

	for (at = 0; at < f->size; at += length + 1, n++) {
		for (length = 0; at + length < f->size && f->data[at + length] != '\n'; length++)
			;
		wrong = read_line(f->data + at, length);
		if (!wrong)
			continue;
		print("recovery: %s, line %u: %s\n", f->name, n, wrong);
		fine = false;
	}
	if (!fine)
		num_components = declared;
	return fine;
}
