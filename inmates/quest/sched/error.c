// SPDX-License-Identifier: GPL-2.0-only
#include "sched.h"

static const char *const texts[] = {
	[-SCHED_BAD_PARAMS] =
		"budget and period make no sense: use 0 < C <= T (an I/O VCPU: C < T), "
		"T at most some 20 minutes",
	[-SCHED_FULL] = "there are as many VCPUs as can be: destroy one first",
	[-SCHED_OVER_BOUND] =
		"the VCPUs together would be above the utilisation bound: "
		"use a smaller C or a longer T, destroy another, "
		"or use the exact test (admission=exact)",
	[-SCHED_MISSES_PERIOD] =
		"a VCPU would not get its budget within its period: "
		"use a smaller C or a longer T, or destroy another",
	[-SCHED_NO_VCPU] = "there is no such VCPU: vcpus lists them",
	[-SCHED_NOT_YET] =
		"what a VCPU that is gone has used must come back first: "
		"try again within its period",
	[-SCHED_TOO_SHORT] =
		"the budget is below 10 us, and decisions of the scheduler would take longer than "
		"it: use a larger C",
	[-SCHED_IN_USE] = "threads are bound to the VCPU: end them or bind them to another first",
};

const char *sched_error_text(int error)
{
	if (error >= 0 || (unsigned int)-error >= sizeof(texts) / sizeof(texts[0]))
		return "";
	return texts[-error];
}
