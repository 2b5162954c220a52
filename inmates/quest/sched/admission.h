/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * May these VCPUs share one CPU? Integers only; tools/qv/admission.py is the
 * same in Python, and tests show them to agree.
 */
#ifndef QUEST_ADMISSION_H
#define QUEST_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#define ADMISSION_PERIOD_MAX	(1ull << 42)	/* cycles: some 20 minutes */

enum admission_test {
	/*
	 * Sum of C/T of the n Main VCPUs, and of (2 - U) * U of the I/O VCPUs, is at most n * (2^(1/n) - 1)
	 * (dissertation, section 4.1). Sufficient. Terms are rounded up and the bound down, to 2^-62.
	 */
	ADMISSION_BOUND,
	/* The response time of each Main VCPU is at most its period: exact without I/O VCPUs, sufficient with. */
	ADMISSION_EXACT,
};

struct admission_entry {
	bool io;
	uint64_t budget, period;	/* cycles, 0 < budget <= period <= ADMISSION_PERIOD_MAX */
};

bool admission_bound(const struct admission_entry *set, unsigned int n);
bool admission_exact(const struct admission_entry *set, unsigned int n);

/*
 * Do the first `living` of `set` keep their budgets beside the others, VCPUs that are gone, each with what it has used in
 * its last period? These count by that, not by their number: for ADMISSION_BOUND by the hyperbolic bound (Bini and
 * Buttazzo 2003), which all that admission_bound() admits is within: the product of 1 + C/T is at most 2, with the I/O VCPUs'
 * terms added to the smallest C/T of the living. For ADMISSION_EXACT by their response times.
 */
bool admission_beside(enum admission_test test, const struct admission_entry *set, unsigned int living, unsigned int n);

/* The longest response time of Main VCPU `i` of `set`; UINT64_MAX: more than its period. */
uint64_t admission_response(const struct admission_entry *set, unsigned int n, unsigned int i);

/* Sum of the terms of ADMISSION_BOUND, and the bound for it: in units of 2^-62. */
uint64_t admission_load(const struct admission_entry *set, unsigned int n);
uint64_t admission_limit(const struct admission_entry *set, unsigned int n);

#endif
