// SPDX-License-Identifier: GPL-2.0-only
/* For worlds in which no component is a replica (quest/recovery/replica.h). */
#include <stddef.h>
#include "../quest/recovery/replica.h"

const char *replica_init(unsigned int n, const struct component_rule *rule, uint64_t period)
{
	(void)n, (void)rule, (void)period;
	return "there are no replicas";
}

bool replica_used(unsigned int n)
{
	(void)n;
	return false;
}

size_t replica_fetch(unsigned int n, void *to, size_t room, bool kept)
{
	(void)n, (void)to, (void)room, (void)kept;
	return 0;
}

void replica_begin(unsigned int n, bool resumes)
{
	(void)n, (void)resumes;
}

long replica_vote(unsigned int n, const struct process *p, uint64_t number, const void *state,
		  size_t bytes)
{
	(void)n, (void)p, (void)number, (void)state, (void)bytes;
	return 0;
}
