// SPDX-License-Identifier: GPL-2.0-only
/* The log: sentences of the driver and, translated, of every monitor instance. */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "qv.h"

#define LINES	1024
#define LINE	200

static DEFINE_SPINLOCK(log_lock);
static char lines[LINES][LINE];
static u64 written;			/* lines ever */

static void add_line(u64 time_ns, const char *source, const char *fmt, va_list args)
{
	u32 us = do_div(time_ns, NSEC_PER_SEC) / 1000;
	unsigned long flags;
	char *line;
	int n;

	spin_lock_irqsave(&log_lock, flags);
	line = lines[written % LINES];
	n = scnprintf(line, LINE - 1, "%llu.%06u %s: ", time_ns, us, source);
	n += vscnprintf(line + n, LINE - 1 - n, fmt, args);
	line[n] = '\n';
	line[n + 1] = 0;
	written++;
	spin_unlock_irqrestore(&log_lock, flags);
}

void qv_log(const char *source, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_line(ktime_get_boottime_ns(), source, fmt, args);
	va_end(args);
}

/* What the monitor noted some time ago */
static __printf(3, 4) void log_at(u64 tsc, const char *source, const char *fmt, ...)
{
	u64 ago = div_u64((qv_rdtsc() - tsc) * 1000, tsc_khz) * 1000;
	va_list args;

	va_start(args, fmt);
	add_line(ktime_get_boottime_ns() - ago, source, fmt, args);
	va_end(args);
}

static bool take_line(u64 *from, u32 *lost, char *to)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&log_lock, flags);
	if (written > LINES && *from < written - LINES) {
		*lost += *from ? written - LINES - *from : 0;
		*from = written - LINES;
	}
	there = *from < written;
	if (there)
		memcpy(to, lines[*from % LINES], LINE);
	spin_unlock_irqrestore(&log_lock, flags);
	return there;
}

int qv_log_read(struct qv_log *l)
{
	char line[LINE];
	u64 next = l->from;
	u32 used = 0;

	l->lost = 0;
	while (take_line(&next, &l->lost, line)) {
		u32 n = strnlen(line, LINE);

		if (used + n > l->len)
			break;
		if (copy_to_user(u64_to_user_ptr(l->buf) + used, line, n))
			return qv_refuse(&l->reply, QV_E_ARGUMENT, "", "the buffer is not writable");
		used += n;
		next++;
	}
	l->len = used;
	l->next = next;
	return 0;
}

static void translate(const char *source, const struct qv_mon_log_entry *e)
{
	static const char * const text[] = {
#define X(name, sentence) sentence,
		QV_MON_EVENTS(X)
#undef X
	};
	char sentence[128];

	if (e->what >= ARRAY_SIZE(text)) {
		log_at(e->tsc, source, "cpu %u: event %u (%llx, %llx)", e->cpu, e->what, e->a, e->b);
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(sentence, sizeof(sentence), text[e->what], e->a, e->b);
#pragma GCC diagnostic pop
	log_at(e->tsc, source, "cpu %u: %s", e->cpu, sentence);
}

/* Take over what an instance has logged since @seen */
void qv_log_drain(const char *source, struct page *block, u64 *seen)
{
	struct qv_mon_log *log = page_address(block) + QV_OFF_LOG;
	u64 head = READ_ONCE(log->head);

	if (head - *seen > QV_MON_LOG_ENTRIES) {
		qv_log(source, "%llu events came too fast and are lost",
		       head - *seen - QV_MON_LOG_ENTRIES);
		*seen = head - QV_MON_LOG_ENTRIES;
	}
	for (; *seen < head; ++*seen) {
		const struct qv_mon_log_entry *there = &log->entries[*seen % QV_MON_LOG_ENTRIES];
		struct qv_mon_log_entry e;

		if (smp_load_acquire(&there->seq) != *seen + 1)
			break;			/* being written: next time */
		e = *there;
		smp_rmb();
		if (READ_ONCE(there->seq) != *seen + 1)
			break;			/* overwritten meanwhile: counted as lost next time */
		translate(source, &e);
	}
}
