// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a Linux kernel that attacks the monitor and the cells. A write to a parameter under
 * /sys/module/qvfront/parameters performs an action, and fails with EFAULT if that faults.
 * `value` has the result. (qvtouch has further actions: memory and instructions.)
 */
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <asm/apicdef.h>
#include <asm/asm.h>
#include <asm/msr.h>
#include <asm/processor.h>

#define IOAPIC_BASE	0xFEC00000ul
#define IOAPIC_DATA	0x10
#define FW_CFG_DMA	0x514

static u64 value;
module_param(value, ullong, 0444);
MODULE_PARM_DESC(value, "what the last deed found");

static u64 micros;
module_param(micros, ullong, 0444);
MODULE_PARM_DESC(micros, "how long the last flood was");

static u64 vmcall(u64 nr, u64 a)
{
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		asm volatile("vmcall" : "+a"(nr) : "D"(a), "S"(0ull) : "memory");
	else
		asm volatile("vmmcall" : "+a"(nr) : "D"(a), "S"(0ull) : "memory");
	return nr;
}

/* flood: NUMBER A TIMES: repeats a hypercall; `value` is the number of calls that succeeded */
static int flood(const char *text, const struct kernel_param *p)
{
	ktime_t begin = ktime_get();
	u64 nr, a, times;

	if (sscanf(text, "%llx %llx %llx", &nr, &a, &times) != 3)
		return -EINVAL;
	for (value = 0; times; times--) {
		value += !vmcall(nr, a);
		cond_resched();
	}
	micros = ktime_us_delta(ktime_get(), begin);
	return 0;
}

/* hypercall: NUMBER A B, with any registers but without the driver's lock */
static int hypercall(const char *text, const struct kernel_param *p)
{
	u64 nr, a, b;
	int error = -EFAULT;

	if (sscanf(text, "%llx %llx %llx", &nr, &a, &b) != 3)
		return -EINVAL;
#define CALL(instruction) \
	asm volatile("1: " instruction "\n\txor %[error], %[error]\n2:" _ASM_EXTABLE(1b, 2b) \
		     : [error] "+r"(error), "+a"(nr) : "D"(a), "S"(b) : "memory")
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		CALL("vmcall");
	else
		CALL("vmmcall");
#undef CALL
	value = nr;
	return error;
}

/* wrmsr: MSR VALUE; rdmsr: MSR; on the CPU that writes here */
static int write_msr(const char *text, const struct kernel_param *p)
{
	u64 msr, what;

	if (sscanf(text, "%llx %llx", &msr, &what) != 2)
		return -EINVAL;
	return wrmsrl_safe((u32)msr, what) ? -EFAULT : 0;
}

static int read_msr(const char *text, const struct kernel_param *p)
{
	u64 msr;
	int error = kstrtou64(text, 16, &msr);

	if (error)
		return error;
	return rdmsrl_safe((u32)msr, &value) ? -EFAULT : 0;
}

/* cr0, cr4: flips BITS for a moment; `value` is the value read then */
#define TURN(reg) \
	static int turn_##reg(const char *text, const struct kernel_param *p) \
	{ \
		unsigned long flags, old, bits; \
		int error = kstrtoul(text, 16, &bits); \
		\
		if (error) \
			return error; \
		error = -EFAULT; \
		local_irq_save(flags); \
		asm volatile("mov %%" #reg ", %0" : "=r"(old)); \
		asm volatile("1: mov %[new], %%" #reg "\n\txor %[error], %[error]\n2:" \
			     _ASM_EXTABLE(1b, 2b) \
			     : [error] "+r"(error) : [new] "r"(old ^ bits) : "memory"); \
		asm volatile("mov %%" #reg ", %0" : "=r"(bits)); \
		asm volatile("mov %0, %%" #reg : : "r"(old) : "memory"); \
		local_irq_restore(flags); \
		value = bits; \
		return error; \
	}
TURN(cr0)
TURN(cr4)

/* store: PHYSICAL_ADDRESS VALUE: 32 bits, uncached, to any address */
static int store(const char *text, const struct kernel_param *p)
{
	u64 pa, what;
	void __iomem *page;
	int error = -EFAULT;

	if (sscanf(text, "%llx %llx", &pa, &what) != 2)
		return -EINVAL;
	page = ioremap(pa & PAGE_MASK, PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	asm volatile("1: movl %[what], (%[to])\n\txor %[error], %[error]\n2:" _ASM_EXTABLE(1b, 2b)
		     : [error] "+r"(error)
		     : [to] "r"((char __force *)page + (pa & ~PAGE_MASK)), [what] "r"((u32)what)
		     : "memory");
	iounmap(page);
	return error;
}

/* ioapic: PIN LOW HIGH writes that redirection entry, reads it to `value`, restores the old one */
static int ioapic(const char *text, const struct kernel_param *p)
{
	u32 pin, low, high, old[2];
	char __iomem *page;

	if (sscanf(text, "%x %x %x", &pin, &low, &high) != 3 || pin > 23)
		return -EINVAL;
	page = ioremap(IOAPIC_BASE, PAGE_SIZE);
	if (!page)
		return -ENOMEM;
#define ENTRY(half)	(writel(0x10 + 2 * pin + (half), page), page + IOAPIC_DATA)
	old[0] = readl(ENTRY(0));
	old[1] = readl(ENTRY(1));
	writel(high, ENTRY(1));
	writel(low, ENTRY(0));
	value = readl(ENTRY(0)) | (u64)readl(ENTRY(1)) << 32;
	writel(old[0], ENTRY(0));
	writel(old[1], ENTRY(1));
#undef ENTRY
	iounmap(page);
	return 0;
}

/* out: PORT SIZE VALUE; in: PORT SIZE; SIZE in bytes */
static int port_out(const char *text, const struct kernel_param *p)
{
	u32 port, size, what;

	if (sscanf(text, "%x %x %x", &port, &size, &what) != 3)
		return -EINVAL;
	if (size == 1)
		outb(what, port);
	else if (size == 2)
		outw(what, port);
	else
		outl(what, port);
	return 0;
}

static int port_in(const char *text, const struct kernel_param *p)
{
	u32 port, size;

	if (sscanf(text, "%x %x", &port, &size) != 2)
		return -EINVAL;
	value = size == 1 ? inb(port) : size == 2 ? inw(port) : inl(port);
	return 0;
}

/* outs: PORT VALUE: two bytes by OUTSW */
static int port_outs(const char *text, const struct kernel_param *p)
{
	u32 port, what;
	u16 word;
	const u16 *from = &word;
	int error = -EFAULT;

	if (sscanf(text, "%x %x", &port, &what) != 2)
		return -EINVAL;
	word = what;
	asm volatile("1: outsw\n\txor %[error], %[error]\n2:" _ASM_EXTABLE(1b, 2b)
		     : [error] "+r"(error), "+S"(from) : "d"((u16)port), "m"(word));
	return error;
}

/*
 * fwcfg: PHYSICAL_ADDRESS: QEMU's board writes its signature there by DMA, which no page table
 * filters. `value` is the control word afterwards; 0: the DMA was done
 */
static int fwcfg(const char *text, const struct kernel_param *p)
{
	struct { __be32 control, length; __be64 address; } *dma;
	u64 at, pa;
	int error = kstrtou64(text, 16, &pa);

	if (error)
		return error;
	dma = kzalloc(sizeof(*dma), GFP_KERNEL);
	if (!dma)
		return -ENOMEM;
	dma->control = cpu_to_be32(8 | 2);	/* the DMA selects item 0 and reads it */
	dma->length = cpu_to_be32(4);
	dma->address = cpu_to_be64(pa);
	wmb();
	at = virt_to_phys(dma);
	outl(swab32(at >> 32), FW_CFG_DMA);
	outl(swab32(at), FW_CFG_DMA + 4);
	value = be32_to_cpu(READ_ONCE(dma->control));
	kfree(dma);
	return 0;
}

/* load: PHYSICAL_ADDRESS: 32 bits, uncached, to `value` */
static int load(const char *text, const struct kernel_param *p)
{
	u64 pa;
	void __iomem *page;
	int error = kstrtou64(text, 16, &pa);

	page = error ? NULL : ioremap(pa & PAGE_MASK, PAGE_SIZE);
	if (!page)
		return error ?: -ENOMEM;
	value = readl(page + (pa & ~PAGE_MASK));
	iounmap(page);
	return 0;
}

/* The unit of QEMU's VT-d, with a queue of 256 requests */
#define VTD		0xfed90000ul
#define VTD_IQT		0x88
#define VTD_IQA		0x90
#define VTD_IRTA	0xb8
#define RING		4096u
#define FLUSH		(2 | 1 << 4)	/* a request that changes nothing */

static void __iomem *vtd;

/* A table that Linux has given the unit */
static u64 *vtd_table(u32 reg)
{
	u64 pa = readl(vtd + reg) | (u64)readl(vtd + reg + 4) << 32;

	return phys_to_virt(pa & PAGE_MASK);
}

/*
 * Submits a request, and as many others as Linux's queue has places: so the tail is where Linux
 * expects it. No other CPU uses the queue meanwhile.
 */
static int vtd_submit(void *request)
{
	u32 tail = readl(vtd + VTD_IQT), at = tail, i;
	u64 *ring = vtd_table(VTD_IQA);

	for (i = 0; i < RING / 16; i++, at = (at + 16) % RING) {
		ring[at / 8] = i ? FLUSH : ((u64 *)request)[0];
		ring[at / 8 + 1] = i ? 0 : ((u64 *)request)[1];
	}
	wmb();
	writel((tail + RING / 2) % RING, vtd + VTD_IQT);
	writel(tail, vtd + VTD_IQT);
	return 0;
}

/* request: LOW HIGH: a request to the IOMMU in Linux's own queue */
static int request(const char *text, const struct kernel_param *p)
{
	u64 halves[2];
	int error;

	if (sscanf(text, "%llx %llx", &halves[0], &halves[1]) != 2)
		return -EINVAL;
	vtd = ioremap(VTD, PAGE_SIZE);
	if (!vtd)
		return -ENOMEM;
	error = stop_machine(vtd_submit, halves, NULL);
	iounmap(vtd);
	return error;
}

/* irte: INDEX LOW HIGH: writes an entry of Linux's table of interrupts. It is not announced */
static int irte(const char *text, const struct kernel_param *p)
{
	u64 index, low, high, *entry;

	if (sscanf(text, "%llx %llx %llx", &index, &low, &high) != 3)
		return -EINVAL;
	vtd = ioremap(VTD, PAGE_SIZE);
	if (!vtd)
		return -ENOMEM;
	entry = vtd_table(VTD_IRTA) + 2 * index;
	WRITE_ONCE(entry[1], high);
	WRITE_ONCE(entry[0], low);
	iounmap(vtd);
	return 0;
}

#define DEED(name, function) \
	static const struct kernel_param_ops name##_ops = { .set = function }; \
	module_param_cb(name, &name##_ops, NULL, 0200)
DEED(hypercall, hypercall);
DEED(flood, flood);
DEED(wrmsr, write_msr);
DEED(rdmsr, read_msr);
DEED(cr0, turn_cr0);
DEED(cr4, turn_cr4);
DEED(store, store);
DEED(ioapic, ioapic);
DEED(out, port_out);
DEED(in, port_in);
DEED(outs, port_outs);
DEED(fwcfg, fwcfg);
DEED(load, load);
DEED(request, request);
DEED(irte, irte);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("For tests of QV: a hostile front end");
