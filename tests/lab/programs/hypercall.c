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

int main(void)
{
	volatile int done = 0;
	volatile uint64_t call;

	signal(SIGILL, refused);
	for (call = 0; call < 16; call++) {
		uint64_t result = call;

		if (sigsetjmp(back, 1))
			continue;
		__asm__ volatile("vmmcall" : "+a"(result) : "D"(1), "S"(0) : "memory");
		printf("call %d gave %#jx\n", (int)call, (uintmax_t)result);
		done++;
	}
	printf("%d done\n", done);
	return done != 0;
}
