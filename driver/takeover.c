// SPDX-License-Identifier: GPL-2.0-only
/*
 * Under a running Linux and out again. All CPUs meet in an interrupt, with a
 * deadline; if one is missing all go back to work and the caller learns which.
 * Whoever comes late finds the verdict and leaves at once.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/desc.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include "qv.h"
#include "instance.h"

#define MSR_EFER_	0xc0000080
/* What of CR4 stays on while the monitor runs: DE, PSE, PAE, MCE, OSFXSR, OSXMMEXCPT, LA57, FSGSBASE */
#define CR4_KEEP	0x11678ull
#define CR4_OSXSAVE_	(1ull << 18)
#define CPUID_1_XSAVE	(1u << 26)
#define CR4_CET_	(1ull << 23)

static int test_absent_cpu = -1;
module_param(test_absent_cpu, int, 0600);
MODULE_PARM_DESC(test_absent_cpu, "for tests: this CPU never arrives at the rendezvous");

DEFINE_MUTEX(qv_lock);
struct qv_takeover qv_takeover;
bool qv_going_down;

enum { MEET_OPEN, MEET_CLOSING, MEET_GO, MEET_BACK };

static struct {
	atomic_t arrived, pending, verdict;
	atomic_t using;			/* CPUs that may be at work on the block */
	u32 expected;
	cpumask_t seen, left;
	u64 error;
	u64 held_max;			/* TSC cycles a CPU other than the caller's was away */
	int caller;
	atomic_t in_use;		/* CPUs on which another hypervisor is at work */
	int refused_by;			/* CPU whose processor refused a step, or -1; which step, and why */
	char step[72];
	u32 step_number;
	u32 apic_id[QV_MON_CPUS];
	call_single_data_t csd[QV_MON_CPUS];
} meet;

static struct instance *front_instance(void)
{
	return page_address(qv_takeover.block) + QV_OFF_INSTANCE;
}

/* While some CPUs have left and others not, a hypercall might meet nobody */
bool qv_takeover_whole(void)
{
	return qv_takeover.enabled && cpumask_empty(&meet.left);
}

int qv_cpu_index(u32 linux_cpu)
{
	u32 i;

	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (qv_takeover.cpu_of[i] == linux_cpu)
			return i;
	return -1;
}

bool qv_cpu_lost(u32 linux_cpu)
{
	const struct qv_mon_status *front = page_address(qv_takeover.block) + QV_OFF_STATUS;
	int index = qv_cpu_index(linux_cpu);

	return index >= 0 && READ_ONCE(front->cpus[index].lost);
}

bool qv_takeover_pending(void)
{
	return atomic_read(&meet.pending) > 0;
}

u64 qv_manage(u64 nr, u64 a)
{
	u64 end = ktime_get_ns() + QV_MEET_MS * NSEC_PER_MSEC, result;

	do {
		result = qv_hypercall(nr, a);
		if (result != QV_ME_BUSY && result != QV_ME_RATE)
			break;
		usleep_range(20, 50);
	} while (ktime_get_ns() < end);
	return result;
}

/* ---- on each CPU, interrupts off ---- */

static void save_state(struct qv_linux_state *s)
{
	struct desc_ptr gdt, idt;

	asm volatile("sgdt %0" : "=m"(gdt));
	asm volatile("sidt %0" : "=m"(idt));
	s->cr0 = qv_cr0();
	asm volatile("mov %%cr3, %0" : "=r"(s->cr3));
	s->cr4 = qv_cr4();
	s->gdt_base = gdt.address;
	s->gdt_limit = gdt.size;
	s->idt_base = idt.address;
	s->idt_limit = idt.size;
	s->cs = __KERNEL_CS;
	s->ss = __KERNEL_DS;
	s->efer = qv_rdmsr(MSR_EFER_);
	s->pat = qv_rdmsr(0x277);
	if (s->cr4 & CR4_CET_) {
		s->s_cet = qv_rdmsr(0x6a2);
		s->ssp_table = qv_rdmsr(0x6a8);
	}
}

/* Reads nothing of the block: under the monitor all but its open part is hidden from Linux, this driver too */
static struct qv_crossing crossing_home(u32 index)
{
	u32 area = QV_OFF_CPUS + index * QV_CPU_LEN;
	struct pcpu *cpu = page_address(qv_takeover.block) + area;

	return (struct qv_crossing){
		.state = &cpu->linux_state,
		.area_pa = page_to_phys(qv_takeover.block) + area, .area_va = QV_VA_BLOCK + area,
	};
}

static struct qv_crossing crossing_of(u32 index)
{
	struct qv_crossing c = crossing_home(index);
	struct instance *inst = front_instance();
	const struct qv_image_header *h = qv_virt_image();

	c.boot = &inst->boot;
	c.cr3 = inst->boot.cr3;
	c.entry = h->entry;
	c.cr4 = (qv_cr4() & CR4_KEEP) | (qv_cpuid(1).ecx & CPUID_1_XSAVE ? CR4_OSXSAVE_ : 0);
	c.gdt = h->gdt;
	c.idt = QV_VA_BLOCK + QV_OFF_INSTANCE + offsetof(struct instance, idt);
	c.spoil = inst->boot.test_hooks & QV_TEST_BAD_STEP && index == 1;
	return c;
}

static void note_refused(const struct qv_crossing *c)
{
	if (c->step[0] && cmpxchg(&meet.refused_by, -1, raw_smp_processor_id()) == -1) {
		meet.step_number = c->number;
		strscpy(meet.step, c->step, sizeof(meet.step));
	}
}

static u64 enter_this_cpu(struct qv_crossing *c)
{
	u64 error;

	save_state(c->state);
	error = qv_virt->enter(c);
	note_refused(c);
	return error;
}

static u64 cycles_of_ms(u32 ms)
{
	return (u64)tsc_khz * ms;
}

/* The last to arrive writes down who they are. While it does, nobody may say "back" and free the block */
static void all_here(void)
{
	struct qv_mon_boot *b;
	u32 i;

	if (atomic_cmpxchg(&meet.verdict, MEET_OPEN, MEET_CLOSING) != MEET_OPEN)
		return;
	b = &front_instance()->boot;
	for (i = 0; i < b->num_cpus; i++)
		b->cpus[i].apic_id = meet.apic_id[i];
	atomic_set_release(&meet.verdict, atomic_read(&meet.in_use) || READ_ONCE(meet.refused_by) >= 0 ?
			   MEET_BACK : MEET_GO);
}

static int wait_for_all(void)
{
	u64 start = qv_rdtsc();

	if (atomic_inc_return(&meet.arrived) == meet.expected)
		all_here();
	while (atomic_read(&meet.verdict) <= MEET_CLOSING) {
		if (qv_rdtsc() - start > cycles_of_ms(QV_MEET_MS))
			atomic_cmpxchg(&meet.verdict, MEET_OPEN, MEET_BACK);
		cpu_relax();
	}
	return atomic_read_acquire(&meet.verdict);
}

static void note_held(u64 start)
{
	u64 held = qv_rdtsc() - start;

	if (raw_smp_processor_id() != meet.caller && held > READ_ONCE(meet.held_max))
		WRITE_ONCE(meet.held_max, held);
}

/* Everything that the processor could refuse comes before the verdict */
static bool make_ready(struct qv_crossing *c)
{
	bool ready;

	if (qv_virt->in_use()) {
		atomic_inc(&meet.in_use);
		return false;
	}
	ready = qv_virt->ready(c);
	note_refused(c);
	return ready;
}

static void join(u32 index)
{
	struct qv_crossing c = crossing_of(index);
	bool ready;
	u64 error;

	cpumask_set_cpu(raw_smp_processor_id(), &meet.seen);
	meet.apic_id[index] = qv_apic_id();
	ready = make_ready(&c);
	if (wait_for_all() == MEET_GO) {
		error = enter_this_cpu(&c);
		if (error)
			WRITE_ONCE(meet.error, error);
	} else if (ready) {
		qv_virt->unready(&c);
	}
}

static void meet_and_enter(void *index)
{
	u64 start = qv_rdtsc();

	atomic_inc(&meet.using);
	smp_mb__after_atomic();		/* who frees the block says BACK first, then looks at .using */
	if (atomic_read(&meet.verdict) == MEET_OPEN)
		join((unsigned long)index);
	note_held(start);
	atomic_dec(&meet.pending);
	atomic_dec(&meet.using);	/* last: once nobody is at work here, only those that never came are pending */
}

static void leave_this_cpu(void *index)
{
	struct qv_crossing c = crossing_home((unsigned long)index);
	u64 start = qv_rdtsc(), error;

	do	/* one after another: the monitor notes each */
		error = qv_virt->leave(&c);
	while (error == QV_ME_BUSY && qv_rdtsc() - start < cycles_of_ms(QV_MEET_MS));
	if (error) {
		WRITE_ONCE(meet.error, error);
	} else {
		cpumask_set_cpu(raw_smp_processor_id(), &meet.left);
	}
	note_held(start);
	atomic_dec(&meet.pending);
}

/* ---- the two calls ---- */

/* @what with its index on every CPU not in @without; the caller's own last. Does not wait */
static void call_all(smp_call_func_t what, const cpumask_t *without)
{
	unsigned long i, self = QV_MON_CPUS;
	unsigned long flags;

	preempt_disable();
	meet.caller = smp_processor_id();
	for (i = 0; i < qv_takeover.num_cpus; i++) {
		int cpu = qv_takeover.cpu_of[i];

		if (cpumask_test_cpu(cpu, without) || cpu == test_absent_cpu)
			continue;
		atomic_inc(&meet.pending);
		if (cpu == meet.caller) {
			self = i;
			continue;
		}
		INIT_CSD(&meet.csd[i], what, (void *)i);
		smp_call_function_single_async(cpu, &meet.csd[i]);
	}
	if (self < QV_MON_CPUS) {
		local_irq_save(flags);
		what((void *)self);
		local_irq_restore(flags);
	}
	preempt_enable();
}

/* False: a CPU is still @away when the deadline has passed */
static bool all_done(const atomic_t *away, u32 ms)
{
	u64 start = qv_rdtsc();

	while (atomic_read(away) > 0) {
		if (qv_rdtsc() - start > cycles_of_ms(ms))
			return false;
		cpu_relax();
	}
	return true;
}

static int refuse_step(struct qv_reply *r)
{
	char why[48] = "";

	if (meet.step_number)
		scnprintf(why, sizeof(why), " (VM-instruction error %u)", meet.step_number);
	return qv_refuse(r, QV_E_MONITOR, "report this with the processor's model and microcode (/proc/cpuinfo)",
			 "the processor of CPU %d refused %s%s, so all CPUs backed out", meet.refused_by, meet.step, why);
}

static int refuse_meeting(struct qv_reply *r)
{
	char missing[64] = "";
	u32 i, n = 0;

	if (atomic_read(&meet.in_use))
		return qv_virt_refuse_in_use(r);
	if (meet.refused_by >= 0)
		return refuse_step(r);
	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (!cpumask_test_cpu(qv_takeover.cpu_of[i], &meet.seen))
			n += scnprintf(missing + n, sizeof(missing) - n, " %u", qv_takeover.cpu_of[i]);
	return qv_refuse(r, QV_E_RENDEZVOUS,
			 "find what keeps it busy with interrupts off, and try again",
			 "these CPUs did not answer within %u ms, so all others backed out:%s",
			 QV_MEET_MS, missing);
}

/* A CPU is lost inside the monitor: nothing may be freed that it could use */
static int refuse_lost(struct qv_reply *r)
{
	__module_get(THIS_MODULE);	/* for ever */
	cpus_read_unlock();
	return qv_refuse(r, QV_E_CPU_STUCK, "restart the machine, and report this",
			 "a CPU went into the monitor and did not come back");
}

static int refuse_outside(struct qv_reply *r)
{
	return qv_refuse(r, QV_E_CPU_OFFLINE,
			 "take nosmt, maxcpus= and nr_cpus= from the kernel's command line, or enable without --strict",
			 "%u CPUs are offline and Linux does not let them come: they would be outside the monitor",
			 qv_takeover.outside);
}

/* All CPUs that can be are online */
static int enable_online(struct qv_reply *r, bool strict)
{
	int error;

	cpus_read_lock();
	qv_takeover.outside = qv_outside_count();
	error = qv_preflight(r);
	if (!error && strict && qv_takeover.outside)
		error = refuse_outside(r);
	if (!error)
		error = qv_block_make(r);
	if (error)
		goto out;

	atomic_set(&meet.arrived, 0);
	atomic_set(&meet.verdict, MEET_OPEN);
	atomic_set(&meet.in_use, 0);
	meet.expected = qv_takeover.num_cpus;
	meet.error = meet.held_max = 0;
	meet.refused_by = -1;
	cpumask_clear(&meet.seen);
	cpumask_clear(&meet.left);
	call_all(meet_and_enter, &meet.left);
	if (!all_done(atomic_read(&meet.verdict) == MEET_GO ? &meet.pending : &meet.using, 5 * QV_MEET_MS))
		return refuse_lost(r);
	if (atomic_read(&meet.verdict) != MEET_GO)
		error = refuse_meeting(r);
	else if (meet.refused_by >= 0)
		error = refuse_step(r);
	else if (meet.error)
		error = qv_refuse_monitor(r, meet.error, "take over");
	else
		qv_takeover.enabled = true;
	r->held_ns = div_u64(meet.held_max * 1000000, tsc_khz);
out:
	if (error && qv_takeover.block)
		qv_block_free();
	cpus_read_unlock();
	return error;
}

int qv_enable(struct qv_reply *r, bool strict)
{
	int error;

	if (qv_takeover.enabled)
		return qv_refuse(r, QV_E_ENABLED, "nothing to do", "QV is enabled already");
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_RENDEZVOUS, "wait until that CPU takes interrupts again",
				 "a CPU that missed the last rendezvous has still not come");
	error = qv_preflight(r);
	if (error)
		return error;
	qv_outside_gather();
	error = enable_online(r, strict);
	qv_outside_park();
	if (error)
		return error;
	if (qv_takeover.outside)
		qv_log("driver", "level: CPUs outside (%u): offline, and Linux does not let them come; a hostile Linux could run them bare",
		       qv_takeover.outside);
	__module_get(THIS_MODULE);	/* no unloading while the monitor runs */
	qv_watch_start();
	qv_event(QV_EVENT_ENABLED, 0, "", "the monitor runs on %u CPUs", qv_takeover.num_cpus);
	return 0;
}

static int all_online(struct qv_reply *r)
{
	u32 i;

	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (!cpu_online(qv_takeover.cpu_of[i]))
			return qv_refuse(r, QV_E_CPU_OFFLINE,
					 "bring it online: echo 1 > /sys/devices/system/cpu/cpuN/online",
					 "CPU %u is offline and could not be brought back from the monitor",
					 qv_takeover.cpu_of[i]);
	return 0;
}

static int leave_all(struct qv_reply *r)
{
	meet.error = meet.held_max = 0;
	call_all(leave_this_cpu, &meet.left);
	if (!all_done(&meet.pending, QV_MEET_MS))
		return qv_refuse(r, QV_E_CPU_STUCK, "find what keeps it busy with interrupts off, and try again",
				 "%u of %u CPUs have left the monitor, the others did not answer within %u ms",
				 cpumask_weight(&meet.left), qv_takeover.num_cpus, QV_MEET_MS);
	if (meet.error)
		return qv_refuse_monitor(r, meet.error, "let the CPUs go");
	r->held_ns = div_u64(meet.held_max * 1000000, tsc_khz);
	return 0;
}

int qv_disable(struct qv_reply *r)
{
	int error;

	if (!qv_takeover.enabled)
		return qv_refuse(r, QV_E_NOT_ENABLED, "nothing to do", "QV is not enabled");
	if (qv_num_cells)
		return qv_refuse(r, QV_E_CELLS_EXIST, "destroy them first: qvctl cell list, qvctl cell destroy NAME",
				 "%u cells exist, and they live in the monitor that would go", qv_num_cells);
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_BUSY, "wait until that CPU takes interrupts again",
				 "a CPU has still to answer an earlier call");
	qv_outside_return();
	cpus_read_lock();
	error = all_online(r);
	if (!error)
		error = leave_all(r);
	cpus_read_unlock();
	if (!error) {
		qv_watch_now();			/* the last entries of its log */
		qv_takeover.enabled = false;
		qv_block_free();
	}
	qv_outside_park();
	if (error)
		return error;
	qv_watch_stop();
	module_put(THIS_MODULE);
	qv_event(QV_EVENT_DISABLED, 0, "", "Linux has the machine to itself again");
	return 0;
}
