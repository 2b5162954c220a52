// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log: sentences of the driver and translated entries of every monitor instance. Each source
 * has lines of its own (log_book.h). They are sorted by TSC, since entries of an instance arrive
 * some time after they were written.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "abi/layout.h"
#include "abi/log.h"
#include "faults.h"
#include "log_book.h"
#include "qv.h"
#include "parts/pci.h"

static DEFINE_SPINLOCK(log_lock);
static struct book_line log_lines[BOOK_LINES];
static struct book log_book;

void qv_log_init(void)
{
	book_init(&log_book, log_lines);
}

/* @name: "driver", QV_FRONT_END or a cell. Needs log_lock */
static u32 log_source(const char *name)
{
	return !strcmp(name, "driver") ? BOOK_DRIVER :
	       !strcmp(name, QV_FRONT_END) ? BOOK_FRONT_END : book_cell(&log_book, name);
}

/* Adds a line to those of the source @owner. The line names @source */
static void log_add(const char *owner, enum book_class class, u64 tsc, u64 time_ns,
		    const char *source, const char *sentence)
{
	char text[BOOK_TEXT];
	unsigned long flags;

	scnprintf(text, sizeof(text), "%s: %s", source, sentence);
	spin_lock_irqsave(&log_lock, flags);
	book_add(&log_book, log_source(owner), class, tsc, time_ns, text);
	spin_unlock_irqrestore(&log_lock, flags);
}

static void log_now(const char *owner, enum book_class class, const char *source, const char *fmt,
		    va_list args)
{
	char sentence[BOOK_TEXT];

	vscnprintf(sentence, sizeof(sentence), fmt, args);
	log_add(owner, class, qv_rdtsc(), ktime_get_boottime_ns(), source, sentence);
}

void qv_log(const char *source, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_now(source, BOOK_KEPT, source, fmt, args);
	va_end(args);
}

void qv_log_often(const char *source, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_now(source, BOOK_OTHER, source, fmt, args);
	va_end(args);
}

void qv_log_event(const char *cell, bool often, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_now(*cell ? cell : "driver", often ? BOOK_OTHER : BOOK_KEPT, "driver", fmt, args);
	va_end(args);
}

void qv_log_live(const char *cell, bool live)
{
	unsigned long flags;

	spin_lock_irqsave(&log_lock, flags);
	book_live(&log_book, cell, live);
	spin_unlock_irqrestore(&log_lock, flags);
}

/* ---- readers ---- */

static bool log_take(struct qv_log *l, const struct book_place *place, struct book_found *found,
		     struct book_place *after)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&log_lock, flags);
	if (!l->until)
		l->until = log_book.order;
	there = book_take(&log_book, place, l->until, found, after);
	spin_unlock_irqrestore(&log_lock, flags);
	return there;
}

int qv_log_put(struct qv_log *l, u32 *used, u64 time_ns, const char *text)
{
	char line[BOOK_TEXT + 80];
	u32 us = do_div(time_ns, NSEC_PER_SEC) / 1000;
	u32 n = scnprintf(line, sizeof(line), "%llu.%06u %s\n", time_ns, us, text);

	if (*used + n > l->len)
		return 0;
	if (copy_to_user(u64_to_user_ptr(l->buf) + *used, line, n))
		return qv_refuse(&l->reply, QV_E_ARGUMENT, "give a buffer that can be written",
				 "the buffer is not writable");
	*used += n;
	return 1;
}

static int log_put(struct qv_log *l, u32 *used, const struct book_found *found)
{
	u64 last = found->last_ns;
	u32 us = do_div(last, NSEC_PER_SEC) / 1000;
	char text[BOOK_TEXT + 48];

	if (found->lost)
		scnprintf(text, sizeof(text), "%s: %llu line%s lost here", found->source,
			  found->lost, found->lost == 1 ? " is" : "s are");
	else if (found->times > 1)
		scnprintf(text, sizeof(text), "%s (%u times until %llu.%06u)", found->text,
			  found->times, last, us);
	else
		strscpy(text, found->text, sizeof(text));
	return qv_log_put(l, used, found->time_ns, text);
}

int qv_log_read(struct qv_log *l)
{
	struct book_place *place = (void *)l->place, after;
	struct book_found found;
	u32 used = 0;
	int put;

	BUILD_BUG_ON(sizeof(l->place) < sizeof(*place));
	if (l->which != QV_LOG_PRESENT)
		return qv_refuse(&l->reply, QV_E_ARGUMENT,
				 "ask for the present or the previous one", "there is no such log");
	while (log_take(l, place, &found, &after)) {
		put = log_put(l, &used, &found);
		if (put < 0)
			return put;
		if (!put)
			break;
		*place = after;
	}
	l->len = used;
	return 0;
}

/* ---- what the instances have logged ---- */

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

static bool log_is_fault(const struct qv_mon_log_entry *e)
{
	return e->what == QV_LOG_DMA || e->what == QV_LOG_MESSAGE;
}

/*
 * Returns the cell to whose lines an event of the front end's instance belongs, or NULL. The device
 * of a cell causes faults at will, and may not push out lines of Linux
 */
static const char *log_owner(const struct qv_mon_log_entry *e)
{
	if (log_is_fault(e))
		return qv_pci_holder(e->a);
	return qv_log_of_instance(e) ? log_holder_now(e->a) : NULL;
}

static enum book_class log_class(u32 ring)
{
	return ring == QV_MON_LOG_KEPT ? BOOK_KEPT : BOOK_OTHER;
}

static void log_entry(const char *source, const struct qv_mon_log_entry *e)
{
	u64 now = qv_rdtsc(), silent = 0;
	u64 ago = e->tsc < now ? div_u64((now - e->tsc) * 1000, tsc_khz) * 1000 : 0;
	u64 time = ktime_get_boottime_ns() - ago;
	const char *owner = log_owner(e) ?: source;
	enum book_class class = log_class(QV_MON_LOG_RING(e->what));
	char sentence[160];

	if (log_is_fault(e)) {
		qv_pci_count_blocked(e->a);
		if (!qv_fault_line(e->a, e->tsc, (u64)tsc_khz * 1000 * QV_FAULT_PERIOD_S, &silent))
			return;
	}
	if (silent) {
		scnprintf(sentence, sizeof(sentence),
			  "PCI function %#llx was blocked %llu more times before this", e->a,
			  silent);
		log_add(owner, class, e->tsc, time, source, sentence);
	}
	qv_log_sentence(sentence, sizeof(sentence), e, log_holder_now);
	log_add(owner, class, e->tsc, time, source, sentence);
}

/* @lost entries came too fast */
static void log_lose(const char *source, u32 ring, u64 lost)
{
	unsigned long flags;

	spin_lock_irqsave(&log_lock, flags);
	book_lose(&log_book, log_source(source), log_class(ring), lost);
	spin_unlock_irqrestore(&log_lock, flags);
}

static void log_drain(const char *source, const struct qv_mon_log *log, u32 ring, u64 *seen)
{
	u64 head = READ_ONCE(log->head[ring]);

	if (head - *seen > QV_MON_LOG_ENTRIES) {
		log_lose(source, ring, head - *seen - QV_MON_LOG_ENTRIES);
		*seen = head - QV_MON_LOG_ENTRIES;
	}
	for (; *seen < head; ++*seen) {
		const struct qv_mon_log_entry *there =
			&log->entries[ring][*seen % QV_MON_LOG_ENTRIES];
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
		log_entry(source, &e);
		/* Interrupts that attack this CPU can stretch the loop beyond any deadline */
		cond_resched();
	}
}

void qv_log_drain(const char *source, struct page *monitor_mem, u64 seen[QV_MON_LOG_RINGS])
{
	const struct qv_mon_log *log = page_address(monitor_mem) + QV_OFF_LOG;
	u32 ring;

	for (ring = 0; ring < QV_MON_LOG_RINGS; ring++)
		log_drain(source, log, ring, &seen[ring]);
}
