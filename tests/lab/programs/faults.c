// SPDX-License-Identifier: GPL-2.0-only
/*
 * Until SIGTERM, causes page faults: it writes to a page, checks it, and gives it back to Linux.
 * Prints the numbers of rounds and of errors.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define LEN 4096

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

int main(void)
{
	uint64_t rounds = 0, wrong = 0;
	volatile uint64_t *page = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || signal(SIGTERM, end) == SIG_ERR)
		return 1;
	while (!ended) {
		page[1] = ++rounds;
		wrong += page[0] != 0 || page[1] != rounds;
		if (madvise((void *)page, LEN, MADV_DONTNEED))
			return 1;
	}
	printf("faults rounds=%lu wrong=%lu\n", rounds, wrong);
	return wrong != 0;
}
