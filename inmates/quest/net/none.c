// SPDX-License-Identifier: GPL-2.0-only
/* Quest without a network, since it was built without lwIP. */
#include <inmate/console.h>
#include <inmate/string.h>
#include "net.h"
#include "word.h"

bool net_start(const struct boot_info *boot)
{
	const char *at;
	size_t length;

	for (at = boot_word(boot->cmdline, &length); length; at = boot_word(at + length, &length))
		if (length >= strlen(NETWORD_KEY) && !memcmp(at, NETWORD_KEY, strlen(NETWORD_KEY)))
			net_print();
	return true;
}

void net_print(void)
{
	print("net: this Quest was built without lwIP\n");
}

void net_look(void)
{
}
