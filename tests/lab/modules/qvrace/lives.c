// SPDX-License-Identifier: GPL-2.0-only
/* The runner: creates and destroys one cell after another, and checks the invariants. */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include "abi/calls.h"
#include "abi/create.h"
#include "abi/errors.h"
#include "abi/layout.h"
#include "abi/log.h"
#include "abi/status.h"
#include "qvrace.h"

u32 lives, meddled, refused, log_lost;
static u64 log_seen[QV_MON_LOG_RINGS];

/*
 * qvrace_inmate: fills a part of its memory, then sends heartbeats as long as this part does not
 * change. After a change, the first word of the screen is the address of the change.
 * qvrace_started: code of a CPU that a SIPI has started. It counts until INIT.
 */
asm(".pushsection .rodata\n"
    "	.globl	qvrace_started, qvrace_started_end\n"
    "	.code32\n"
    "qvrace_inmate:\n"
    "	cld\n"
    "	mov	$0x200000, %edi\n"
    "	mov	$" __stringify(CANARY_LEN / 4) ", %ecx\n"
    "	mov	$" __stringify(SECRET) ", %eax\n"
    "	rep	stosl\n"
    "1:	mov	$0x200000, %edi\n"
    "	mov	$" __stringify(CANARY_LEN / 4) ", %ecx\n"
    "	repe	scasl\n"
    "	jne	2f\n"
    "	incl	0xba000\n"
    "	pause\n"
    "	jmp	1b\n"
    "2:	mov	%edi, 0xb8000\n"
    "	hlt\n"
    "	jmp	2b\n"
    "qvrace_inmate_end:\n"
    "	.code16\n"
    "qvrace_started:\n"
    "	cli\n"
    "1:	incl	%cs:" __stringify(RAN) "\n"
    "	pause\n"
    "	jmp	1b\n"
    "qvrace_started_end:\n"
    "	.code64\n"
    "	.popsection\n");
extern const char qvrace_inmate[], qvrace_inmate_end[];

/* ---- invariants ---- */

/*
 * The monitor's log contains only the requested operations and denials. The kicker checks this
 * after each act.
 */
static bool is_expected(u32 what)
{
	static const u32 expected[] = {
		QV_LOG_CREATED, QV_LOG_STARTED, QV_LOG_STOPPED, QV_LOG_RECLAIMED, QV_LOG_REFUSED,
		QV_LOG_TOUCH_READ, QV_LOG_TOUCH_WRITE, QV_LOG_IPI_DENIED,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(expected); i++)
		if (expected[i] == what)
			return true;
	return false;
}

static void look_at_ring(const struct qv_mon_log *log, u32 ring)
{
	u64 head = READ_ONCE(log->head[ring]), *seen = &log_seen[ring];

	for (; *seen < head; ++*seen) {
		const struct qv_mon_log_entry *e = &log->entries[ring][*seen % QV_MON_LOG_ENTRIES];
		u64 seq = smp_load_acquire(&e->seq);
		u32 what = READ_ONCE(e->what);

		if (seq < *seen + 1)
			return;			/* the monitor is writing this entry */
		if (seq != *seen + 1)
			log_lost++;
		else if (!is_expected(what) && READ_ONCE(e->seq) == seq)
			wrong("the log says %u (%#llx, %#llx)", what, e->a, e->b);
	}
}

void look_at_log(void)
{
	u32 ring;

	for (ring = 0; ring < QV_MON_LOG_RINGS; ring++)
		look_at_ring(phys_to_virt(block + QV_OFF_LOG), ring);
}

/* No CPU of the cell runs code of Linux */
static void none_ran(const char *when)
{
	if (!meddle && READ_ONCE(*ran(VECTOR_KICKER)))
		wrong("%s: a CPU of the cell runs Linux's code", when);
}

static void look(const char *when)
{
	const struct qv_mon_status *status = phys_to_virt(pa(0) + QV_OFF_STATUS);
	u32 *screen = page_address(console);

	none_ran(when);
	if (READ_ONCE(*screen))
		wrong("%s: the cell's memory has changed at %#x", when, *screen);
	if (!meddle && READ_ONCE(status->state) == QV_MON_FAILED)
		wrong("%s: the cell has failed", when);
}

static void only_zeros(u32 page, u32 stride)
{
	u32 *at = phys_to_virt(pa(page)), i;

	for (i = 0; i < QV_HUGE / sizeof(*at); i += stride)
		if (at[i] && at[i] != KICK) {
			wrong("given back with %#x at %#zx", at[i], i * sizeof(*at));
			return;
		}
}

/*
 * Linux must be able to start each CPU at an address of its choice. Then INIT makes the CPU wait
 * again.
 */
static void cpus_are_linuxs(void)
{
	ktime_t until = ktime_add_ms(ktime_get(), PATIENCE_S * MSEC_PER_SEC);
	u32 i, id;

	mutex_lock(&acting);
	for (i = 0; i < num_cpus; i++) {
		id = front_status()->cpus[cpus[i]].apic_id;
		WRITE_ONCE(*ran(VECTOR_CHECK), 0);
		send(id, INIT);
		send(id, SIPI | VECTOR_CHECK);
		while (!READ_ONCE(*ran(VECTOR_CHECK)) && ktime_before(ktime_get(), until))
			cond_resched();
		if (!READ_ONCE(*ran(VECTOR_CHECK)))
			wrong("Linux has not got CPU %u back", cpus[i]);
		send(id, INIT);
	}
	mutex_unlock(&acting);
}

/* ---- lives ---- */

static u64 *beats(void)
{
	return page_address(console) + QV_COMM_GPA - QV_SCREEN_GPA;
}

static void await_beats(u32 n)
{
	ktime_t until = ktime_add_ms(ktime_get(), PATIENCE_S * MSEC_PER_SEC);
	u64 goal = READ_ONCE(*beats()) + n;

	while (READ_ONCE(*beats()) < goal && !complained && !meddle) {
		if (ktime_after(ktime_get(), until))
			wrong("the cell does not beat");
		look("while it runs");
		cond_resched();
	}
}

static void prepare(void)
{
	memset(page_address(console), 0, 8 * PAGE_SIZE);
	memcpy(phys_to_virt(pa(1) + CODE), qvrace_inmate, qvrace_inmate_end - qvrace_inmate);
	good(req, 0);
}

static void set_meddle(bool may)
{
	mutex_lock(&acting);
	meddle = may;
	mutex_unlock(&acting);
}

static void live(u64 *s, u64 id)
{
	u64 result;

	WRITE_ONCE(*ran(VECTOR_KICKER), 0);
	udelay(rnd(s, 200));
	look("before its start");
	if (rnd(s, 8)) {
		result = manage(QV_HC_START, id);
		if (result && !meddle)
			wrong("start ends with %#llx", result);
		else if (!result)
			await_beats(1 + rnd(s, 3));
		look("before its stop");
		result = manage(QV_HC_STOP, id);
		if (result && !meddle)
			wrong("stop ends with %#llx", result);
	}
	look("before it is given back");
	end_cell(id);
}

/* A request that the kicker has forged may be refused, but not with one of these reasons */
static void not_created(u64 error)
{
	refused++;
	if (error == QV_ME_CPU_STUCK || error == QV_ME_TABLES || error == QV_ME_STATE ||
	    error == QV_ME_POINTER)
		wrong("create ends with %#llx", error);
}

/* When no cell is left, Linux gets the channel back. It is clear, except where the kicker writes */
static void return_channel(void)
{
	u64 result = manage(QV_HC_CHANNEL, pa(4));

	if (result)
		wrong("giving back the channel ends with %#llx", result);
	only_zeros(4, 97);
}

static void life(u64 *s)
{
	u64 id;

	set_meddle(meddling_lives && !rnd(s, meddling_lives));
	prepare();
	id = manage(QV_HC_CREATE, virt_to_phys(req));
	if (id && id < QV_ME_BASE)
		live(s, id);
	else
		not_created(id);
	meddled += meddle;
	set_meddle(false);
	lives++;
	return_channel();
	memset(phys_to_virt(pa(1) + CODE), 0, qvrace_inmate_end - qvrace_inmate);
	only_zeros(0, rnd(s, 8) ? 97 : 1);
	only_zeros(1, 97);
	only_zeros(2, rnd(s, 8) ? 97 : 1);
	if (!rnd(s, 8))
		cpus_are_linuxs();
}

void forget(void)
{
	lives = meddled = refused = log_lost = 0;
	memcpy(log_seen, ((struct qv_mon_log *)phys_to_virt(block + QV_OFF_LOG))->head,
	       sizeof(log_seen));
	complained = 0;
}

int run_lives(u64 seed, u32 want_lives, u32 want_kicks)
{
	struct task_struct *t;
	u64 s = ~seed;

	forget();
	t = kicker_start(seed);
	if (IS_ERR(t))
		return PTR_ERR(t);
	while ((lives < want_lives || READ_ONCE(kicks) < want_kicks) && !complained) {
		life(&s);
		cond_resched();
	}
	kthread_stop(t);
	look_at_log();
	if (!complained)
		cpus_are_linuxs();
	return 0;
}

/* ---- one cell, and the block that it leaves ---- */

static u64 only;

int begin_cell(void)
{
	prepare();
	only = manage(QV_HC_CREATE, virt_to_phys(req));
	return only && only < QV_ME_BASE && manage(QV_HC_START, only) == QV_ME_OK ? 0 : -EIO;
}

/*
 * Stops the cell and takes back its memory and block. The block then belongs to Linux. Writes into
 * it that the cell had the kicker's block, too. The monitor must not clear the kicker's block.
 */
u64 answers[2];
u32 damage;

void end_and_forge(void)
{
	struct instance *forged = phys_to_virt(pa(0) + QV_OFF_INSTANCE);
	u32 *victim = phys_to_virt(pa(3)), i;

	for (i = 0; i < QV_HUGE / sizeof(*victim); i++)
		victim[i] = SECRET;
	manage(QV_HC_STOP, only);
	do
		answers[0] = manage(QV_HC_RECLAIM, only);
	while (answers[0] == 1);
	manage(QV_HC_CHANNEL, pa(4));
	forged->req.num_runs = 1;
	/* Two pages were given back before, so the next page is the third */
	forged->req.runs[0] = (struct qv_mon_run){ pa(3) - 2 * QV_HUGE, 3 };
	answers[1] = manage(QV_HC_RECLAIM, only);
	for (damage = i = 0; i < QV_HUGE / sizeof(*victim); i++)
		damage += victim[i] != SECRET;
}
