// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a hostile kernel whose CPUs race. The CPU that writes `run` creates, starts, stops and
 * takes back one cell after another by hypercalls. Meanwhile a thread on CPU 1, the kicker, does
 * random acts: see acts[] in kicker.c. The calls of wrong() check the invariants.
 *
 * run:  SEED LIVES KICKS: runs until so many cells and acts are done, or an invariant is broken.
 *	 Read `result` afterwards.
 * kick: SEED: starts the kicker alone, while the driver manages cells. 0 stops it; then read
 *	 `result`.
 * begin, end: one cell. `end` also forges the block that the cell leaves, and makes a call again.
 *
 * A cell takes all CPUs of `cpus` (indices of qv_mon_boot.cpus). Linux must have set them offline.
 * `block` is the physical address of the front end's block. Cell 1 must be another, running cell;
 * the kicker does not stop it.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <asm/apicdef.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include "abi/create.h"
#include "abi/errors.h"
#include "qvrace.h"

u64 block;
unsigned int cpus[4], num_cpus, meddling_lives = 4;
module_param(block, ullong, 0400);
module_param_array(cpus, uint, &num_cpus, 0400);
module_param(meddling_lives, uint, 0600);
MODULE_PARM_DESC(meddling_lives, "in one of so many lives the kicker manages the cell too");
module_param_array(answers, ullong, NULL, 0400);
MODULE_PARM_DESC(answers, "of the last two calls of `end`");
module_param(damage, uint, 0400);
MODULE_PARM_DESC(damage, "words that `end` found changed where only Linux may write");

struct qv_mon_create *req, *other;
struct page *huge[5], *console;
char __iomem *apic_page;
unsigned long away;
unsigned long complained;
static char complaint[256];

void wrong(const char *fmt, ...)
{
	va_list args;

	if (test_and_set_bit(0, &complained))
		return;
	va_start(args, fmt);
	vscnprintf(complaint, sizeof(complaint), fmt, args);
	va_end(args);
}

u32 rnd(u64 *s, u32 below)
{
	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return (*s >> 33) % below;
}

u64 hypercall(u64 nr, u64 a)
{
	u64 result;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		asm volatile("vmcall" : "=a"(result) : "a"(nr), "D"(a) : "memory");
	else
		asm volatile("vmmcall" : "=a"(result) : "a"(nr), "D"(a) : "memory");
	return result;
}

u64 manage(u64 nr, u64 a)
{
	u64 result;

	while ((result = hypercall(nr, a)) == QV_ME_BUSY)
		cond_resched();
	return result;
}

/* A channel between the cell, which is its end 0, and Linux */
static void channel(struct qv_mon_create *q)
{
	struct qv_mon_channel *c = &q->channels[0];

	strscpy((char *)q->name, "race", sizeof(q->name));
	q->num_channels = 1;
	memset(c, 0, sizeof(*c));
	c->pa[0] = pa(4);
	c->page.type = QV_CHAN_RING;
	c->page.flags = QV_CHAN_RECONNECT;
	c->page.ends = 2;
	c->page.length = 3 * PAGE_SIZE;
	c->page.end[0] = (struct qv_chan_end){
		.offset = PAGE_SIZE, .size = PAGE_SIZE, .name = "race"
	};
	c->page.end[1] = (struct qv_chan_end){
		.offset = 2 * PAGE_SIZE, .size = PAGE_SIZE, .name = "linux"
	};
}

void good(struct qv_mon_create *q, u32 block_page)
{
	u32 i;

	q->num_cpus = num_cpus;
	for (i = 0; i < num_cpus; i++)
		q->cpus[i] = cpus[i];
	q->block_pa = pa(block_page);
	q->console_pa = page_to_phys(console);
	q->num_runs = 2;
	q->runs[0] = (struct qv_mon_run){ pa(1), 1 };
	q->runs[1] = (struct qv_mon_run){ pa(2), 1 };
	q->num_ports = 0;
	q->doorbell_vector = 0x21;
	q->bell_rate = 1000;
	q->entry = (struct qv_mon_entry){ .eip = CODE };
	channel(q);
}

static int run(const char *text, const struct kernel_param *p)
{
	u32 want_lives, want_kicks;
	u64 seed;

	if (sscanf(text, "%llu %u %u", &seed, &want_lives, &want_kicks) != 3)
		return -EINVAL;
	return run_lives(seed, want_lives, want_kicks);
}

static int kick(const char *text, const struct kernel_param *p)
{
	static struct task_struct *t;
	u64 seed;

	if (kstrtou64(text, 10, &seed) || !seed == !t)
		return -EINVAL;
	if (!seed) {
		kthread_stop(t);
		t = NULL;
		look_at_log();
		return 0;
	}
	forget();
	t = kicker_start(seed);
	if (!IS_ERR(t))
		return 0;
	t = NULL;
	return -ENOMEM;
}

static int begin(const char *text, const struct kernel_param *p)
{
	return begin_cell();
}

static int end(const char *text, const struct kernel_param *p)
{
	end_and_forge();
	return 0;
}

static int result(char *text, const struct kernel_param *p)
{
	return scnprintf(text, PAGE_SIZE,
			 "%u lives, %u meddled with, %u refused, %u kicks, %u entries lost; %s\n",
			 lives, meddled, refused, kicks, log_lost,
			 complained ? complaint : "nothing wrong");
}

#define DEED(name) \
	static const struct kernel_param_ops name##_ops = { .set = name }; \
	module_param_cb(name, &name##_ops, NULL, 0200)
DEED(run);
DEED(kick);
DEED(begin);
DEED(end);
static const struct kernel_param_ops result_ops = { .get = result };
module_param_cb(result, &result_ops, NULL, 0400);

/* ---- which CPUs may be kicked ---- */

static int comes(unsigned int cpu)
{
	mutex_lock(&acting);	/* waits for the end of an act before Linux starts the CPU */
	clear_bit(cpu, &away);
	mutex_unlock(&acting);
	return 0;
}

static int went(unsigned int cpu)
{
	set_bit(cpu, &away);
	return 0;
}

static int hotplug;

static void give_back(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(huge); i++)
		if (huge[i])
			__free_pages(huge[i], 9);
	if (console)
		__free_pages(console, 3);
	if (req)
		free_pages_exact(req, sizeof(*req));
	if (other)
		free_pages_exact(other, sizeof(*other));
	if (apic_page)
		iounmap(apic_page);
}

/* Inserts a page so that huge[] stays sorted by address */
static void insert(struct page *page, u32 n)
{
	for (; n && page_to_pfn(huge[n - 1]) > page_to_pfn(page); n--)
		huge[n] = huge[n - 1];
	huge[n] = page;
}

static int take(void)
{
	struct page *page;
	u64 base;
	u32 i;

	req = alloc_pages_exact(sizeof(*req), GFP_KERNEL | __GFP_ZERO);
	other = alloc_pages_exact(sizeof(*other), GFP_KERNEL | __GFP_ZERO);
	console = alloc_pages(GFP_KERNEL | __GFP_ZERO, 3);
	for (i = 0; i < ARRAY_SIZE(huge); i++) {
		page = alloc_pages(GFP_KERNEL | __GFP_ZERO, 9);
		if (!page)
			return -ENOMEM;
		insert(page, i);
	}
	rdmsrl(MSR_IA32_APICBASE, base);
	if (!(base & X2APIC_ENABLE))
		apic_page = ioremap(APIC_DEFAULT_PHYS_BASE, PAGE_SIZE);
	return req && other && console && (apic_page || base & X2APIC_ENABLE) ? 0 : -ENOMEM;
}

static int __init start(void)
{
	u32 cpu, vector;
	int error = block && num_cpus && front_status()->num_cpus <= QV_MAX_CPUS ? take() : -EINVAL;

	if (error) {
		give_back();
		return error;
	}
	for (vector = VECTOR_KICKER; vector <= VECTOR_CHECK; vector++)
		memcpy(phys_to_virt(vector << 12), qvrace_started,
		       qvrace_started_end - qvrace_started);
	cpus_read_lock();
	for_each_present_cpu(cpu)
		if (!cpu_online(cpu))
			set_bit(cpu, &away);
	hotplug = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_BP_PREPARE_DYN, "qvrace", comes, went);
	cpus_read_unlock();
	if (hotplug < 0)
		give_back();
	return min(hotplug, 0);
}

static void __exit stop(void)
{
	cpuhp_remove_state_nocalls(hotplug);
	give_back();
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("For tests of QV: CPUs of a hostile kernel race");
