// SPDX-License-Identifier: GPL-2.0-only
/* The sentences of the monitor's events and of the failures of cells. */
#include <linux/kernel.h>
#include "abi/layout.h"
#include "abi/log.h"
#include "qv.h"

const char *qv_failure_sentence(u32 reason)
{
	static const char * const why[] = {
		[QV_FAIL_MEMORY] = "it touched memory outside the cell",
		[QV_FAIL_MSR] = "it touched an MSR that cells may not use",
		[QV_FAIL_PORT] = "it touched an I/O port that it does not own",
		[QV_FAIL_TRIPLE_FAULT] = "a triple fault",
		[QV_FAIL_INSTRUCTION] = "it used an instruction that cells may not use",
		[QV_FAIL_IPI] = "it sent an IPI to a CPU that is not its own",
		[QV_FAIL_EXIT] = "an exit that the monitor does not expect",
		[QV_FAIL_MONITOR] = "a fault in the cell's own monitor instance",
		[QV_FAIL_WATCHDOG] = "its heartbeat stopped",
		[QV_FAIL_CPU_LOST] = "a CPU does not answer the monitor; it stays offline, "
				     "with the cell's memory and devices",
		[QV_FAIL_PANIC] = "the inmate panicked",
	};

	return reason < ARRAY_SIZE(why) && why[reason] ? why[reason] : "an unknown reason";
}

bool qv_log_of_instance(const struct qv_mon_log_entry *e)
{
	return e->what == QV_LOG_CREATED || e->what == QV_LOG_STARTED ||
	       e->what == QV_LOG_STOPPED || e->what == QV_LOG_RECLAIMED;
}

/*
 * Translates an event about an instance, by the name of its cell. Returns false for other events
 * and unknown cells
 */
static bool log_instance_sentence(char *to, u32 len, const struct qv_mon_log_entry *e,
				  const char *cell)
{
	static const char * const what[] = {
		[QV_LOG_CREATED] = "created", [QV_LOG_STARTED] = "starts",
		[QV_LOG_STOPPED] = "stopped",
		[QV_LOG_RECLAIMED] = "destroyed, its memory is cleared and back",
	};

	if (!qv_log_of_instance(e) || !cell)
		return false;
	if (e->what == QV_LOG_CREATED)
		scnprintf(to, len, "cell %s created, %llu pages of 2 MiB", cell, e->b);
	else
		scnprintf(to, len, "cell %s %s", cell, what[e->what]);
	return true;
}

/*
 * Linux's kernel executes nothing at the monitor's addresses. A triple fault there looks like that
 * of an emulator (Documentation/how-to/lab.md) which left the guest twice without an entry between:
 * the monitor then ran Linux with its own state.
 */
static bool log_impossible(const struct qv_mon_log_entry *e)
{
	return e->what == QV_LOG_SHUTDOWN && e->a >= QV_VA_IMAGE &&
	       e->a < QV_VA_IMAGE + QV_IMAGE_MAX;
}

void qv_log_sentence(char *to, u32 len, const struct qv_mon_log_entry *e,
		     const char *(*holder)(u64 instance))
{
	static const char * const text[] = {
#define X(name, words) [name] = words,
		QV_MON_EVENTS(X)
#undef X
	};
	u32 n = scnprintf(to, len, "cpu %u: ", e->cpu);
	const char *sentence = e->what < ARRAY_SIZE(text) ? text[e->what] : NULL;

	if (log_instance_sentence(to + n, len - n, e, holder(e->a)))
		return;
	if (e->what == QV_LOG_FAILED) {
		scnprintf(to + n, len - n, "cell failed: %s (address %#llx)",
			  qv_failure_sentence(e->a), e->b);
		return;
	}
	if (log_impossible(e)) {
		scnprintf(to + n, len - n,
			  "triple fault at %#llx, an address of the monitor: probably an "
			  "impossible exit of an emulator", e->a);
		return;
	}
	if (!sentence) {
		scnprintf(to + n, len - n, "event %u (%llx, %llx)", e->what, e->a, e->b);
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	scnprintf(to + n, len - n, sentence, e->a, e->b);
#pragma GCC diagnostic pop
}
