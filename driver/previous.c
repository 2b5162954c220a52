// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of the previous session. A warm reset keeps the contents of RAM, so the memory of the
 * monitor's instances is intact until Linux overwrites it. When the module is loaded, it looks for
 * a mark at every 2 MiB of RAM, and copies the logs of the latest session that it finds.
 *
 * A mark must be valid (it has its own address and a checksum), and each entry must be plausible:
 * the rest may have been overwritten.
 */
#include <linux/ioport.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/time.h>
#include <linux/uaccess.h>
#include "abi/calls.h"
#include "abi/layout.h"
#include "abi/log.h"
#include "abi/mark.h"
#include "abi/status.h"
#include "qv.h"

#define PREVIOUS_ENTRIES	(QV_MON_LOG_RINGS * QV_MON_LOG_ENTRIES)	/* of an instance */

struct previous_entry {
	u32 instance;
	struct qv_mon_log_entry e;
};

struct previous_instance {
	struct qv_mon_mark mark;
	/* enum qv_mon_state when the session ended; QV_MON_NONE: overwritten */
	u32 state;
	u32 kept;			/* number of log entries that are intact */
};

static struct {
	u32 num;			/* instances */
	struct previous_instance inst[QV_INSTANCES];
	u32 num_entries;
	struct previous_entry *entries;	/* the log entries, in order of time */
	u32 end;			/* enum qv_mon_note of Linux's last event; 0: none */
	bool left;			/* QV had been disabled before the reset */
	bool front;			/* the front end's instance is among the instances found */
} previous;

static bool previous_peek(void *to, u64 pa, u64 len)
{
	return !copy_from_kernel_nofault(to, phys_to_virt(pa), len);
}

static bool previous_is_sound(const struct qv_mon_mark *m, u64 pa)
{
	return m->magic == QV_MARK_MAGIC && m->block_pa == pa && m->sum == qv_mark_sum(m) &&
	       m->id < QV_INSTANCES && m->tsc_khz;
}

/*
 * Records the instance whose block is at @pa, if its mark is valid. Drops the instances recorded so
 * far if this one is of a later session. Ignores this one if it is of an earlier session
 */
static void previous_consider(u64 pa)
{
	struct qv_mon_mark m;

	if (!previous_peek(&m, pa + QV_OFF_MARK, sizeof(m)) || !previous_is_sound(&m, pa))
		return;
	if (previous.num && m.session < previous.inst[0].mark.session)
		return;
	if (previous.num && m.session > previous.inst[0].mark.session)
		previous.num = 0;
	if (previous.num == QV_INSTANCES)
		return;
	((char *)m.name)[sizeof(m.name) - 1] = 0;	/* RAM may hold anything */
	previous.inst[previous.num++].mark = m;
}

static int previous_scan(struct resource *ram, void *arg)
{
	u64 pa, magic;

	for (pa = ALIGN(ram->start, QV_HUGE); pa + QV_OPEN_LEN <= ram->end; pa += QV_HUGE) {
		if (previous_peek(&magic, pa + QV_OFF_MARK, sizeof(magic)) &&
		    magic == QV_MARK_MAGIC)
			previous_consider(pa);
		cond_resched();
	}
	return 0;
}

/* Returns true if @e is as the monitor writes it at that place */
static bool previous_is_plausible(const struct qv_mon_log_entry *e, u32 ring, u32 at,
				  const struct qv_mon_mark *m)
{
	u64 second = m->tsc_khz * 1000;

	return e->seq && (e->seq - 1) % QV_MON_LOG_ENTRIES == at && e->what < QV_LOG_EVENTS &&
	       QV_MON_LOG_RING(e->what) == ring && e->tsc + second > m->tsc &&
	       e->seq < 1ull << 48;
}

static void previous_copy_log(u32 i)
{
	struct previous_instance *inst = &previous.inst[i];
	u64 log = inst->mark.block_pa + QV_OFF_LOG;
	u64 entries = log + offsetof(struct qv_mon_log, entries);
	struct qv_mon_log_entry e;
	u32 n;

	if (!previous_peek(&inst->state, inst->mark.block_pa + QV_OFF_STATUS,
			   sizeof(inst->state)) ||
	    inst->state > QV_MON_FAILED)
		inst->state = QV_MON_NONE;
	for (n = 0; n < PREVIOUS_ENTRIES; n++) {
		if (!previous_peek(&e, entries + n * sizeof(e), sizeof(e)) ||
		    !previous_is_plausible(&e, n / QV_MON_LOG_ENTRIES, n % QV_MON_LOG_ENTRIES,
					   &inst->mark))
			continue;
		previous.entries[previous.num_entries].instance = i;
		previous.entries[previous.num_entries++].e = e;
		inst->kept++;
	}
}

static int previous_by_time(const void *a, const void *b)
{
	const struct previous_entry *x = a, *y = b;

	if (x->e.tsc != y->e.tsc)
		return x->e.tsc < y->e.tsc ? -1 : 1;
	return x->e.seq < y->e.seq ? -1 : x->e.seq > y->e.seq;
}

/* Finds out from the entries of the front end how the session ended */
static void previous_find_end(void)
{
	u32 i;

	for (i = 0; i < previous.num_entries; i++) {
		const struct previous_entry *o = &previous.entries[i];

		if (previous.inst[o->instance].mark.id)
			continue;
		if (o->e.what == QV_LOG_LINUX_ENDS)
			previous.end = o->e.a;
		previous.left = o->e.what == QV_LOG_LEFT ||
				(previous.left && o->e.what != QV_LOG_ENTERED);
	}
}

void qv_previous_find(void)
{
	u32 i;

	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1, NULL,
			    previous_scan);
	if (!previous.num)
		return;
	previous.entries = kvmalloc_array(previous.num * PREVIOUS_ENTRIES,
					  sizeof(*previous.entries), GFP_KERNEL);
	if (!previous.entries) {
		previous.num = 0;
		return;
	}
	for (i = 0; i < previous.num; i++) {
		previous_copy_log(i);
		previous.front |= !previous.inst[i].mark.id;
	}
	sort(previous.entries, previous.num_entries, sizeof(*previous.entries), previous_by_time,
	     NULL);
	previous_find_end();
	qv_log("driver",
	       "the log of an earlier session is in RAM, %u entries: qvctl log --previous",
	       previous.num_entries);
}

void qv_previous_drop(void)
{
	kvfree(previous.entries);
}

static u64 previous_time_of(u64 tsc)
{
	const struct qv_mon_mark *m = &previous.inst[0].mark;

	if (tsc < m->tsc)
		return m->boot_ns;
	return m->boot_ns + div64_u64(tsc - m->tsc, m->tsc_khz) * 1000000 +
	       div64_u64((tsc - m->tsc) % m->tsc_khz * 1000000, m->tsc_khz);
}

static const char *previous_name_of(const struct previous_instance *inst)
{
	return inst->mark.id ? (const char *)inst->mark.name : QV_FRONT_END;
}

/* Returns the cell that had an instance in that session, or NULL if its memory is overwritten */
static const char *previous_holder(u64 instance)
{
	u32 i;

	for (i = 0; instance && i < previous.num; i++)
		if (previous.inst[i].mark.id == instance)
			return previous_name_of(&previous.inst[i]);
	return NULL;
}

/* Writes line 0: the time of the session */
static void previous_first_line(char *to, u32 len)
{
	struct tm t;

	time64_to_tm(div_u64(previous.inst[0].mark.session, NSEC_PER_SEC), 0, &t);
	scnprintf(to, len,
		  "driver: QV was enabled on %04ld-%02d-%02d at %02d:%02d:%02d UTC; "
		  "%u entries are left",
		  t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
		  previous.num_entries);
}

/* Writes one line per instance: its state when the machine went down */
static void previous_state_line(char *to, u32 len, const struct previous_instance *inst)
{
	static const char * const states[] = {
		[QV_MON_NONE] = "its state is no longer there",
		[QV_MON_CREATED] = "it had not been started",
		[QV_MON_RUNNING] = "it was running", [QV_MON_STOPPED] = "it was stopped",
		[QV_MON_FAILED] = "it had failed",
	};
	static const char * const ends[] = {
		[0] = "the machine was reset, or lost control, with no word from Linux",
		[QV_NOTE_PANIC] = "Linux panicked", [QV_NOTE_RESTART] = "Linux was restarted",
		[QV_NOTE_HALT] = "Linux was halted", [QV_NOTE_POWER_OFF] = "Linux was switched off",
	};
	const char *what = states[inst->state];

	if (!inst->mark.id)
		what = previous.left && !previous.end ? "QV was disabled before the end" :
		       ends[previous.end < ARRAY_SIZE(ends) ? previous.end : 0];
	scnprintf(to, len, "%s: at the end: %s", previous_name_of(inst), what);
}

/* Returns the time of the last entry, or of the session if there are no entries */
static u64 previous_last_time(void)
{
	if (!previous.num_entries)
		return previous.inst[0].mark.boot_ns;
	return previous_time_of(previous.entries[previous.num_entries - 1].e.tsc);
}

/*
 * Line @n: 0 names the session, then come the entries, then a line per instance. Returns the time
 * of the line
 */
static u64 previous_line(u64 n, char *to, u32 len)
{
	const struct previous_entry *o;
	int used;

	if (!n) {
		previous_first_line(to, len);
		return previous.inst[0].mark.boot_ns;
	}
	if (n > previous.num_entries + previous.num) {
		strscpy(to, "driver: the front end's log is no longer there", len);
		return previous_last_time();
	}
	if (n > previous.num_entries) {
		previous_state_line(to, len, &previous.inst[n - previous.num_entries - 1]);
		return previous_last_time();
	}
	o = &previous.entries[n - 1];
	used = scnprintf(to, len, "%s: ", previous_name_of(&previous.inst[o->instance]));
	qv_log_sentence(to + used, len - used, &o->e, previous_holder);
	return previous_time_of(o->e.tsc);
}

int qv_previous_read(struct qv_log *l)
{
	char text[184];
	u64 lines = previous.num_entries + previous.num + !previous.front, time_ns;
	u32 used = 0;
	int put;

	if (!previous.num)
		return qv_refuse(&l->reply, QV_E_NO_PREVIOUS,
				 "it is kept over a warm restart only, "
				 "in RAM that has not been used since",
				 "there is no log of an earlier session in this machine's RAM");
	for (; l->place[0] <= lines; l->place[0]++) {
		time_ns = previous_line(l->place[0], text, sizeof(text));
		put = qv_log_put(l, &used, time_ns, text);
		if (put < 0)
			return put;
		if (!put)
			break;
	}
	l->len = used;
	return 0;
}
