// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "raw.h"

int inet_aton(const char *text, struct in_addr *to)
{
	unsigned char bytes[4];
	unsigned int i, value, digits;

	for (i = 0; i < sizeof(bytes); i++) {
		if (i && *text++ != '.')
			return 0;
		for (value = digits = 0; *text >= '0' && *text <= '9' && digits < 4; digits++)
			value = value * 10 + (unsigned int)(*text++ - '0');
		if (!digits || value > 255)
			return 0;
		bytes[i] = (unsigned char)value;
	}
	if (*text)
		return 0;
	(void)memcpy(to, bytes, sizeof(bytes));
	return 1;
}

int inet_pton(int family, const char *text, void *to)
{
	if (family != AF_INET)
		return (int)posix_answer(-EAFNOSUPPORT);
	return inet_aton(text, to);
}

in_addr_t inet_addr(const char *text)
{
	struct in_addr in;

	return inet_aton(text, &in) ? in.s_addr : INADDR_NONE;
}

const char *inet_ntop(int family, const void *from, char *text, socklen_t size)
{
	const unsigned char *b = from;
	char all[INET_ADDRSTRLEN];
	int error = family != AF_INET ? EAFNOSUPPORT : 0;

	if (!error && snprintf(all, sizeof(all), "%u.%u.%u.%u", b[0], b[1], b[2], b[3]) >=
	    (int)size)
		error = ENOSPC;
	if (error) {
		errno = error;
		return NULL;
	}
	return strcpy(text, all);
}

char *inet_ntoa(struct in_addr from)
{
	static char text[INET_ADDRSTRLEN];

	return (char *)inet_ntop(AF_INET, &from, text, sizeof(text));
}
