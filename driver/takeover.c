// SPDX-License-Identifier: GPL-2.0-only
/*
 * Under a running Linux and out again. All CPUs meet in an interrupt, with a
 * deadline; if one is missing all go back to work and the caller learns which.
 * Whoever comes late finds the verdict and leaves at once.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/desc.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include "qv.h"
#include "instance.h"
#include "identity.h"
#include "setup.h"

#define MEET_MS		2000
#define BLOCK_ORDER	10
#define MSR_EFER_	0xc0000080
/* What of CR4 stays on while the monitor runs: DE, PSE, PAE, MCE, OSFXSR, OSXMMEXCPT, LA57, FSGSBASE */
#define CR4_KEEP	0x11678ull
#define CR4_FRED_	(1ull << 32)
#define CR4_OSXSAVE_	(1ull << 18)
#define CPUID_1_XSAVE	(1u << 26)
#define CR4_CET_	(1ull << 23)

static int test_absent_cpu = -1;
module_param(test_absent_cpu, int, 0600);
MODULE_PARM_DESC(test_absent_cpu, "for tests: this CPU never arrives at the rendezvous");

static bool test_impatient;
module_param(test_impatient, bool, 0600);
MODULE_PARM_DESC(test_impatient, "for tests: the monitor waits for no CPU, so all back out from inside");

static uint test_hooks;
module_param(test_hooks, uint, 0600);
MODULE_PARM_DESC(test_hooks, "for tests: 1: guests may ask for faults of the monitor's own; 2: a CPU's first VMRUN is refused");

struct qv_takeover qv_takeover;
bool qv_going_down;

enum { MEET_OPEN, MEET_CLOSING, MEET_GO, MEET_BACK };

static struct {
	atomic_t arrived, pending, verdict;
	u32 expected;
	cpumask_t seen, left;
	u64 error;
	u64 held_max;			/* TSC cycles a CPU other than the caller's was away */
	int caller;
	u64 entry;
	atomic_t in_use;		/* CPUs on which another hypervisor is at work */
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

bool qv_takeover_pending(void)
{
	return atomic_read(&meet.pending) > 0;
}

u64 qv_manage(u64 nr, u64 a)
{
	u64 end = ktime_get_ns() + MEET_MS * NSEC_PER_MSEC, result;

	while ((result = qv_hypercall(nr, a)) == QV_ME_BUSY && ktime_get_ns() < end)
		usleep_range(20, 50);
	return result;
}

/* ---- preparation: may fail, touches no CPU ---- */

static int add_ram(struct resource *res, void *arg)
{
	struct qv_mon_boot *b = arg;

	if (b->num_ram < QV_MON_RAM_RANGES) {
		b->ram[b->num_ram].start = res->start;
		b->ram[b->num_ram].end = res->end + 1;
		b->num_ram++;
	}
	return 0;
}

static void fill_boot(struct qv_mon_boot *b)
{
	u64 cr4;
	u32 i, vendor, features = qv_virt_features(&vendor);

	asm volatile("mov %%cr4, %0" : "=r"(cr4));
	b->block_pa = page_to_phys(qv_takeover.block);
	b->block_len = QV_BLOCK_FRONT_END;
	b->num_cpus = qv_takeover.num_cpus;
	b->tsc_khz = tsc_khz;
	b->enter_ms = test_impatient ? 0 : MEET_MS;
	b->x2apic = qv_takeover.x2apic;
	b->levels = cr4 & 1 << 12 ? 5 : 4;
	b->page1g = !!(features & QV_FEATURE_PAGE1G);
	b->next_rip = !!(features & QV_FEATURE_NRIPS);
	b->decode = !!(features & QV_FEATURE_DECODE);
	b->invlpgb = !!(features & QV_FEATURE_INVLPGB);
	b->spec_ctrl = !!(features & QV_FEATURE_SPEC_CTRL);
	b->test_hooks = test_hooks;
	b->phys_bits = qv_cpuid(0x80000008).eax & 0xff;
	b->image_len = qv_image_amd_end - qv_image_amd;
	b->text_len = qv_takeover.text_len;
	b->tramp_va = (u64)qv_trampoline;
	b->tramp_pa = (u64)vmalloc_to_pfn(qv_trampoline) << PAGE_SHIFT;
	b->tramp_leave = (u64)qv_tramp_leave;
	for (i = 0; i < b->num_cpus; i++)
		b->cpus[i].linux_cpu = qv_takeover.cpu_of[i];
	qv_firmware_read(b);
	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1, b,
			    add_ram);
}

/* By this the log is found again after a warm reset */
static void write_mark(void)
{
	struct qv_mon_mark *mark = page_address(qv_takeover.block) + QV_OFF_MARK;

	*mark = (struct qv_mon_mark){
		.magic = QV_MARK_MAGIC, .block_pa = page_to_phys(qv_takeover.block), .session = ktime_get_real_ns(),
		.tsc = qv_rdtsc(), .boot_ns = ktime_get_boottime_ns(), .tsc_khz = tsc_khz,
	};
	mark->sum = qv_mark_sum(mark);
}

static void free_block(void)
{
	if (!qv_going_down)		/* an orderly end is nobody's riddle */
		memset(page_address(qv_takeover.block) + QV_OFF_MARK, 0, sizeof(struct qv_mon_mark));
	__free_pages(qv_takeover.block, BLOCK_ORDER);
	qv_takeover.block = NULL;
	qv_takeover.num_cpus = 0;
}

static int prepare(struct qv_reply *r)
{
	const struct qv_image_header *h = (const void *)qv_image_amd;
	struct instance *inst;
	u64 cr4;
	u32 cpu;

	BUILD_BUG_ON(offsetof(struct qv_linux_state, rsp) != 0x00 ||
		     offsetof(struct qv_linux_state, rip) != 0x08 ||
		     offsetof(struct qv_linux_state, rflags) != 0x10);
	asm volatile("mov %%cr4, %0" : "=r"(cr4));
	if (cr4 & CR4_FRED_)
		return qv_refuse(r, QV_E_UNSUPPORTED, "boot with fred=off",
				 "Linux uses FRED event delivery, which this version of QV does not know");
	if (memcmp(h->magic, "QVMON01", 8) || qv_image_amd_end - qv_image_amd > QV_IMAGE_MAX)
		return qv_refuse(r, QV_E_UNSUPPORTED, "build and install the module again",
				 "the monitor image in this module is damaged");
	meet.entry = h->entry;
	qv_takeover.text_len = h->text_end - QV_VA_IMAGE;
	qv_takeover.x2apic = !!(qv_rdmsr(0x1b) & 1 << 10);
	qv_takeover.num_cpus = 0;
	for_each_online_cpu(cpu)
		qv_takeover.cpu_of[qv_takeover.num_cpus++] = cpu;
	qv_takeover.block = qv_memory_take_block(BLOCK_ORDER);
	if (!qv_takeover.block)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory, or enable earlier after boot",
				 "Linux has no 4 MiB of contiguous memory for the monitor");
	qv_nmi_reset();
	inst = front_instance();
	fill_boot(&inst->boot);
	memcpy(page_address(qv_takeover.block) + QV_OFF_IMAGE, qv_image_amd,
	       qv_image_amd_end - qv_image_amd);
	inst->pool.va = (u64)page_address(qv_takeover.block);
	if (setup_tables(inst) || identity_tables(inst))
		return qv_refuse(r, QV_E_NO_MEMORY, "", "the monitor's page tables do not fit");
	setup_rebase(inst);
	write_mark();
	return 0;
}

/* ---- on each CPU, interrupts off ---- */

static void save_state(struct qv_linux_state *s)
{
	struct desc_ptr gdt, idt;

	asm volatile("sgdt %0" : "=m"(gdt));
	asm volatile("sidt %0" : "=m"(idt));
	asm volatile("mov %%cr0, %0" : "=r"(s->cr0));
	asm volatile("mov %%cr3, %0" : "=r"(s->cr3));
	asm volatile("mov %%cr4, %0" : "=r"(s->cr4));
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

static u64 enter_this_cpu(u32 index)
{
	struct pcpu *cpu = page_address(qv_takeover.block) + QV_OFF_CPUS + index * QV_CPU_LEN;
	struct qv_linux_state *s = &cpu->linux_state;
	struct instance *inst = front_instance();
	u64 error;

	save_state(s);
	qv_virt_on();
	error = qv_tramp_enter(s, inst->boot.cr3, meet.entry,
			       QV_VA_BLOCK + QV_OFF_CPUS + index * QV_CPU_LEN,
			       (s->cr4 & CR4_KEEP) |
			       (qv_cpuid(1).ecx & CPUID_1_XSAVE ? CR4_OSXSAVE_ : 0));
	if (error)
		qv_virt_off();
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
	atomic_set_release(&meet.verdict, atomic_read(&meet.in_use) ? MEET_BACK : MEET_GO);
}

static int wait_for_all(void)
{
	u64 start = qv_rdtsc();

	if (atomic_inc_return(&meet.arrived) == meet.expected)
		all_here();
	while (atomic_read(&meet.verdict) <= MEET_CLOSING) {
		if (qv_rdtsc() - start > cycles_of_ms(MEET_MS))
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

static void meet_and_enter(void *index)
{
	u64 start = qv_rdtsc(), error;

	if (atomic_read(&meet.verdict) == MEET_OPEN) {
		cpumask_set_cpu(raw_smp_processor_id(), &meet.seen);
		meet.apic_id[(unsigned long)index] =
			qv_takeover.x2apic ? qv_rdmsr(0x802) : qv_cpuid(1).ebx >> 24;
		if (qv_virt_in_use())
			atomic_inc(&meet.in_use);
		if (wait_for_all() == MEET_GO) {
			error = enter_this_cpu((unsigned long)index);
			if (error)
				WRITE_ONCE(meet.error, error);
		}
	}
	note_held(start);
	atomic_dec(&meet.pending);
}

static void leave_this_cpu(void *index)
{
	u64 start = qv_rdtsc(), error;

	do	/* one after another: the monitor notes each */
		error = qv_tramp_call_leave();
	while (error == QV_ME_BUSY && qv_rdtsc() - start < cycles_of_ms(MEET_MS));
	if (error) {
		WRITE_ONCE(meet.error, error);
	} else {
		qv_virt_off();
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

/* False: a CPU is still away when the deadline has passed */
static bool all_done(u32 ms)
{
	u64 start = qv_rdtsc();

	while (qv_takeover_pending()) {
		if (qv_rdtsc() - start > cycles_of_ms(ms))
			return false;
		cpu_relax();
	}
	return true;
}

static int refuse_meeting(struct qv_reply *r)
{
	char missing[64] = "";
	u32 i, n = 0;

	if (atomic_read(&meet.in_use))
		return qv_virt_refuse_in_use(r);
	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (!cpumask_test_cpu(qv_takeover.cpu_of[i], &meet.seen))
			n += scnprintf(missing + n, sizeof(missing) - n, " %u", qv_takeover.cpu_of[i]);
	return qv_refuse(r, QV_E_RENDEZVOUS,
			 "find what keeps it busy with interrupts off, or set it offline, and try again",
			 "these CPUs did not answer within %u ms, so all others backed out:%s",
			 MEET_MS, missing);
}

/* A CPU is lost inside the monitor: nothing may be freed that it could use */
static int refuse_lost(struct qv_reply *r)
{
	__module_get(THIS_MODULE);	/* for ever */
	cpus_read_unlock();
	return qv_refuse(r, QV_E_CPU_STUCK, "restart the machine, and report this",
			 "a CPU went into the monitor and did not come back");
}

int qv_enable(struct qv_reply *r)
{
	int error;

	if (qv_takeover.enabled)
		return qv_refuse(r, QV_E_ENABLED, "nothing to do", "QV is enabled already");
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_RENDEZVOUS, "wait until that CPU takes interrupts again",
				 "a CPU that missed the last rendezvous has still not come");
	cpus_read_lock();
	error = qv_preflight(r);
	if (!error)
		error = prepare(r);
	if (error)
		goto out;

	atomic_set(&meet.arrived, 0);
	atomic_set(&meet.verdict, MEET_OPEN);
	atomic_set(&meet.in_use, 0);
	meet.expected = qv_takeover.num_cpus;
	meet.error = meet.held_max = 0;
	cpumask_clear(&meet.seen);
	cpumask_clear(&meet.left);
	call_all(meet_and_enter, &meet.left);
	if (atomic_read(&meet.verdict) == MEET_GO && !all_done(5 * MEET_MS))
		return refuse_lost(r);
	if (atomic_read(&meet.verdict) != MEET_GO)
		error = refuse_meeting(r);
	else if (meet.error)
		error = qv_refuse_monitor(r, meet.error, "take over");
	else
		qv_takeover.enabled = true;
	r->held_ns = div_u64(meet.held_max * 1000000, tsc_khz);
out:
	if (error && qv_takeover.block)
		free_block();
	cpus_read_unlock();
	return error;
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
	if (!all_done(MEET_MS))
		return qv_refuse(r, QV_E_CPU_STUCK, "find what keeps it busy with interrupts off, and try again",
				 "%u of %u CPUs have left the monitor, the others did not answer within %u ms",
				 cpumask_weight(&meet.left), qv_takeover.num_cpus, MEET_MS);
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
	error = qv_lock_check(r);
	if (error)
		return error;
	if (qv_num_cells)
		return qv_refuse(r, QV_E_CELLS_EXIST, "destroy them first: qvctl cell list, qvctl cell destroy NAME",
				 "%u cells exist, and they live in the monitor that would go", qv_num_cells);
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_BUSY, "wait until that CPU takes interrupts again",
				 "a CPU has still to answer an earlier call");
	cpus_read_lock();
	error = all_online(r);
	if (!error)
		error = leave_all(r);
	cpus_read_unlock();
	if (error)
		return error;
	qv_watch_now();			/* the last entries of its log */
	qv_takeover.enabled = false;
	free_block();
	return 0;
}
