// SPDX-License-Identifier: GPL-2.0-only
/* The CPU time of a VCPU in each period, from the trace. */
#include <inmate/console.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../../quest/kernel/trace.h"
#include "../../quest/kernel/vcpu/namedvcpu.h"
#include "../../quest/kernel/vcpu/vcpuword.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"

#define PERIODS_MAX	4096
#define MS_MAX		10000
#define IN_LINE		12

static uint64_t used[PERIODS_MAX];	/* cycles */

/* Adds the time from TSC `at` to `end` to the periods from number `first` on. */
static void add(uint64_t at, uint64_t end, uint64_t period, uint64_t first)
{
	uint64_t next, i;

	for (; at < end; at = next) {
		next = at - at % period + period;
		next = next < end ? next : end;
		i = at / period - first;
		if (i < PERIODS_MAX)
			used[i] += next - at;
	}
}

static void sum(int id, uint64_t period)
{
	const struct trace_entry *e;
	uint32_t i, count;
	uint64_t first, n;

	trace_pause(true);
	memset(used, 0, sizeof(used));
	count = trace_count();
	first = count ? trace_get(0)->at / period : 0;
	for (i = 0; i + 1 < count; i++) {
		e = trace_get(i);
		if (e->vcpu == id && !e->background)
			add(e->at, trace_get(i + 1)->at, period, first);
	}
	n = count ? trace_get(count - 1)->at / period - first + 1 : 0;
	n = n < PERIODS_MAX ? n : PERIODS_MAX;
	print("periods: %lu at %lu:", n, first * period);
	for (i = 0; i < n; i++)
		print("%s%lu", i % IN_LINE ? " " : "\n", timer_to_us(used[i]));
	print("\n");
	trace_pause(false);
}

int command_periods(int argc, char **argv);

int command_periods(int argc, char **argv)
{
	char word[64] = VCPUWORD_KEY;
	uint64_t ms;
	int id;

	if (argc != 3 || !words_number(argv[1], MS_MAX, &ms) || !ms)
		return SHELL_SHOW_USAGE;
	copy_string(word + strlen(word), argv[2], sizeof(word) - strlen(word));
	id = namedvcpu_find(word);
	if (id < 0) {
		print("periods: %s: no VCPU has this name\n", argv[2]);
		return SHELL_FAILED;
	}
	sum(id, timer_from_us(ms * 1000));
	return 0;
}
