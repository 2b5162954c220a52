// SPDX-License-Identifier: GPL-2.0-only
/* Tries hypercalls in user mode: QV_HC_NOP to QV_HC_RESET_HELD, invalid numbers. All must #UD. */
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

/* Makes 32 calls, alternately with AMD's and with Intel's instruction */
int main(void)
{
	volatile int done = 0;
	volatile uint64_t call;

	signal(SIGILL, refused);
	for (call = 0; call < 32; call++) {
		if (sigsetjmp(back, 1))
			continue;
		printf("call %d gave %#jx\n", (int)call,
		       (uintmax_t)(call % 2 ? intel : amd)(call / 2));
		done++;
	}
	printf("%d done\n", done);
	return done != 0;
}
