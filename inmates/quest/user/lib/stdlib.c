// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <quest.h>
#include <stdlib.h>

_Noreturn void exit(int code)
{
	_exit(code);
}

pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

int sleep(unsigned int seconds)
{
	return usleep((uint64_t)seconds * 1000000);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

long strtol(const char *text, char **end, int base)
{
	const char *at = text;
	int negative;
	unsigned long n = 0;

	while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
		at++;
	negative = *at == '-';
	at += negative || *at == '+';
	if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 32) == 'x' && digit(at[2]) < 16) {
		at += 2;
		base = 16;
	} else if (!base) {
		base = *at == '0' ? 8 : 10;
	}
	if (digit(*at) < base)
		text = at;
	for (; digit(*at) < base; text = ++at)
		n = n * (unsigned long)base + (unsigned long)digit(*at);
	if (end)
		*end = (char *)text;
	return (long)(negative ? -n : n);
}

long atol(const char *text)
{
	return strtol(text, NULL, 10);
}

int atoi(const char *text)
{
	return (int)atol(text);
}
