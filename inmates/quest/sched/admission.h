/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The admission test decides whether VCPUs may share one CPU. It uses integers only.
 * tools/qv/admission.py is the same test in Python, and tests show that both agree.
 */
#ifndef QUEST_ADMISSION_H
#define QUEST_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#define ADMISSION_PERIOD_MAX	(1ull << 42)	/* longest period in cycles: about 20 minutes */

enum admission_test {
	/*
	 * The sum of C/T of the n Main VCPUs, and of (2 - U) * U of the I/O VCPUs with U = C/T, is
	 * at most n * (2^(1/n) - 1) (Ye Li's dissertation on Quest-V, section 4.1). The test is
	 * sufficient. Terms are rounded up and the bound is rounded down, to 2^-62.
	 */
	ADMISSION_BOUND,
	/*
	 * The response time of each Main VCPU is at most its period. The test is exact without I/O
	 * VCPUs, and sufficient with them.
	 */
	ADMISSION_EXACT,
};

struct admission_entry {
	bool io;
	/* C and T in cycles, 0 < budget <= period <= ADMISSION_PERIOD_MAX */
	uint64_t budget, period;
};

bool admission_bound(const struct admission_entry *set, unsigned int n);
bool admission_exact(const struct admission_entry *set, unsigned int n);

/* Returns whether `test` admits the set. */
bool admission_admits(enum admission_test test, const struct admission_entry *set, unsigned int n);

/*
 * Returns whether the first `existing` entries still get their budgets if the other entries, which
 * are past use (past.h), run too. Past use counts by its amount, not by the number of VCPUs.
 *
 * ADMISSION_BOUND uses the hyperbolic bound (Bini and Buttazzo 2003): the product of 1 + C/T is at
 * most 2, where the I/O VCPUs' terms are added to the smallest C/T of the existing VCPUs. This
 * bound admits every set that admission_bound() admits. ADMISSION_EXACT uses response times.
 */
bool admission_with_past(enum admission_test test, const struct admission_entry *set,
		      unsigned int existing, unsigned int n);

/*
 * Returns the longest response time of Main VCPU `i`; UINT64_MAX if it is longer than its period.
 */
uint64_t admission_response(const struct admission_entry *set, unsigned int n, unsigned int i);

/*
 * Returns the longest time until Main VCPU `i` has run for `amount` of its budget, 0 < amount <=
 * budget; UINT64_MAX if that takes longer than its period.
 */
uint64_t admission_response_to(const struct admission_entry *set, unsigned int n, unsigned int i,
			       uint64_t amount);

/* Return the sum of the terms of ADMISSION_BOUND, and its bound, in units of 2^-62. */
uint64_t admission_load(const struct admission_entry *set, unsigned int n);
uint64_t admission_limit(const struct admission_entry *set, unsigned int n);

#endif
