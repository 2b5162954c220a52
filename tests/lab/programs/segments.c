// SPDX-License-Identifier: GPL-2.0-only
/*
 * Until SIGTERM, checks processor state that `enable` and `disable` could lose: a segment of an own
 * LDT in GS (argument "ldt"), or a base of GS without a segment and a breakpoint in the debug
 * registers ("base"); a port that the bitmap behind the TSS permits. Prints the numbers of rounds
 * and of errors. Needs `taskset`, since the breakpoint is that of a CPU.
 */
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <asm/prctl.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC		0x51565156u
#define SELECTOR	7u		/* entry 0 of the LDT, level 3 */
#define PORT		0x80		/* port 0x80 is harmless: Linux uses it for delays */
#define SPINS		20000
#define WATCHED		0x515600000000ul	/* a page that no other program has */

static volatile sig_atomic_t ended;
static uint32_t magic = MAGIC;		/* below 4 GiB, since the program is linked there */
static volatile uint64_t *watched;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static int use_ldt(void)
{
	struct user_desc desc = {
		.base_addr = (uint32_t)(uintptr_t)&magic, .limit = 3, .seg_32bit = 1, .useable = 1,
	};

	if (syscall(SYS_modify_ldt, 1, &desc, sizeof(desc)))
		return -1;
	__asm__ volatile("mov %0, %%gs" : : "r"(SELECTOR));
	return 0;
}

static int use_base(void)
{
	return syscall(SYS_arch_prctl, ARCH_SET_GS, &magic);
}

/*
 * Counts the writes of this CPU to *watched. Linux writes the breakpoints of a process to DR7 at
 * each switch to it, which would soon hide a lost DR7, and those of a CPU only once. One breakpoint
 * for each CPU, since QEMU reports a hit of one for both.
 */
static int watch(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = HW_BREAKPOINT_W,
		.bp_addr = WATCHED, .bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1, .exclude_hv = 1,
	};

	watched = mmap((void *)WATCHED, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (watched == MAP_FAILED)
		return -1;
	return syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, 0);
}

int main(int argc, char **argv)
{
	uint64_t rounds = 0, wrong = 0, hits = 0;
	int ldt = argc > 1 && !strcmp(argv[1], "ldt"), event = -1;

	signal(SIGTERM, end);
	if (!ldt)
		event = watch();
	if ((ldt ? use_ldt() : use_base()) || ioperm(PORT, 1, 1) || (!ldt && event < 0)) {
		printf("segments cannot: %s\n", strerror(errno));
		return 1;
	}
	while (!ended) {
		uint32_t selector, value;

		for (int i = 0; i < SPINS; i++)
			__asm__ volatile("pause");
		__asm__ volatile("mov %%gs, %0" : "=r"(selector));
		__asm__ volatile("mov %%gs:0, %0" : "=r"(value));
		wrong += selector != (ldt ? SELECTOR : 0) || value != MAGIC;
		outb(0, PORT);		/* if the access is denied, a signal ends the program */
		if (!ldt)
			++*watched;
		rounds++;
	}
	if (!ldt && (read(event, &hits, sizeof(hits)) != sizeof(hits) || hits != rounds))
		wrong++;
	printf("segments rounds=%llu wrong=%llu hits=%llu\n", (unsigned long long)rounds,
	       (unsigned long long)wrong, (unsigned long long)hits);
	return wrong != 0;
}
