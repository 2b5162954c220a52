// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The sentences of quest/errors.h, for programs and for the shell. */
#include "../include/quest/errors.h"

static const struct {
	int number;
	const char *text;
} errors[] = {
#define ERROR_TEXT(name, number, what, remedy) { number, what " (" remedy ")" },
	QUEST_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
};

char *strerror(int error)
{
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error || errors[i].number == -error)
			return (char *)errors[i].text;
	return (char *)(error ? "an error without a name" : "no error");
}
