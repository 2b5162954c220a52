// SPDX-License-Identifier: GPL-2.0-only
/*
 * triple [COUNT]: a replica in three cells. Its state changes each 2 ms, and it votes on it. At a
 * start it prints its count. With COUNT it spoils its state there, once: it has not resumed yet.
 */
#include <errno.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>

static struct { uint64_t count, words[1023]; } state;

static void next_state(void)
{
	unsigned int i;

	state.count++;
	for (i = 0; i < sizeof(state.words) / sizeof(state.words[0]); i++)
		state.words[i] = state.words[i] * 0x9E3779B97F4A7C15 + state.count + i;
}

int main(int argc, char **argv)
{
	uint64_t spoilt = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	long cells;

	if (recovery_resume(&state, sizeof(state)) > 0) {
		printf("triple resumes at %lu\n", state.count);
		spoilt = 0;
	} else {
		printf("triple begins\n");
	}
	for (;;) {
		next_state();
		if (state.count == spoilt)
			state.words[600] ^= 1u << 7;
		do
			cells = recovery_vote(state.count, &state, sizeof(state));
		while (cells == -ETIMEDOUT);
		if (cells < 0)
			return 1;
		if (!(state.count % 100))
			printf("triple: %lu %lx\n", state.count, state.words[1022]);
		if (!(cells & RECOVERY_BEHIND))
			(void)usleep(2000);
	}
}
