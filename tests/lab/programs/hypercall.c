// SPDX-License-Identifier: GPL-2.0-only
/* Calls the monitor as only the kernel may: QV_HC_NOP to QV_HC_RESET_HELD, and nonsense. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static sigjmp_buf back;

static void refused(int number)
{
	siglongjmp(back, number);
}

static uint64_t amd(uint64_t call)
{
	__asm__ volatile("vmmcall" : "+a"(call) : "D"(1), "S"(0) : "memory");
	return call;
}

static uint64_t intel(uint64_t call)
{
	__asm__ volatile("vmcall" : "+a"(call) : "D"(1), "S"(0) : "memory");
	return call;
}

/* 32 of them: AMD's instruction and Intel's in turn */
int main(void)
{
	volatile int done = 0;
	volatile uint64_t call;

	signal(SIGILL, refused);
	for (call = 0; call < 32; call++) {
		if (sigsetjmp(back, 1))
			continue;
		printf("call %d gave %#jx\n", (int)call, (uintmax_t)(call % 2 ? intel : amd)(call / 2));
		done++;
	}
	printf("%d done\n", done);
	return done != 0;
}
