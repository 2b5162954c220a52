// SPDX-License-Identifier: GPL-2.0-only
/*
 * The word migration-delay=US: each program that comes costs 1024 times US us of CPU time more, as
 * if a page directory were walked whose entries cost so much each.
 */
#include <inmate/boot.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../../quest/kernel/machine.h"
#include "../../quest/migration/costs.h"
#include "../../quest/migration/delay.h"

#define WORD		"migration-delay="
#define ENTRIES		1024
#define US_MAX		10000

static uint64_t us_of_word(void)
{
	const char *at = machine.boot.cmdline;
	size_t length, key = strlen(WORD);
	uint64_t us = 0;

	for (at = boot_word(at, &length); length; at = boot_word(at + length, &length)) {
		if (length <= key || memcmp(at, WORD, key))
			continue;
		for (at += key, length -= key; length && *at >= '0' && *at <= '9'; at++, length--)
			us = us < US_MAX ? us * 10 + (uint64_t)(*at - '0') : us;
	}
	return us;
}

uint64_t mig_delay(void)
{
	return ENTRIES * timer_from_us(us_of_word());
}

void mig_delay_take(void)
{
	uint64_t until = mig_used() + mig_delay();

	while (mig_used() < until)
		;
}
