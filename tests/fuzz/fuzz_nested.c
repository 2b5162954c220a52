// SPDX-License-Identifier: GPL-2.0-only
#include "choices.h"
#include "front_model.h"
#include "fuzz.h"

/* The first byte is the shape of the tables. Operations of 8 bytes each follow. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static struct front_model f;
	struct choices c = { data, len };

	front_model_open(&f, 4 + choose(&c, 2), 2 + choose(&c, 2), choose(&c, 2));
	while (choices_left(&c))
		front_model_step(&f, choose(&c, ~0ull));
	front_model_close(&f);
	return 0;
}
