// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kicker: performs random acts at random times, while the runner or the driver manages cells.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <asm/apicdef.h>
#include <asm/msr.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/layout.h"
#include "abi/status.h"
#include "qvrace.h"

#define KICKER_CPU	1

DEFINE_MUTEX(acting);
bool meddle;
u32 kicks;

void send(u32 dest, u32 low)
{
	unsigned long flags;

	if (!apic_page) {
		wrmsrl_safe(0x830, (u64)dest << 32 | low);
		return;
	}
	local_irq_save(flags);
	writel(dest << 24, apic_page + APIC_ICR2);
	writel(low, apic_page + APIC_ICR);
	local_irq_restore(flags);
}

/* Returns an APIC id of no running CPU of Linux, so that an interrupt to it does not harm Linux */
static u32 target(u64 *s)
{
	static const u32 nowhere[] = { 0x40, 0x7f, 0xfe };
	const struct qv_mon_status *status = front_status();
	u32 i = rnd(s, status->num_cpus);

	if (!rnd(s, 8) || !test_bit(status->cpus[i].linux_cpu, &away))
		return nowhere[rnd(s, ARRAY_SIZE(nowhere))];
	return status->cpus[i].apic_id;
}

static void interrupt(u64 *s)
{
	static const u32 lows[] = {
		INIT, INIT, 0x8500, SIPI | VECTOR_KICKER, 0x4400, 0x4040, 0x4140, 0x4200,
	};
	u32 dest = target(s), low = lows[rnd(s, ARRAY_SIZE(lows))];

	if (!rnd(s, 4) && dest < 8) {
		low |= LOGICAL;
		/* a logical destination; in x2APIC mode it is in cluster 0 */
		dest = 1u << dest;
	}
	send(dest, low);
	if ((low & ~LOGICAL) == INIT && rnd(s, 4))
		send(dest, SIPI | VECTOR_KICKER | (low & LOGICAL));
}

static u64 somewhere(u64 *s, u32 *kind)
{
	*kind = rnd(s, 3);
	if (*kind == 0)
		return pa(0) + QV_OPEN_LEN + 4 * rnd(s, (QV_HUGE - QV_OPEN_LEN) / 4);
	if (*kind == 1)
		return pa(1) + STORES + 4 * rnd(s, (QV_HUGE - STORES) / 4);
	return pa(2) + 4 * rnd(s, CANARY_LEN / 4);
}

/*
 * Before and after the cell's life, Linux must read the cell's block and memory as zeros. During
 * the life, Linux must read ones. The kicker itself may have stored KICK there.
 */
static void load_once(u64 at)
{
	u32 found;

	asm volatile("1: movl (%[at]), %[found]\n2:" _ASM_EXTABLE(1b, 2b)
		     : [found] "=&r"(found) : [at] "r"(phys_to_virt(at)), "0"(0) : "memory");
	if (found && found != ~0u && found != KICK)
		wrong("Linux reads %#x at %#llx, which it never wrote", found, at);
}

static void load(u64 *s)
{
	u64 in_front = block + QV_OPEN_LEN + 4 * rnd(s, (QV_HUGE - QV_OPEN_LEN) / 4);
	u32 kind;

	load_once(rnd(s, 4) ? somewhere(s, &kind) : in_front);
}

static void store_once(u64 at)
{
	asm volatile("1: movl %[what], (%[at])\n2:" _ASM_EXTABLE(1b, 2b)
		     : : [at] "r"(phys_to_virt(at)), [what] "r"(KICK) : "memory");
}

static void store(u64 *s)
{
	u32 kind;

	store_once(rnd(s, 8) ? somewhere(s, &kind) : pa(0) + 4 * rnd(s, QV_OPEN_LEN / 4));
}

/*
 * Writes anywhere in the channel, also where Linux may only read, and gives the channel back, also
 * while the cell uses it
 */
static void channel(u64 *s)
{
	u64 result;

	if (rnd(s, 2)) {
		store_once(pa(4) + 4 * rnd(s, QV_HUGE / 4));
		return;
	}
	result = hypercall(QV_HC_CHANNEL, rnd(s, 4) ? pa(4) : pa(4) + PAGE_SIZE * rnd(s, 4));
	if (result && result != QV_ME_STATE && result != QV_ME_BUSY)
		wrong("giving back the channel ends with %#llx", result);
}

/*
 * Reads or writes through one translation. The CPU keeps it in its TLB as long as the CPU has no
 * exit and no interrupt. Reads go to the monitor's code in the cell's block, writes to the cell's
 * memory.
 */
static void touch_for_long(u64 *s)
{
	u64 code = pa(0) + QV_OFF_IMAGE + 4 * rnd(s, 0x1000);
	u64 data = pa(2) + 4 * rnd(s, CANARY_LEN / 4);
	ktime_t until = ktime_add_us(ktime_get(), rnd(s, 3000));
	bool read = rnd(s, 2);

	do
		read ? load_once(code) : store_once(data);
	while (ktime_before(ktime_get(), until));
}

/*
 * Changes a word of the request, then restores it. Meanwhile the monitor may read the request. Each
 * change makes the request invalid.
 */
static void forge(u64 *s)
{
	u64 *words[] = {
		&req->block_pa, &req->console_pa, &req->runs[0].pa, &req->runs[1].pa,
		&req->runs[1].count, &req->channels[0].pa[0], &req->channels[0].page.length,
	};
	u32 *halves[] = {
		&req->num_cpus, &req->num_runs, &req->num_ports, &req->bell_rate, &req->cpus[0],
		&req->entry.eip, &req->num_channels,
	};
	u64 bad[] = { block, 8, ~0ull, 0xfee00000, 1ull << 46 }, *w, was;
	u32 *h, before;

	if (rnd(s, 2)) {
		w = words[rnd(s, ARRAY_SIZE(words))];
		was = xchg(w, bad[rnd(s, ARRAY_SIZE(bad))]);
		udelay(rnd(s, 100));
		xchg(w, was);
	} else {
		h = halves[rnd(s, ARRAY_SIZE(halves))];
		before = xchg(h, 0x7fffffff);
		udelay(rnd(s, 100));
		xchg(h, before);
	}
}

static void call(u64 *s)
{
	static const u64 all[] = { 0, 1, 2, 3, 15, 16, 17, 1ull << 32 | 2, ~0ull };
	/* ids that belong to no cell, or to a running cell */
	static const u64 refused[] = { 0, 1, 15, 16, ~0ull };
	static const u64 numbers[] = {
		QV_HC_START, QV_HC_RECLAIM, QV_HC_DOORBELL, QV_HC_DOORBELL, QV_HC_LOCK,
		QV_HC_RESET_HELD, QV_HC_COUNT, ~0ull,
	};
	u64 nr = numbers[rnd(s, ARRAY_SIZE(numbers))];

	if (meddle)
		hypercall(QV_HC_START + rnd(s, QV_HC_RECLAIM - QV_HC_START + 1), 2 + rnd(s, 3));
	else if (nr == QV_HC_START || nr == QV_HC_RECLAIM)
		hypercall(nr, refused[rnd(s, ARRAY_SIZE(refused))]);
	else
		hypercall(nr, all[rnd(s, ARRAY_SIZE(all))]);
}

void end_cell(u64 id)
{
	ktime_t until = ktime_add_ms(ktime_get(), PATIENCE_S * MSEC_PER_SEC);
	u64 result;

	do {
		result = manage(QV_HC_RECLAIM, id);
		if (result == QV_ME_STATE)
			manage(QV_HC_STOP, id);
		if (result == QV_ME_CPU_LOST || ktime_after(ktime_get(), until)) {
			wrong("cell %llu cannot be given back: %#llx", id, result);
			return;
		}
		cond_resched();
	} while (result == 1 || result == QV_ME_STATE);
	if (result != QV_ME_OK && result != QV_ME_INSTANCE)
		wrong("giving back cell %llu ends with %#llx", id, result);
}

/* Requests another cell with the same CPUs and memory, or makes an invalid request */
static void another_cell(u64 *s)
{
	u64 id;

	good(other, 3);
	if (!meddle)
		other->runs[0].pa = block;
	id = hypercall(QV_HC_CREATE, virt_to_phys(other));
	if (id && id < QV_ME_BASE)
		end_cell(id);
}

static void (*const acts[])(u64 *s) = {
	interrupt, interrupt, interrupt, interrupt, interrupt, interrupt, load, load, store, store,
	touch_for_long, touch_for_long, forge, call, another_cell, channel, channel,
};

static int kicker(void *arg)
{
	u64 s = (unsigned long)arg;

	while (!kthread_should_stop()) {
		mutex_lock(&acting);
		acts[rnd(&s, ARRAY_SIZE(acts))](&s);
		kicks++;
		look_at_log();
		mutex_unlock(&acting);
		if (rnd(&s, 2))
			udelay(rnd(&s, 100));
		cond_resched();
	}
	return 0;
}

struct task_struct *kicker_start(u64 seed)
{
	struct task_struct *t = kthread_create(kicker, (void *)(unsigned long)seed, "qvrace");

	if (IS_ERR(t))
		return t;
	kicks = 0;
	kthread_bind(t, KICKER_CPU);
	wake_up_process(t);
	return t;
}

