// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "image.h"
#include "unit.h"

#define MEMORY	0x400000u

/*
 * A good image, overwritten with pieces of the input. A piece has 2 bytes offset, 1 byte length,
 * and the bytes.
 */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static const u8 module[0x1001];
	static struct mb2_work work;
	static struct image img;
	static struct memory m;
	struct mb2_entry entry;
	const char *why;
	u8 *exact;

	if (!m.bytes)
		memory_open(&m, MEMORY);
	if (!len)
		return 0;
	image_good(&img, *data & 1);
	for (data++, len--; len > 3;) {
		u32 at = (data[0] | data[1] << 8) % IMAGE_LEN, n = data[2] % 16 + 1;

		data += 3, len -= 3;
		if (n > len)
			n = len;
		memcpy(img.bytes + at, data, n);
		data += n, len -= n;
	}
	exact = exact_copy(img.bytes, img.len);
	work.given = (struct mb2_given){
		.cmdline = "x y", .num_modules = 1, .modules = { { module, sizeof(module), "m" } }
	};
	why = mb2_load(exact, img.len, &m.target, &entry, &work);
	free(exact);
	CHECK_EQ(m.outside, 0);
	if (!why) {
		CHECK(entry.eip < MEMORY);
		CHECK_TEXT(info_wrong(&m, entry.ebx, "x y"), NULL);
	}
	return 0;
}
