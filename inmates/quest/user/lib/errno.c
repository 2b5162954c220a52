// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "raw.h"

static int numbers[QUEST_THREADS];

int *quest_errno(void)
{
	return &numbers[quest_thread()];
}
