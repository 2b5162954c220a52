// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../kernel/vcpu/vcpuword.h"
#include "stages.h"

bool stages_vcpu(const char *word)
{
	size_t n = sizeof(VCPUWORD_KEY) - 1;

	return strlen(word) >= n && !memcmp(word, VCPUWORD_KEY, n);
}

static struct stage one(int argc, char **argv)
{
	bool vcpu = argc && stages_vcpu(argv[0]);

	return (struct stage){ vcpu ? argv[0] : NULL, argc - vcpu, argv + vcpu };
}

int stages_split(int argc, char **argv, struct stage stages[STAGES_MAX])
{
	int n = 0, first = 0, i;

	for (i = 0; i < argc && n < STAGES_MAX - 1; i++) {
		if (strcmp(argv[i], "|"))
			continue;
		stages[n++] = one(i - first, argv + first);
		first = i + 1;
	}
	stages[n++] = one(argc - first, argv + first);
	return n;
}
