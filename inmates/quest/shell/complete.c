// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "complete.h"

bool complete_fits(const char *name, const char *typed, size_t length)
{
	return strlen(name) >= length && !memcmp(name, typed, length);
}

static size_t in_common(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (n < most && a[n] && a[n] == b[n])
		n++;
	return n;
}

struct completion complete(complete_name *name, const char *typed, size_t length)
{
	struct completion found = { 0, 0, NULL };
	const char *candidate;
	unsigned int i;

	for (i = 0; (candidate = name(i)); i++) {
		if (!complete_fits(candidate, typed, length))
			continue;
		found.common = found.matches++ ? in_common(found.first, candidate, found.common) :
			       strlen(candidate);
		if (!found.first)
			found.first = candidate;
	}
	return found;
}
