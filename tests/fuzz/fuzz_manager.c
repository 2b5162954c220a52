// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static struct world w;
	struct choices c = { data, len };

	world_open(&w);
	while (choices_left(&c))
		world_step(&w, &c);
	return 0;
}
