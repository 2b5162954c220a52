// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log: sentences of the driver and translated entries of every monitor instance, sorted by TSC,
 * since entries of an instance arrive some time after they were written.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "abi/layout.h"
#include "abi/log.h"
#include "qv.h"
#include "parts/pci.h"

#define LOG_LINES	1024
#define LOG_LINE_LEN	200

struct log_line {
	u64 tsc, time_ns;
	char text[LOG_LINE_LEN - 16];		/* "SOURCE: sentence\n" */
};

static DEFINE_SPINLOCK(log_lock);
static struct log_line log_lines[LOG_LINES];
static u64 log_written;			/* number of lines since the module was loaded */
/* readers have read all lines below this number, so those lines must not move */
static u64 log_handed;

static struct log_line *log_slot(u64 n)
{
	return &log_lines[n % LOG_LINES];
}

/* Makes room for a line of the time @time_ns. Times in the log never decrease */
static struct log_line *log_place(u64 tsc, u64 time_ns)
{
	u64 at = log_written++;
	u64 first = max(log_handed, log_written > LOG_LINES ? log_written - LOG_LINES : 0);

	for (; at > first && log_slot(at - 1)->tsc > tsc; at--)
		*log_slot(at) = *log_slot(at - 1);
	if (at && at + LOG_LINES > log_written)
		time_ns = max(time_ns, log_slot(at - 1)->time_ns);
	if (at + 1 < log_written)
		time_ns = min(time_ns, log_slot(at + 1)->time_ns);
	log_slot(at)->tsc = tsc;
	log_slot(at)->time_ns = time_ns;
	return log_slot(at);
}

static void log_add(u64 tsc, u64 time_ns, const char *source, const char *fmt, va_list args)
{
	const int room = sizeof(log_lines[0].text) - 2;
	unsigned long flags;
	struct log_line *line;
	int n;

	spin_lock_irqsave(&log_lock, flags);
	line = log_place(tsc, time_ns);
	n = scnprintf(line->text, room, "%s: ", source);
	n += vscnprintf(line->text + n, room - n, fmt, args);
	line->text[n] = '\n';
	line->text[n + 1] = 0;
	spin_unlock_irqrestore(&log_lock, flags);
}

void qv_log(const char *source, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_add(qv_rdtsc(), ktime_get_boottime_ns(), source, fmt, args);
	va_end(args);
}

/* Adds what the monitor logged at @tsc */
static __printf(3, 4) void log_at(u64 tsc, const char *source, const char *fmt, ...)
{
	u64 now = qv_rdtsc(), ago = tsc < now ? div_u64((now - tsc) * 1000, tsc_khz) * 1000 : 0;
	va_list args;

	va_start(args, fmt);
	log_add(tsc, ktime_get_boottime_ns() - ago, source, fmt, args);
	va_end(args);
}

static bool log_take(u64 *from, u32 *lost, struct log_line *to)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&log_lock, flags);
	if (log_written > LOG_LINES && *from < log_written - LOG_LINES) {
		*lost += *from ? log_written - LOG_LINES - *from : 0;
		*from = log_written - LOG_LINES;
	}
	there = *from < log_written;
	if (there)
		*to = *log_slot(*from);
	log_handed = max(log_handed, min(*from + 1, log_written));
	spin_unlock_irqrestore(&log_lock, flags);
	return there;
}

int qv_log_put(struct qv_log *l, u32 *used, u64 time_ns, const char *text)
{
	char line[LOG_LINE_LEN + 32];
	u32 us = do_div(time_ns, NSEC_PER_SEC) / 1000;
	u32 n = scnprintf(line, sizeof(line), "%llu.%06u %s", time_ns, us, text);

	if (*used + n > l->len)
		return 0;
	if (copy_to_user(u64_to_user_ptr(l->buf) + *used, line, n))
		return qv_refuse(&l->reply, QV_E_ARGUMENT, "give a buffer that can be written",
				 "the buffer is not writable");
	*used += n;
	return 1;
}

int qv_log_read(struct qv_log *l)
{
	struct log_line line;
	u64 next = l->from;
	u32 used = 0;
	int put;

	if (l->which != QV_LOG_PRESENT)
		return qv_refuse(&l->reply, QV_E_ARGUMENT,
				 "ask for the present or the previous one", "there is no such log");
	l->lost = 0;
	while (log_take(&next, &l->lost, &line)) {
		put = qv_log_put(l, &used, line.time_ns, line.text);
		if (put < 0)
			return put;
		if (!put)
			break;
		next++;
	}
	l->len = used;
	l->next = next;
	return 0;
}

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
	};

	return reason < ARRAY_SIZE(why) && why[reason] ? why[reason] : "an unknown reason";
}

/* For each monitor instance, the cell that has it or had it last. Used under qv_lock */
static char log_holders[QV_INSTANCES][QV_NAME_LEN];

void qv_log_holder(u64 instance, const char *name)
{
	if (instance < QV_INSTANCES)
		strscpy(log_holders[instance], name, sizeof(log_holders[instance]));
}

static const char *log_holder_now(u64 instance)
{
	return instance < QV_INSTANCES && *log_holders[instance] ? log_holders[instance] : NULL;
}

/*
 * Translates an event about an instance, by the name of its cell. Returns false for other events
 * and unknown cells
 */
static bool log_instance_sentence(char *to, u32 len, const struct qv_mon_log_entry *e,
				  const char *cell)
{
	static const char * const what[QV_LOG_EVENTS] = {
		[QV_LOG_CREATED] = "created", [QV_LOG_STARTED] = "starts",
		[QV_LOG_STOPPED] = "stopped",
		[QV_LOG_RECLAIMED] = "destroyed, its memory is cleared and back",
	};

	if (e->what >= ARRAY_SIZE(what) || !what[e->what] || !cell)
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
#define X(name, sentence) sentence,
		QV_MON_EVENTS(X)
#undef X
	};
	u32 n = scnprintf(to, len, "cpu %u: ", e->cpu);

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
	if (e->what >= ARRAY_SIZE(text)) {
		scnprintf(to + n, len - n, "event %u (%llx, %llx)", e->what, e->a, e->b);
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	scnprintf(to + n, len - n, text[e->what], e->a, e->b);
#pragma GCC diagnostic pop
}

void qv_log_drain(const char *source, struct page *monitor_mem, u64 *seen)
{
	struct qv_mon_log *log = page_address(monitor_mem) + QV_OFF_LOG;
	u64 head = READ_ONCE(log->head);
	char sentence[160];

	if (head - *seen > QV_MON_LOG_ENTRIES) {
		qv_log(source, "%llu events came too fast and are lost",
		       head - *seen - QV_MON_LOG_ENTRIES);
		*seen = head - QV_MON_LOG_ENTRIES;
	}
	for (; *seen < head; ++*seen) {
		const struct qv_mon_log_entry *there = &log->entries[*seen % QV_MON_LOG_ENTRIES];
		struct qv_mon_log_entry e;

		if (smp_load_acquire(&there->seq) != *seen + 1)
			break;			/* the entry is being written: read it next time */
		e = *there;
		smp_rmb();
		if (READ_ONCE(there->seq) != *seen + 1)
			/*
			 * the entry was overwritten while it was read: it is counted as lost next
			 * time
			 */
			break;
		qv_log_sentence(sentence, sizeof(sentence), &e, log_holder_now);
		if (e.what == QV_LOG_DMA)
			qv_pci_count_blocked(e.a);
		log_at(e.tsc, source, "%s", sentence);
		/* Interrupts that attack this CPU can stretch the loop beyond any deadline */
		cond_resched();
	}
}
