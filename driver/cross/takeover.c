// SPDX-License-Identifier: GPL-2.0-only
/*
 * The take-over: all CPUs meet in an interrupt (the rendezvous), agree on a verdict by a deadline,
 * and either all cross into the monitor or all go back to work (law 5). A CPU that arrives later
 * finds the verdict and leaves at once.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include "abi/boot.h"
#include "abi/errors.h"
#include "qv.h"
#include "cross.h"

static int test_absent_cpu = -1;
module_param(test_absent_cpu, int, 0600);
MODULE_PARM_DESC(test_absent_cpu, "for tests: this CPU never arrives at the rendezvous");

enum { VERDICT_OPEN, VERDICT_CLOSING, VERDICT_GO, VERDICT_BACK };

static struct {
	atomic_t arrived;
	atomic_t pending;		/* CPUs that have been called and have not finished */
	atomic_t verdict;
	atomic_t using;			/* CPUs that may be reading the monitor's memory now */
	u32 expected;
	cpumask_t seen;			/* CPUs that arrived before the verdict */
	cpumask_t left;			/* CPUs that have left the monitor */
	u64 error;			/* enum qv_mon_error of a CPU, or 0 */
	u64 held_max;			/* TSC cycles for which a CPU other than .caller was away */
	int caller;
	atomic_t in_use;		/* CPUs on which another hypervisor is active */
	int refused_by;			/* CPU whose processor refused a step, or -1 */
	char step[72];			/* the step that it refused */
	u32 step_number;		/* the VM-instruction error of that step, or 0 */
	u32 apic_id[QV_MAX_CPUS];
	atomic_t without_x2apic;	/* CPUs that cannot be in x2APIC mode */
	call_single_data_t csd[QV_MAX_CPUS];
} rendezvous;

bool qv_takeover_whole(void)
{
	return qv_takeover.enabled && cpumask_empty(&rendezvous.left);
}

bool qv_takeover_pending(void)
{
	return atomic_read(&rendezvous.pending) > 0;
}

static u64 cycles_of_ms(u32 ms)
{
	return (u64)tsc_khz * ms;
}

/* ---- on each CPU, interrupts off ---- */

static void record_refusal(const struct qv_crossing *c)
{
	if (c->step[0] && cmpxchg(&rendezvous.refused_by, -1, raw_smp_processor_id()) == -1) {
		rendezvous.step_number = c->number;
		strscpy(rendezvous.step, c->step, sizeof(rendezvous.step));
	}
}

static void record_held(u64 start)
{
	u64 held = qv_rdtsc() - start;

	if (raw_smp_processor_id() != rendezvous.caller && held > READ_ONCE(rendezvous.held_max))
		WRITE_ONCE(rendezvous.held_max, held);
}

/*
 * The last CPU to arrive records all APIC ids and gives the verdict. Pairs with wait_for_verdict():
 * a CPU that times out changes OPEN to BACK only, so the monitor's memory is not freed while the
 * verdict is CLOSING.
 */
static void close_rendezvous(void)
{
	struct qv_mon_boot *boot;
	u32 i;

	if (atomic_cmpxchg(&rendezvous.verdict, VERDICT_OPEN, VERDICT_CLOSING) != VERDICT_OPEN)
		return;
	boot = qv_monitor_mem_boot();
	for (i = 0; i < boot->num_cpus; i++)
		boot->cpus[i].apic_id = rendezvous.apic_id[i];
	boot->offers_x2apic = qv_takeover.offers_x2apic = !atomic_read(&rendezvous.without_x2apic);
	atomic_set_release(&rendezvous.verdict,
			   atomic_read(&rendezvous.in_use) ||
			   READ_ONCE(rendezvous.refused_by) >= 0 ? VERDICT_BACK : VERDICT_GO);
}

static int wait_for_verdict(void)
{
	u64 start = qv_rdtsc();

	if (atomic_inc_return(&rendezvous.arrived) == rendezvous.expected)
		close_rendezvous();
	while (atomic_read(&rendezvous.verdict) <= VERDICT_CLOSING) {
		if (qv_rdtsc() - start > cycles_of_ms(QV_DEADLINE_MS))
			atomic_cmpxchg(&rendezvous.verdict, VERDICT_OPEN, VERDICT_BACK);
		cpu_relax();
	}
	return atomic_read_acquire(&rendezvous.verdict);
}

/* Does every step that the processor can refuse: all of them come before the verdict */
static bool make_ready(struct qv_crossing *c)
{
	bool ready;

	if (qv_virt->in_use()) {
		atomic_inc(&rendezvous.in_use);
		return false;
	}
	ready = qv_virt->ready(c);
	record_refusal(c);
	return ready;
}

static void cross_over(struct qv_crossing *c)
{
	u64 error;

	qv_crossing_save_linux(c->state);
	error = qv_virt->cross(c);
	record_refusal(c);
	if (error)
		WRITE_ONCE(rendezvous.error, error);
}

/* Returns true if this CPU has x2APIC mode, with its present APIC id. Intel SDM vol. 3, 11.12.8 */
static bool may_be_x2apic(void)
{
	return (qv_cpuid(1).ecx & CPUID_X2APIC) && qv_cpuid(0).eax >= CPUID_TOPOLOGY &&
	       qv_cpuid(CPUID_TOPOLOGY).edx == qv_apic_id();
}

static void join_rendezvous(u32 index)
{
	struct qv_crossing c = qv_crossing_over(index);
	bool ready;

	cpumask_set_cpu(raw_smp_processor_id(), &rendezvous.seen);
	rendezvous.apic_id[index] = qv_apic_id();
	if (!may_be_x2apic())
		atomic_inc(&rendezvous.without_x2apic);
	ready = make_ready(&c);
	if (wait_for_verdict() == VERDICT_GO)
		cross_over(&c);
	else if (ready)
		qv_virt->unready(&c);
}

static void cross_this_cpu(void *index)
{
	u64 start = qv_rdtsc();

	atomic_inc(&rendezvous.using);
	/*
	 * Pairs with qv_take_over(): the memory is freed only after verdict == BACK and using == 0
	 */
	smp_mb__after_atomic();
	if (atomic_read(&rendezvous.verdict) == VERDICT_OPEN)
		join_rendezvous((unsigned long)index);
	record_held(start);
	atomic_dec(&rendezvous.pending);
	/*
	 * This comes last: when .using is 0 after the verdict, CPUs that are still pending never
	 * came
	 */
	atomic_dec(&rendezvous.using);
}

static void cross_this_cpu_back(void *index)
{
	struct qv_crossing c = qv_crossing_back((unsigned long)index);
	u64 start = qv_rdtsc(), error;

	do	/* the monitor lets one CPU leave at a time */
		error = qv_virt->cross_back(&c);
	while (error == QV_ME_BUSY && qv_rdtsc() - start < cycles_of_ms(QV_DEADLINE_MS));
	if (error)
		WRITE_ONCE(rendezvous.error, error);
	else
		cpumask_set_cpu(raw_smp_processor_id(), &rendezvous.left);
	record_held(start);
	atomic_dec(&rendezvous.pending);
}

/* ---- on the CPU of the caller ---- */

/*
 * Calls @what, with the index of the CPU, on every CPU that has not left; on the caller's CPU last.
 * Does not wait
 */
static void call_cpus(smp_call_func_t what)
{
	unsigned long i, self = QV_MAX_CPUS;
	unsigned long flags;

	preempt_disable();
	rendezvous.caller = smp_processor_id();
	for (i = 0; i < qv_takeover.num_cpus; i++) {
		int cpu = qv_takeover.cpu_of[i];

		if (cpumask_test_cpu(cpu, &rendezvous.left) || cpu == test_absent_cpu)
			continue;
		atomic_inc(&rendezvous.pending);
		if (cpu == rendezvous.caller) {
			self = i;
			continue;
		}
		INIT_CSD(&rendezvous.csd[i], what, (void *)i);
		smp_call_function_single_async(cpu, &rendezvous.csd[i]);
	}
	if (self < QV_MAX_CPUS) {
		local_irq_save(flags);
		what((void *)self);
		local_irq_restore(flags);
	}
	preempt_enable();
}

#define LOOK_NS	(10 * NSEC_PER_MSEC)	/* longest time that a look of wait_for_zero() counts */

/*
 * Waits until @count is 0. Returns false if it has not fallen for @ms milliseconds. Between two
 * looks this CPU sleeps, since the other CPUs of a virtual machine may need the host's time. A look
 * counts LOOK_NS at most: a host that does not run this CPU may not run the others either.
 */
static bool wait_for_zero(const atomic_t *count, u32 ms)
{
	u64 last = ktime_get_ns(), waited = 0, now;
	int before = INT_MAX, left;
	bool late;

	do {
		now = ktime_get_ns();
		waited += min_t(u64, now - last, LOOK_NS);
		last = now;
		late = waited > ms * (u64)NSEC_PER_MSEC;
		/* after the clock, since this CPU may have been held up itself */
		left = atomic_read(count);
		if (left <= 0)
			return true;
		if (left < before) {
			waited = 0;
			late = false;
		}
		before = left;
		usleep_range(20, 50);
	} while (!late);
	return false;
}

static int refuse_step(struct qv_reply *r)
{
	char why[48] = "";

	if (rendezvous.step_number)
		scnprintf(why, sizeof(why), " (VM-instruction error %u)", rendezvous.step_number);
	return qv_refuse(r, QV_E_MONITOR,
			 "report this with the processor's model and microcode (/proc/cpuinfo)",
			 "the processor of CPU %d refused %s%s, so all CPUs backed out",
			 rendezvous.refused_by, rendezvous.step, why);
}

/* Writes the numbers of all CPUs that are not in @there */
static void list_missing(char *to, u32 len, const cpumask_t *there)
{
	u32 i, n = 0;

	*to = 0;
	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (!cpumask_test_cpu(qv_takeover.cpu_of[i], there))
			n += scnprintf(to + n, len - n, " %u", qv_takeover.cpu_of[i]);
}

static int refuse_absent(struct qv_reply *r)
{
	char missing[64];

	list_missing(missing, sizeof(missing), &rendezvous.seen);
	return qv_refuse(r, QV_E_RENDEZVOUS,
			 "find what keeps it busy with interrupts off, and try again",
			 "these CPUs did not answer within %u ms, so all others backed out:%s",
			 QV_DEADLINE_MS, missing);
}

/* Returns why not every CPU is in the monitor; 0: all are */
static int check_outcome(struct qv_reply *r)
{
	bool back = atomic_read(&rendezvous.verdict) != VERDICT_GO;

	if (back && atomic_read(&rendezvous.in_use))
		return qv_virt_refuse_in_use(r);
	if (rendezvous.refused_by >= 0)
		return refuse_step(r);
	if (back)
		return refuse_absent(r);
	return rendezvous.error ? qv_refuse_monitor(r, rendezvous.error, "take over") : 0;
}

static void open_rendezvous(void)
{
	atomic_set(&rendezvous.arrived, 0);
	atomic_set(&rendezvous.verdict, VERDICT_OPEN);
	atomic_set(&rendezvous.in_use, 0);
	atomic_set(&rendezvous.without_x2apic, 0);
	rendezvous.expected = qv_takeover.num_cpus;
	rendezvous.error = rendezvous.held_max = 0;
	rendezvous.refused_by = -1;
	cpumask_clear(&rendezvous.seen);
	cpumask_clear(&rendezvous.left);
}

int qv_take_over(struct qv_reply *r, bool *lost)
{
	const atomic_t *away;
	int error;

	open_rendezvous();
	call_cpus(cross_this_cpu);
	away = atomic_read(&rendezvous.verdict) == VERDICT_GO ? &rendezvous.pending :
								&rendezvous.using;
	*lost = !wait_for_zero(away, 5 * QV_DEADLINE_MS);
	if (*lost)
		return qv_refuse(r, QV_E_CPU_STUCK, "restart the machine, and report this",
				 "a CPU went into the monitor and did not come back");
	error = check_outcome(r);
	r->held_ns = div_u64(rendezvous.held_max * 1000000, tsc_khz);
	return error;
}

/*
 * Milliseconds that CPUs have to leave the monitor, since a CPU left last. No CPU is held
 * meanwhile. So this may be long: a loaded host was seen not to run a CPU for a second
 */
#define LEAVE_MS	(5 * QV_DEADLINE_MS)

/* CPUs may leave after their number was taken, but before they are listed */
static int refuse_to_leave(struct qv_reply *r)
{
	u32 left = cpumask_weight(&rendezvous.left);
	char missing[64];

	list_missing(missing, sizeof(missing), &rendezvous.left);
	return qv_refuse(r, QV_E_CPU_STUCK,
			 "find what keeps it busy with interrupts off, and try again",
			 "%u of %u CPUs have left the monitor, "
			 "but these did not answer within %u ms:%s",
			 left, qv_takeover.num_cpus, LEAVE_MS,
			 *missing ? missing : " none (all have left now)");
}

int qv_give_back(struct qv_reply *r)
{
	rendezvous.error = rendezvous.held_max = 0;
	call_cpus(cross_this_cpu_back);
	if (!wait_for_zero(&rendezvous.pending, LEAVE_MS))
		return refuse_to_leave(r);
	if (rendezvous.error)
		return qv_refuse_monitor(r, rendezvous.error, "let the CPUs go");
	r->held_ns = div_u64(rendezvous.held_max * 1000000, tsc_khz);
	return 0;
}
