// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a hostile kernel that makes hypercalls. Its parameters:
 *
 * requests (read): tries to create a cell with each flaw of FLAWS, one by one. Prints a line per
 *	flaw: its name, the expected answer, the monitor's answer.
 * call (write NUMBER ARGUMENT): makes any hypercall. `value` is then its answer.
 * again (write TIMES NUMBER ARGUMENT): repeats a hypercall.
 * storm (write N): has the monitor read N requests while another CPU changes them. `value` is then
 *	the number of cells that were created; it must be 0.
 * claim (write NAME END ADDRESS PAGE): creates and starts a cell of that name, with that end of the
 *	channel at ADDRESS, which PAGE (hexadecimal) describes. `value` is the last answer. The cell
 *	is then destroyed.
 * hidden: an address in the memory of a cell, used for flaws.
 * cpu: index of the CPU in requests.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <asm/processor.h>
#include "abi/calls.h"
#include "abi/create.h"
#include "abi/errors.h"

static u64 hidden, value;
static unsigned int cpu = 2;
module_param(hidden, ullong, 0600);
module_param(value, ullong, 0400);
module_param(cpu, uint, 0600);

static struct qv_mon_create *req;
/* the huge pages, in ascending order of addresses; a request uses them as block, then as memory */
static struct page *huge[4], *console;

static u64 hypercall(u64 nr, u64 a)
{
	u64 result;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		asm volatile("vmcall" : "=a"(result) : "a"(nr), "D"(a) : "memory");
	else
		asm volatile("vmmcall" : "=a"(result) : "a"(nr), "D"(a) : "memory");
	return result;
}

static u64 pa(int i)
{
	return page_to_phys(huge[i]);
}

static void good(struct qv_mon_create *q)
{
	memset(q, 0, sizeof(*q));
	q->block_pa = pa(0);
	q->console_pa = page_to_phys(console);
	q->num_cpus = 1;
	q->cpus[0] = cpu;
	q->num_runs = 2;
	q->runs[0] = (struct qv_mon_run){ pa(1), 1 };
	q->runs[1] = (struct qv_mon_run){ pa(2), 1 };
	q->doorbell_vector = 0x21;
	q->bell_rate = 10;
	q->entry.eip = 0x100000;
}

#define M2	(2ull << 20)

/* Name of the flaw, expected answer, change to a good request (q) */
#define FLAWS(X) \
	X(no_cpus, QV_ME_CPUS, q->num_cpus = 0) \
	X(cpus_65, QV_ME_CPUS, q->num_cpus = 65) \
	X(cpus_most, QV_ME_CPUS, q->num_cpus = ~0u) \
	X(cpu_none, QV_ME_CPUS, q->cpus[0] = 64) \
	X(cpu_most, QV_ME_CPUS, q->cpus[0] = ~0u) \
	X(cpu_twice, QV_ME_CPUS, (q->num_cpus = 2, q->cpus[1] = cpu)) \
	X(block_0, QV_ME_BLOCK, q->block_pa = 0) \
	X(block_odd, QV_ME_BLOCK, q->block_pa += 4096) \
	X(block_hidden, QV_ME_BLOCK, q->block_pa = hidden) \
	X(block_apic, QV_ME_BLOCK, q->block_pa = 0xfee00000) \
	X(block_far, QV_ME_BLOCK, q->block_pa = 1ull << 46) \
	X(block_last, QV_ME_BLOCK, q->block_pa = -M2) \
	X(console_0, QV_ME_CONSOLE, q->console_pa = -4096ull) \
	X(console_odd, QV_ME_CONSOLE, q->console_pa += 8) \
	X(console_hidden, QV_ME_CONSOLE, q->console_pa = hidden + 4096) \
	X(console_into_hidden, QV_ME_CONSOLE, q->console_pa = hidden - 4096) \
	X(console_in_block, QV_ME_CONSOLE, q->console_pa = q->block_pa + M2 - 4096 * 8) \
	X(console_apic, QV_ME_CONSOLE, q->console_pa = 0xfee00000) \
	X(no_runs, QV_ME_MEMORY, q->num_runs = 0) \
	X(runs_1025, QV_ME_MEMORY, q->num_runs = 1025) \
	X(runs_most, QV_ME_MEMORY, q->num_runs = ~0u) \
	X(run_0, QV_ME_MEMORY, q->runs[0].pa = 0) \
	X(run_empty, QV_ME_MEMORY, q->runs[1].count = 0) \
	X(run_most, QV_ME_MEMORY, q->runs[1].count = ~0ull) \
	X(run_wraps, QV_ME_MEMORY, q->runs[1].count = 1ull << 43) \
	X(run_to_0, QV_ME_MEMORY, (q->runs[1].pa = -M2, q->runs[1].count = 2)) \
	X(run_odd, QV_ME_MEMORY, q->runs[0].pa += 8) \
	X(run_hidden, QV_ME_MEMORY, (q->num_runs = 1, q->runs[0].pa = hidden)) \
	X(run_through_hidden, QV_ME_MEMORY, \
	  (q->num_runs = 1, q->runs[0] = (struct qv_mon_run){ hidden - M2, 2 })) \
	X(run_apic, QV_ME_MEMORY, q->runs[1].pa = 0xfee00000) \
	X(run_twice, QV_ME_MEMORY, q->runs[1] = q->runs[0]) \
	X(run_descending, QV_ME_MEMORY, (q->runs[0].pa = pa(2), q->runs[1].pa = pa(1))) \
	X(run_is_block, QV_ME_MEMORY, (q->num_runs = 1, q->runs[0].pa = q->block_pa)) \
	X(run_has_console, QV_ME_MEMORY, \
	  (q->num_runs = 1, q->console_pa = pa(1) + 4096 * 9, q->runs[0].pa = pa(1))) \
	X(ports_17, QV_ME_PORTS, q->num_ports = 17) \
	X(ports_most, QV_ME_PORTS, q->num_ports = ~0u) \
	X(port_backwards, QV_ME_PORTS, \
	  (q->num_ports = 1, q->ports[0].first = 0x81, q->ports[0].last = 0x80)) \
	X(doorbell_exception, QV_ME_ENTRY, q->doorbell_vector = 13) \
	X(doorbell_256, QV_ME_ENTRY, q->doorbell_vector = 256) \
	X(bell_rate_0, QV_ME_ENTRY, q->bell_rate = 0) \
	X(bell_rate_1001, QV_ME_ENTRY, q->bell_rate = 1001) \
	X(entry_outside, QV_ME_ENTRY, q->entry.eip = 2 * M2) \
	X(entry_most, QV_ME_ENTRY, q->entry.eip = ~0u) \
	X(info_outside, QV_ME_ENTRY, q->entry.ebx = ~0u)

#define X(name, answer, change) static void flaw_##name(struct qv_mon_create *q) { change; }
FLAWS(X)
#undef X

static const struct flaw {
	const char *name;
	u64 answer;
	void (*make)(struct qv_mon_create *q);
} flaws[] = {
#define X(name, answer, change) { #name, answer, flaw_##name },
	FLAWS(X)
#undef X
};

static int requests(char *text, const struct kernel_param *p)
{
	int len = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(flaws); i++) {
		good(req);
		flaws[i].make(req);
		len += scnprintf(text + len, PAGE_SIZE - len, "%s %#llx %#llx\n", flaws[i].name,
				 flaws[i].answer, hypercall(QV_HC_CREATE, virt_to_phys(req)));
		cond_resched();
	}
	return len;
}

static int call(const char *text, const struct kernel_param *p)
{
	u64 nr, a;

	if (sscanf(text, "%llx %llx", &nr, &a) != 2)
		return -EINVAL;
	if (nr == QV_HC_LEAVE)			/* this hypercall works only as a part of disable */
		return -EPERM;
	value = hypercall(nr, a);
	return 0;
}

static int again(const char *text, const struct kernel_param *p)
{
	u64 times, nr, a;

	if (sscanf(text, "%llu %llx %llx", &times, &nr, &a) != 3)
		return -EINVAL;
	if (nr == QV_HC_LEAVE)
		return -EPERM;
	for (; times; times--) {
		value = hypercall(nr, a);
		cond_resched();
	}
	return 0;
}

static u64 manage(u64 nr, u64 a)
{
	u64 result;

	while ((result = hypercall(nr, a)) == QV_ME_BUSY)
		cond_resched();
	return result;
}

static void end_cell(u64 id)
{
	manage(QV_HC_STOP, id);
	while (manage(QV_HC_RECLAIM, id) == 1)
		cond_resched();
}

static int claim(const char *text, const struct kernel_param *p)
{
	struct qv_mon_channel *c = &req->channels[0];
	int at = 0;
	u64 id, address;

	good(req);
	req->num_runs = 1;	/* the two may lie in either order */
	req->num_channels = 1;
	if (sscanf(text, "%31s %u %llx %n", (char *)req->name, &c->end, &address, &at) != 3 ||
	    hex2bin((u8 *)&c->page, text + at, sizeof(c->page)))
		return -EINVAL;
	c->pa[0] = address;
	value = id = manage(QV_HC_CREATE, virt_to_phys(req));
	if (id >= QV_ME_BASE)
		return 0;
	value = manage(QV_HC_START, id);
	end_cell(id);
	return 0;
}

/* Each value that this writes keeps the request invalid, since its CPU does not exist */
static int change(void *arg)
{
	u64 x = 88172645463325252ull;

	while (!kthread_should_stop()) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		WRITE_ONCE(req->num_cpus, x & 1 ? 1 : x >> 40);
		WRITE_ONCE(req->num_runs, x & 2 ? 1024 : x >> 20);
		WRITE_ONCE(req->num_ports, x & 4 ? 16 : x >> 30);
		WRITE_ONCE(req->runs[x % QV_MON_RUNS].count, x);
		WRITE_ONCE(req->runs[x >> 10 & (QV_MON_RUNS - 1)].pa, x & 8 ? hidden : x);
		WRITE_ONCE(req->block_pa, x & 16 ? hidden : pa(0));
		cond_resched();
	}
	return 0;
}

static int storm(const char *text, const struct kernel_param *p)
{
	struct task_struct *t;
	u32 n, i, other, created = 0;
	u64 result;

	if (kstrtou32(text, 10, &n))
		return -EINVAL;
	good(req);
	memset(req->cpus, 0x40, sizeof(req->cpus));
	/*
	 * The thread needs another CPU: on the caller's CPU it could not run during the hypercall,
	 * and the caller could not stop it
	 */
	other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	t = other < nr_cpu_ids ? kthread_create(change, NULL, "qvcall") : ERR_PTR(-ENODEV);
	if (IS_ERR(t))
		return PTR_ERR(t);
	kthread_bind(t, other);
	wake_up_process(t);
	for (i = 0; i < n; i++) {
		result = hypercall(QV_HC_CREATE, virt_to_phys(req));
		created += result < QV_ME_BASE;
		cond_resched();
	}
	kthread_stop(t);
	value = created;
	return 0;
}

static const struct kernel_param_ops requests_ops = { .get = requests };
static const struct kernel_param_ops call_ops = { .set = call };
static const struct kernel_param_ops again_ops = { .set = again };
static const struct kernel_param_ops storm_ops = { .set = storm };
static const struct kernel_param_ops claim_ops = { .set = claim };
module_param_cb(requests, &requests_ops, NULL, 0400);
module_param_cb(call, &call_ops, NULL, 0200);
module_param_cb(again, &again_ops, NULL, 0200);
module_param_cb(storm, &storm_ops, NULL, 0200);
module_param_cb(claim, &claim_ops, NULL, 0200);
static unsigned long long request;	/* physical address of a request, for `call` */
module_param(request, ullong, 0400);

static void give_back(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(huge); i++)
		if (huge[i])
			__free_pages(huge[i], 9);
	if (console)
		__free_pages(console, 3);
	if (req)
		free_pages_exact(req, sizeof(*req));
}

/* Inserts a page so that huge[] stays sorted by address */
static void insert(struct page *page, int n)
{
	for (; n && page_to_pfn(huge[n - 1]) > page_to_pfn(page); n--)
		huge[n] = huge[n - 1];
	huge[n] = page;
}

static int __init start(void)
{
	struct page *page;
	int i;

	req = alloc_pages_exact(sizeof(*req), GFP_KERNEL | __GFP_ZERO);
	console = alloc_pages(GFP_KERNEL, 3);
	for (i = 0; i < ARRAY_SIZE(huge); i++) {
		page = alloc_pages(GFP_KERNEL, 9);
		if (!page)
			break;
		insert(page, i);
	}
	if (!req || !console || i < ARRAY_SIZE(huge)) {
		give_back();
		return -ENOMEM;
	}
	request = virt_to_phys(req);
	return 0;
}

static void __exit stop(void)
{
	give_back();
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("For tests of QV: hypercalls of a hostile kernel");
