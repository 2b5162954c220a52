// SPDX-License-Identifier: GPL-2.0-only
#include "build.h"

extern const uint64_t image_start[], image_rodata[];	/* inmate.lds: aligned to pages */

uint64_t mig_build(void)
{
	static uint64_t build;		/* set once it is complete: the threads of links share it */
	uint64_t hash = 0;
	const uint64_t *word;

	if (build)
		return build;
	for (word = image_start; word < image_rodata; word++)
		hash = (hash ^ *word) * 0x9E3779B97F4A7C15ull;	/* odd: nothing is lost */
	build = hash | 1;
	return build;
}
