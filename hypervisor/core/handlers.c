// SPDX-License-Identifier: GPL-2.0-only
/* Exits that mean the same on both vendors. */
#include "cpu.h"
#include "vendor.h"
#include "x86.h"

void exit_nmi(struct pcpu *cpu)
{
	u32 cmd = take_commands(cpu);

	if (cmd) {
		run_commands(cpu, cmd);		/* may not come back */
		late_commands(cpu);
	} else if (!stray_nmi(cpu) && cpu->phase == CPU_RUNNING) {
		vendor_inject_nmi(cpu);
	}
}

static FRONT_END_ONLY void front_memory(struct pcpu *cpu, u64 gpa, bool write)
{
	bool known = true;

	if (ioapic_page(gpa))
		known = ioapic_access(cpu, gpa, write);
	else if (write && pci_config_page(gpa))
		known = pci_config_store(cpu, gpa);
	else
		front_touch(cpu, gpa, write);
	if (!known)
		vendor_inject_fault(cpu, 13);	/* an instruction we do not know: #GP tells Linux */
}

void exit_memory(struct pcpu *cpu, u64 gpa, bool write)
{
	if (write && (gpa & ~0xfffull) == APIC_PAGE && !me()->boot.x2apic) {
		count_exit(cpu, QV_EXIT_XAPIC);
		if (!xapic_write(cpu, gpa))
			refuse(cpu, QV_FAIL_MEMORY, gpa);
		return;
	}
	count_exit(cpu, QV_EXIT_MEMORY);
	if (is_front_end())
		front_memory(cpu, gpa, write);
	else if (!write || !pci_write(cpu, gpa))
		cell_fail(cpu, QV_FAIL_MEMORY, gpa);
}

/* What a CPU asks for itself holds nobody: it is counted apart */
static void own_time(struct pcpu *cpu)
{
	struct qv_mon_cpu_status *s = cpu_status(cpu);
	u64 took = rdtsc() - cpu->exit_tsc;

	s->cycles += took;
	if (took > s->call_max)
		s->call_max = took;
	cpu->exit_tsc += took;
}

/* QV_FAULT_*: for tests, a fault of the monitor's own, as if it were broken. False: not in a test */
static bool fault(u64 kind, u64 address)
{
	if (!(me()->boot.test_hooks & QV_TEST_FAULTS))
		return false;
	if (kind == QV_FAULT_READ)
		*(volatile u8 *)address;
	if (kind == QV_FAULT_STACK)
		asm volatile("mov %0, %%rsp; push %%rax" : : "r"(address) : "memory");
	asm volatile("ud2");
	return true;
}

static FRONT_END_ONLY void front_hypercall(struct pcpu *cpu)
{
	u64 nr = cpu->regs[GPR_RAX], result;

	if (nr == QV_HC_FAULT)
		fault(cpu->regs[GPR_RDI], cpu->regs[GPR_RSI]);
	result = hypercall(cpu, nr, cpu->regs[GPR_RDI]);
	vendor_skip(cpu, 3);
	cpu->regs[GPR_RAX] = result;
	if (nr == QV_HC_LEAVE && result == QV_ME_OK) {
		log_event(cpu, QV_LOG_LEFT, 0, 0);
		vendor_leave(cpu);
	}
	if (result != QV_ME_BUSY && result != QV_ME_RATE && result > QV_ME_BASE)
		log_event(cpu, QV_LOG_REFUSED, nr, result);
	own_time(cpu);
}

/* QV_CALL_*: false: there is no such call, or not for this cell */
static bool cell_call(struct pcpu *cpu, u32 nr)
{
	if (nr == QV_CALL_FAULT)
		return fault(cpu->regs[GPR_RDI], cpu->regs[GPR_RSI]);
	if (nr - QV_CALL_LOCK > QV_CALL_UNLOCK - QV_CALL_LOCK || me()->req.lock == QV_LOCK_NEVER)
		return false;
	my_status()->locked = nr == QV_CALL_LOCK;
	return true;
}

void exit_hypercall(struct pcpu *cpu)
{
	struct guest_mode mode;

	vendor_mode(cpu, &mode);
	if (!mode.cpl && is_front_end())
		front_hypercall(cpu);
	else if (!mode.cpl && cell_call(cpu, cpu->regs[GPR_RAX]))
		vendor_skip(cpu, 3);
	else
		vendor_inject_fault(cpu, 6);	/* as on a machine without us */
}

/* What a guest's CPUID says differently: register by register, what stays and what comes in */
struct cpuid_rule {
	u64 leaf;				/* SUB(n): that sub-leaf of leaf 7 */
	struct { u32 keep, add; } r[4];		/* eax, ebx, ecx, edx */
	u32 cr4, os;				/* ecx: this bit mirrors that bit of CR4 */
};

#define SUB(n)		((u64)(n) << 32)
#define BIT(n)		(1u << (n))
#define SAME		{ ~0u, 0 }
#define NONE		{ 0, 0 }
#define NOT(bits)	{ ~(bits), 0 }
#define SIGNATURE(at)	{ 0, QV_CPUID_SIGNATURE[at] | QV_CPUID_SIGNATURE[at + 1] << 8 | \
			     QV_CPUID_SIGNATURE[at + 2] << 16 | QV_CPUID_SIGNATURE[at + 3] << 24 }
#define OSXSAVE		BIT(27)
#define OSPKE		BIT(4)

/* AMD APM vol. 3, appendix E; Intel SDM vol. 2, CPUID */
static const struct cpuid_rule cpuid_rules[] = {
	/* Linux's too, where it exits. What mirrors CR4 is the guest's own; no VMX, user interrupts, FRED */
	{ .leaf = 1, .r = { SAME, SAME, NOT(BIT(5) | OSXSAVE), SAME }, .cr4 = CR4_OSXSAVE, .os = OSXSAVE },
	{ .leaf = 7, .r = { SAME, SAME, NOT(OSPKE), NOT(BIT(5)) }, .cr4 = CR4_PKE, .os = OSPKE },
	{ .leaf = 7 | SUB(1), .r = { NOT(BIT(17)), SAME, SAME, SAME } },
#define LINUX_RULES	3

	/* ecx, edx: no debug store, SMX, clock and thermal control, counters' capabilities; a hypervisor is there */
	{ .leaf = 1, .r = { SAME, SAME, { ~(BIT(2) | BIT(4) | BIT(6) | BIT(7) | BIT(8) | BIT(15)), BIT(31) },
			  NOT(BIT(21) | BIT(22) | BIT(29)) } },
	/* eax: the timer runs in every C-state; no other power management */
	{ .leaf = 6, .r = { { BIT(2), 0 }, NONE, NONE, NONE } },
	/* ebx: no SGX, cache monitoring and allocation, MPX, processor trace; ecx: no protection keys, shadow stacks,
	 * TME, key locker, bus lock traps, ENQCMD; edx: no PCONFIG, branch records, branch tracking */
	{ .leaf = 7, .r = { SAME, NOT(BIT(2) | BIT(12) | BIT(14) | BIT(15) | BIT(25)),
			  NOT(BIT(3) | BIT(4) | BIT(7) | BIT(13) | BIT(23) | BIT(24) | BIT(29) | BIT(30) | BIT(31)),
			  NOT(BIT(18) | BIT(19) | BIT(20)) } },
	/* eax: no history reset */
	{ .leaf = 7 | SUB(1), .r = { NOT(BIT(22)), SAME, SAME, SAME } },
	/* All zero: counters; cache monitoring and allocation; SGX; trace; key locker; PCONFIG; branch records */
	{ .leaf = 0x0a }, { .leaf = 0x0f }, { .leaf = 0x10 }, { .leaf = 0x12 }, { .leaf = 0x14 },
	{ .leaf = 0x19 }, { .leaf = 0x1b }, { .leaf = 0x1c },
	{ .leaf = QV_CPUID_BASE, .r = { { 0, QV_CPUID_BASE + 1 }, SIGNATURE(0), SIGNATURE(4), SIGNATURE(8) } },
	{ .leaf = QV_CPUID_BASE + 1, .r = { { 0, QV_INFO_GPA }, { 0, QV_INFO_ABI }, NONE, NONE } },
	/* ecx: no SVM, no instruction-based sampling, no SKINIT */
	{ .leaf = 0x80000001, .r = { SAME, SAME, NOT(BIT(2) | BIT(10) | BIT(12)), SAME } },
	/* ebx: no INVLPGB */
	{ .leaf = 0x80000008, .r = { SAME, NOT(BIT(3)), SAME, SAME } },
	/* SVM */
	{ .leaf = 0x8000000a },
};

/* A cell's; Linux's on VT-x, where it exits whether asked for or not */
void exit_cpuid(struct pcpu *cpu)
{
	static const u8 places[] = { GPR_RAX, GPR_RBX, GPR_RCX, GPR_RDX };
	u32 leaf = cpu->regs[GPR_RAX], sub = cpu->regs[GPR_RCX], r[4], i;
	u32 num = is_front_end() ? LINUX_RULES : sizeof(cpuid_rules) / sizeof(cpuid_rules[0]);
	const struct cpuid_rule *rule = cpuid_rules;
	struct guest_mode mode;

	cpuid(leaf, sub, r);
	vendor_mode(cpu, &mode);
	for (; num--; rule++) {
		if (rule->leaf != (leaf == 7 ? leaf | SUB(sub) : leaf))
			continue;
		for (i = 0; i < 4; i++)
			r[i] = (r[i] & rule->r[i].keep) | rule->r[i].add;
		if (mode.cr4 & rule->cr4)
			r[2] |= rule->os;
	}
	for (i = 0; i < 4; i++)
		cpu->regs[places[i]] = r[i];
	vendor_skip(cpu, 2);
}
