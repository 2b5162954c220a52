// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "timeword.h"

static const struct {
	const char *name;
	uint64_t us;
} units[] = { { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } };

bool timeword_read(const char *text, size_t length, uint64_t *us)
{
	uint64_t n = 0;
	unsigned int i;

	for (; length && *text >= '0' && *text <= '9' && n <= TIMEWORD_MAX_US; text++, length--)
		n = n * 10 + (uint64_t)(*text - '0');
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (length != strlen(units[i].name) || memcmp(text, units[i].name, length))
			continue;
		*us = n * units[i].us;
		return n && *us <= TIMEWORD_MAX_US;
	}
	return false;
}
