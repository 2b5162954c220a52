// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/ring.h>
#include "unit.h"

TEST(ring_accepts_empty_and_full)
{
	CHECK(ring_valid(7, 7, 256));
	CHECK(ring_valid(7 + 256, 7, 256));
	CHECK(ring_readable(7 + 256, 7, 256) == 256);
	CHECK(ring_readable(7, 7, 256) == 0);
}

TEST(ring_refuses_nonsense)
{
	CHECK(!ring_valid(7 + 257, 7, 256));
	CHECK(!ring_valid(6, 7, 256));
	CHECK(ring_readable(6, 7, 256) == 0);
	CHECK(ring_readable(0x80000007u, 7, 256) == 0);
}

TEST(ring_wraps_at_32_bits)
{
	CHECK(ring_readable(3, 0xFFFFFFFEu, 256) == 5);
	CHECK(ring_slot(0xFFFFFFFFu, 256) == 255);
	CHECK(ring_slot(0, 256) == 0);
	CHECK(!ring_valid(300, 0xFFFFFFFEu, 256));
}
