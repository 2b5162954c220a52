// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a Linux kernel that accesses resources that it does not own. Each parameter under
 * /sys/module/qvtouch/parameters is an action, which a write (or a read) of the parameter starts.
 * An action that faults returns EFAULT.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/apicdef.h>
#include <asm/asm.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#define HUGE		(2ul << 20)
/* length of the open part of an instance, which Linux may read */
#define OPEN_PART	(64ul << 10)
#define IOAPIC_BASE	0xFEC00000ul
#define IOAPIC_DATA	0x10
#define X2APIC_ENABLED	(1u << 10)
#define NMI		0x4400u		/* ICR */
#define NMI_PATIENCE_US	1000000

static u64 value;
module_param(value, ullong, 0444);
MODULE_PARM_DESC(value, "the value that peek or ioapic read");

static int load(u64 *from, u64 *to)
{
	int error = -EFAULT;

	asm volatile("1: mov (%[from]), %[to]\n\txor %[error], %[error]\n2:" _ASM_EXTABLE(1b, 2b)
		     : [to] "=&r"(*to), [error] "+r"(error) : [from] "r"(from) : "memory");
	return error;
}

static int store(u64 *to, u64 what)
{
	int error = -EFAULT;

	asm volatile("1: mov %[what], (%[to])\n\txor %[error], %[error]\n2:" _ASM_EXTABLE(1b, 2b)
		     : [error] "+r"(error) : [to] "r"(to), [what] "r"(what) : "memory");
	return error;
}

/* peek: PHYSICAL_ADDRESS: reads 8 bytes there to `value` */
static int peek(const char *text, const struct kernel_param *p)
{
	u64 pa;
	int error = kstrtou64(text, 16, &pa);

	return error ? error : load(phys_to_virt(pa), &value);
}

/* fill: PHYSICAL_ADDRESS LENGTH VALUE: fills this memory with the 8-byte value */
static int fill(const char *text, const struct kernel_param *p)
{
	u64 pa, len, what, at;
	int error = 0;

	if (sscanf(text, "%llx %llx %llx", &pa, &len, &what) != 3)
		return -EINVAL;
	for (at = pa; at < pa + len && !error; at += sizeof(what))
		error = store(phys_to_virt(at), what);
	return error;
}

static bool is_ones(u64 pa)
{
	u64 at, found;

	for (at = pa + OPEN_PART; at < pa + HUGE; at += PAGE_SIZE + 8)
		if (load(phys_to_virt(at), &found) || found != ~0ull)
			return false;
	return true;
}

struct list {
	char *text;
	int len;
};

static int look(struct resource *ram, void *arg)
{
	struct list *l = arg;
	u64 pa;

	for (pa = ALIGN(ram->start, HUGE); pa + HUGE - 1 <= ram->end; pa += HUGE) {
		if (is_ones(pa))
			l->len += scnprintf(l->text + l->len, PAGE_SIZE - l->len, "%llx\n", pa);
		cond_resched();
	}
	return 0;
}

/* ones: lists the 2 MiB pages of RAM whose bytes above the open part all read as ones */
static int ones(char *text, const struct kernel_param *p)
{
	struct list l = { .text = text };

	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1, &l,
			    look);
	return l.len;
}

static int find_here(struct resource *ram, void *arg)
{
	u64 pa, found;

	for (pa = ALIGN(ram->start, HUGE); pa + HUGE - 1 <= ram->end; pa += HUGE)
		if (!load(phys_to_virt(pa), &found) && found == *(u64 *)arg) {
			value = pa;
			return 1;
		}
	return 0;
}

/* find: WORD: `value` is the first 2 MiB page of RAM that begins with these 8 bytes, or 0 */
static int find(const char *text, const struct kernel_param *p)
{
	u64 word;
	int error = kstrtou64(text, 16, &word);

	if (error)
		return error;
	value = 0;
	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1, &word,
			    find_here);
	return 0;
}

static int send(u32 dest, u32 low)
{
	unsigned long flags;
	void __iomem *apic;
	u64 base;

	rdmsrl(MSR_IA32_APICBASE, base);
	if (base & X2APIC_ENABLED)
		return wrmsrl_safe(0x830, (u64)dest << 32 | low) ? -EFAULT : 0;
	apic = ioremap(APIC_DEFAULT_PHYS_BASE, PAGE_SIZE);
	if (!apic)
		return -ENOMEM;
	local_irq_save(flags);
	writel(dest << 24, apic + APIC_ICR2);
	writel(low, apic + APIC_ICR);
	local_irq_restore(flags);
	iounmap(apic);
	return 0;
}

/* icr: DESTINATION LOW_HALF: sends an interrupt, bypassing all checks of Linux */
static int icr(const char *text, const struct kernel_param *p)
{
	u32 dest, low;

	if (sscanf(text, "%x %x", &dest, &low) != 2)
		return -EINVAL;
	return send(dest, low);
}

static u32 seen;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (type != NMI_LOCAL)
		return NMI_DONE;
	__atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
	return NMI_HANDLED;
}

static int send_nmis(u32 dest, u32 count)
{
	u32 i, us;
	int error;

	for (i = 0; i < count; i++) {
		u32 before = READ_ONCE(seen);

		error = send(dest, NMI);
		for (us = 0; !error && READ_ONCE(seen) == before; us++) {
			if (us == NMI_PATIENCE_US)
				error = -ETIMEDOUT;
			udelay(1);
		}
		if (error)
			return error;
		udelay(i * 7 % 13);	/* so that it comes at different points of the code there */
		cond_resched();
	}
	return 0;
}

struct storm {
	u32 dest, count;
	char __iomem *apic;	/* NULL in x2APIC mode */
};

/* Runs on each CPU but the destination, which gets more NMIs than it can handle */
static void send_storm(void *arg)
{
	const struct storm *s = arg;
	u32 i;

	if (per_cpu(x86_cpu_to_apicid, smp_processor_id()) == s->dest)
		return;
	for (i = 0; i < s->count; i++) {
		if (s->apic) {
			writel(s->dest << 24, s->apic + APIC_ICR2);
			writel(NMI, s->apic + APIC_ICR);
		} else {
			wrmsrl(0x830, (u64)s->dest << 32 | NMI);
		}
	}
}

static int storm_nmis(u32 dest, u32 count)
{
	struct storm s = { .dest = dest, .count = count };
	u64 base;

	rdmsrl(MSR_IA32_APICBASE, base);
	if (!(base & X2APIC_ENABLED)) {
		s.apic = ioremap(APIC_DEFAULT_PHYS_BASE, PAGE_SIZE);
		if (!s.apic)
			return -ENOMEM;
	}
	on_each_cpu(send_storm, &s, 1);
	if (s.apic)
		iounmap(s.apic);
	return 0;
}

/*
 * nmis: DESTINATION COUNT [STORM]: sends NMIs to a CPU, each after Linux has handled the one
 * before. Before that, each other CPU sends STORM more that wait for nothing.
 */
static int nmis(const char *text, const struct kernel_param *p)
{
	u32 dest, count, storm = 0;
	int error;

	if (sscanf(text, "%x %u %u", &dest, &count, &storm) < 2)
		return -EINVAL;
	error = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "qvtouch");
	if (error)
		return error;
	error = storm_nmis(dest, storm);
	if (!error)
		error = send_nmis(dest, count);
	unregister_nmi_handler(NMI_LOCAL, "qvtouch");
	return error;
}

/* ldr: NAME: gives this CPU, which is in xAPIC mode, another logical id */
static int ldr(const char *text, const struct kernel_param *p)
{
	void __iomem *apic;
	u32 name;

	if (sscanf(text, "%x", &name) != 1)
		return -EINVAL;
	apic = ioremap(APIC_DEFAULT_PHYS_BASE, PAGE_SIZE);
	if (!apic)
		return -ENOMEM;
	writel(name << 24, apic + APIC_LDR);
	iounmap(apic);
	return 0;
}

/* Hypervisor instructions and INVD. A register operand is 0, a memory operand is `zeros`. */
static u64 zeros[2];

#define INSTRUCTIONS(X) \
	X(vmrun, "vmrun") X(vmload, "vmload") X(vmsave, "vmsave") X(stgi, "stgi") X(clgi, "clgi") \
	X(invlpga, "invlpga") \
	X(skinit, "skinit %%eax") \
	X(vmxon, "vmxon %[zeros]") X(vmclear, "vmclear %[zeros]") X(vmptrld, "vmptrld %[zeros]") \
	X(vmptrst, "vmptrst %[zeros]") \
	X(vmread, "vmread %%rax, %%rax") X(vmwrite, "vmwrite %%rax, %%rax") \
	X(vmlaunch, "vmlaunch") X(vmresume, "vmresume") \
	X(vmxoff, "vmxoff") X(invept, "invept %[zeros], %%rax") \
	X(invvpid, "invvpid %[zeros], %%rax") \
	X(vmfunc, ".byte 0x0f, 0x01, 0xd4") X(getsec, ".byte 0x0f, 0x37") \
	X(invd, "invd")

#define X(name, code) \
	static int do_##name(void) \
	{ \
		int error = -EFAULT; \
		u64 rax = 0; \
		\
		asm volatile("1: " code "\n\txor %[error], %[error]\n2:" _ASM_EXTABLE(1b, 2b) \
			     : [error] "+r"(error), "+a"(rax), [zeros] "+m"(zeros) \
			     : "c"(0), "b"(0) : "memory", "cc"); \
		return error; \
	}
INSTRUCTIONS(X)
#undef X

static const struct {
	const char *name;
	int (*run)(void);
} instructions[] = {
#define X(name, code) { #name, do_##name },
	INSTRUCTIONS(X)
#undef X
};

static int instruction(const char *text, const struct kernel_param *p)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(instructions); i++)
		if (sysfs_streq(text, instructions[i].name))
			return instructions[i].run();
	return -EINVAL;
}

/*
 * Waits by the clock. mdelay() would add up thousands of short waits, and each gets longer if an
 * emulator does not run this CPU's thread. With it, 12 s became 25 s, and Linux reported a stall.
 */
static void wait_deaf(void *ms)
{
	ktime_t until = ktime_add_ms(ktime_get(), (unsigned long)ms);

	while (ktime_before(ktime_get(), until))
		cpu_relax();
}

/* deaf: CPU MS: keeps interrupts off on a CPU for some milliseconds */
static int deaf(const char *text, const struct kernel_param *p)
{
	unsigned int cpu, ms;

	if (sscanf(text, "%u %u", &cpu, &ms) != 2)
		return -EINVAL;
	return smp_call_function_single(cpu, wait_deaf, (void *)(unsigned long)ms, 0);
}

/* ioapic: INDEX [VALUE]: writes the index and data registers, then reads the data into `value` */
static int ioapic(const char *text, const struct kernel_param *p)
{
	u32 index, what;
	int numbers = sscanf(text, "%x %x", &index, &what);
	char __iomem *page = ioremap(IOAPIC_BASE, PAGE_SIZE);

	if (!page)
		return -ENOMEM;
	if (numbers > 0)
		writel(index, page);
	if (numbers > 1)
		writel(what, page + IOAPIC_DATA);
	value = readl(page + IOAPIC_DATA);
	iounmap(page);
	return 0;
}

static int refuse_online(unsigned int cpu)
{
	return -EBUSY;
}

/* offline: 1: no CPU comes online; 0: each may again */
static int offline(const char *text, const struct kernel_param *p)
{
	static int state;
	bool refuse;
	int error = kstrtobool(text, &refuse);

	if (error || refuse == (state > 0))
		return error;
	if (!refuse) {
		cpuhp_remove_state_nocalls(state);
		state = 0;
		return 0;
	}
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "qvtouch:offline", refuse_online,
					  NULL);
	return state < 0 ? state : 0;
}

#define DEED(name) \
	static const struct kernel_param_ops name##_ops = { .set = name }; \
	module_param_cb(name, &name##_ops, NULL, 0200)
DEED(peek);
DEED(fill);
DEED(icr);
DEED(nmis);
DEED(ldr);
DEED(instruction);
DEED(deaf);
DEED(ioapic);
DEED(offline);
static const struct kernel_param_ops ones_ops = { .get = ones };
static const struct kernel_param_ops find_ops = { .set = find };
module_param_cb(ones, &ones_ops, NULL, 0400);
module_param_cb(find, &find_ops, NULL, 0200);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("For tests of QV: touches what is not Linux's");
