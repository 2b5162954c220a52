// SPDX-License-Identifier: GPL-2.0-only
/*
 * Until SIGTERM, keeps known values in every vector and x87 register while the CPU spins, and
 * computes a checksum in floating point. Prints the number of rounds and how often a value changed.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REGISTERS	16
#define SPINS		300000
#define STEPS		20000
/* rounding mode down, which differs from the mode after reset (to nearest) */
#define MXCSR		0x3f80
#define X87_CONTROL	0x077f

struct state {
	uint8_t ymm[REGISTERS][32];
	double x87[8];
	uint32_t mxcsr;
	uint16_t control;
};

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* Loads everything from *in, waits, and stores it to *out */
static void hold(const struct state *in, struct state *out)
{
	uint64_t spins = SPINS;

	__asm__ volatile(
		"ldmxcsr %[mxcsr]; fninit; fldcw %[control]\n\t"
		".irp i, 7, 6, 5, 4, 3, 2, 1, 0\n\t"
		"fldl 8*\\i(%[x87])\n\t"
		".endr\n\t"
		".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
		"vmovdqu 32*\\i(%[ymm]), %%ymm\\i\n\t"
		".endr\n"
		"1: pause; dec %[spins]; jnz 1b\n\t"
		".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
		"vmovdqu %%ymm\\i, 32*\\i(%[ymm_out])\n\t"
		".endr\n\t"
		".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n\t"
		"fstpl 8*\\i(%[x87_out])\n\t"
		".endr\n\t"
		"stmxcsr %[mxcsr_out]; fnstcw %[control_out]; fninit; vzeroupper\n\t"
		: [spins] "+r"(spins), [mxcsr_out] "=m"(out->mxcsr),
		  [control_out] "=m"(out->control)
		: [ymm] "r"(in->ymm), [ymm_out] "r"(out->ymm), [x87] "r"(in->x87),
		  [x87_out] "r"(out->x87), [mxcsr] "m"(in->mxcsr), [control] "m"(in->control)
		: "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
		  "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void fill(struct state *s, uint64_t round)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < sizeof(s->ymm); i++)
		((uint8_t *)s->ymm)[i] = (uint8_t)(round * 31 + i * 7 + 1);
	for (int i = 0; i < 8; i++)
		s->x87[i] = (double)round + i / 8.0;
	s->mxcsr = MXCSR;
	s->control = X87_CONTROL;
}

/* A chaotic function: one wrong bit in any step changes the result */
static double checksum(void)
{
	volatile double x = 0.3;

	for (int i = 0; i < STEPS; i++)
		x = 3.9 * x * (1.0 - x);
	return x;
}

int main(void)
{
	struct state in, out;
	unsigned long rounds = 0, wrong = 0;
	uint32_t usual = 0x1f80;
	double right;

	signal(SIGTERM, end);
	right = checksum();
	for (; !ended; rounds++) {
		fill(&in, rounds);
		memset(&out, 0, sizeof(out));
		hold(&in, &out);
		__asm__ volatile("ldmxcsr %0" : : "m"(usual));
		wrong += memcmp(&in, &out, sizeof(in)) != 0;
		wrong += checksum() != right;
	}
	printf("vectors rounds=%lu wrong=%lu\n", rounds, wrong);
	return !rounds || wrong;
}
