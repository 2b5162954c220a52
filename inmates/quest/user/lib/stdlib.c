// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <quest.h>
#include <stdlib.h>

_Noreturn void exit(int code)
{
	_exit(code);
}

long atol(const char *text)
{
	int negative = *text == '-';
	long n = 0;

	for (text += negative; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (*text - '0');
	return negative ? -n : n;
}
