// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for experiments with scheduling. `load` starts threads that never sleep, each on its own
 * VCPU. `trace` shows which thread had the CPU, and when.
 */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/printf.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/process/process.h"
#include "../kernel/thread.h"
#include "../kernel/trace.h"
#include "../kernel/vcpu/vcpu.h"
#include "shell.h"
#include "words.h"

#define LOADS		64
#define MS_MAX		600000
#define WAIT_US		20000

static int vcpus[LOADS];
static unsigned int loads;
static volatile bool stopping;

static void spin(void *arg)
{
	(void)arg;
	while (!stopping)
		/* spins without PAUSE, which makes an emulator that counts instructions slow */
		;
}

/* Returns the line's status. */
static int load_start(uint64_t budget_us, uint64_t period_us)
{
	char name[SCHED_NAME];
	uint64_t wait;
	int vcpu;

	if (loads == LOADS) {
		print("%u loads are running: load stop\n", loads);
		return SHELL_FAILED;
	}
	format_buf(name, sizeof(name), "load%u", loads + 1);
	vcpu = vcpu_create(name, MAIN_VCPU, budget_us, period_us, KERNEL_PID);
	if (vcpu < 0) {
		print("refused: %s\n", sched_error_text(vcpu));
		return SHELL_FAILED;
	}
	wait = vcpu_begins_in_us(vcpu);
	if (thread_create(name, vcpu, spin, NULL) < 0) {
		(void)vcpu_destroy(vcpu);
		print("no memory for a thread\n");
		return SHELL_FAILED;
	}
	vcpus[loads++] = vcpu;
	if (wait)
		print("%s begins in %lu ms: "
		      "what a VCPU that is gone has used must come back first\n",
		      name, wait / 1000 + 1);
	return 0;
}

/*
 * Stops all loads. Each thread ends when it runs next, which is at its next replenishment at the
 * latest.
 */
static int load_stop(void)
{
	stopping = true;
	while (loads)
		if (vcpu_destroy(vcpus[loads - 1]))
			thread_sleep_us(WAIT_US);
		else
			loads--;
	stopping = false;
	return 0;
}

int command_load(int argc, char **argv)
{
	uint64_t budget, period;

	if (argc == 2 && !strcmp(argv[1], "stop"))
		return load_stop();
	if (argc == 3 && words_number(argv[1], MS_MAX, &budget) &&
	    words_number(argv[2], MS_MAX, &period))
		return load_start(budget * 1000, period * 1000);
	return SHELL_SHOW_USAGE;
}

static int trace_print(uint64_t most)
{
	const struct trace_entry *e;
	uint32_t i, count;
	uint64_t first;

	trace_pause(true);
	count = trace_count();
	i = count > most ? count - most : 0;
	for (first = trace_get(i)->at; i < count; i++) {
		e = trace_get(i);
		print("%10lu %3d %s %s\n", timer_to_us(e->at - first), e->vcpu,
		      e->vcpu < 0 ? "idle" : e->background ? "background" : "budget", e->name);
	}
	trace_pause(false);
	return 0;
}

static int trace_keep(uint64_t least)
{
	uint32_t n = TRACE_LENGTH;

	while (n < least)
		n *= 2;
	if (trace_resize(n))
		return 0;
	print("no memory for %u changes\n", n);
	return SHELL_FAILED;
}

int command_trace(int argc, char **argv)
{
	uint64_t n = TRACE_MAX;

	if (argc == 3 && !strcmp(argv[1], "keep") && words_number(argv[2], TRACE_MAX, &n))
		return trace_keep(n);
	if (argc == 1 || (argc == 2 && words_number(argv[1], TRACE_MAX, &n)))
		return trace_print(n);
	return SHELL_SHOW_USAGE;
}
