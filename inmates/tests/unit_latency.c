// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/latency.h>
#include "unit.h"

TEST(latency_bucket_begins_and_ends_as_the_header_says)
{
	unsigned int i;

	CHECK(latency_bucket(0) == 0);
	CHECK(latency_bucket((1ull << QV_LATENCY_FIRST) - 1) == 0);
	for (i = 1; i < QV_LATENCY_BUCKETS; i++) {
		uint64_t first = 1ull << (QV_LATENCY_FIRST + i - 1);

		CHECK(latency_bucket(first) == i);
		CHECK(latency_bucket(2 * first - 1) == i);
	}
}

TEST(latency_bucket_counts_all_longer_times_in_the_last)
{
	CHECK(latency_bucket(1ull << (QV_LATENCY_FIRST + QV_LATENCY_BUCKETS)) ==
	      QV_LATENCY_BUCKETS - 1);
	CHECK(latency_bucket(UINT64_MAX) == QV_LATENCY_BUCKETS - 1);
}
