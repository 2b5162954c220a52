// SPDX-License-Identifier: GPL-2.0-only
#include "choices.h"
#include "fuzz.h"
#include "icr_model.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct choices c = { data, len };
	struct icr_map map = {
		.num = 1 + choose(&c, 64), .x2apic = choose(&c, 2), .cluster = choose(&c, 2),
		.own_cpus = choose(&c, ~0ull),
	};
	u32 i, limit = map.x2apic ? 0x10000 : 0x100;

	for (i = 0; i < map.num; i++) {
		map.apic_id[i] = choose(&c, limit);
		map.ldr[i] = choose(&c, 256);
	}
	if (map.num < 64)
		map.own_cpus &= (1ull << map.num) - 1;
	while (choices_left(&c)) {
		struct icr_fields f = {
			.vector = choose(&c, 256), .mode = choose(&c, 8), .logical = choose(&c, 2),
			.assert = choose(&c, 2), .level = choose(&c, 2), .shorthand = choose(&c, 4),
		};
		u32 dest = choose(&c, map.x2apic ? 1ull << 32 : 256);

		icr_model_check(&map, &f, dest, choose(&c, map.num));
	}
	return 0;
}
