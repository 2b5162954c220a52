// SPDX-License-Identifier: GPL-2.0-only
/* Exits that mean the same on both vendors. */
#include "cpu.h"
#include "vendor.h"
#include "x86.h"

/* An NMI of ours may come after the command it announced was found: not the guest's then */
static bool expected(struct pcpu *cpu)
{
	bool soon = rdtsc() - cpu->stray_tsc < me()->boot.tsc_khz * 1000ull;

	cpu->stray_tsc = 0;
	return soon;
}

/*
 * The processor keeps one NMI pending: was it ours alone? The driver's handler ends as many
 * as are counted here. So one that waits already is one with this.
 */
static FRONT_END_ONLY void in_doubt(struct pcpu *cpu)
{
	if (cpu->nmi_pending)
		return;
	cpu_status(cpu)->nmis_in_doubt++;
	vendor_inject_nmi(cpu);
}

void exit_nmi(struct pcpu *cpu)
{
	u32 cmd = atomic_swap(&cpu->cmd, 0);

	if (cmd) {
		run_commands(cpu, cmd);		/* may not come back */
		if (cmd == CMD_FLUSH && cpu->phase == CPU_RUNNING)
			in_doubt(cpu);		/* only Linux's CPUs get that one */
		late_commands(cpu);
	} else if (!expected(cpu) && cpu->phase == CPU_RUNNING) {
		vendor_inject_nmi(cpu);
	}
}

static FRONT_END_ONLY void front_memory(struct pcpu *cpu, u64 gpa, bool write)
{
	if (!ioapic_page(gpa))
		front_touch(cpu, gpa, write);
	else if (!ioapic_access(cpu, gpa, write))
		vendor_inject_fault(cpu, 13);	/* an instruction we do not know: #GP tells Linux */
}

void exit_memory(struct pcpu *cpu, u64 gpa, bool write)
{
	if (write && (gpa & ~0xfffull) == 0xfee00000 && !me()->boot.x2apic) {
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
	if (result != QV_ME_BUSY && result > QV_ME_BASE)
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

/* What a cell's CPUID says differently: register by register, what stays and what comes in */
struct cpuid_rule {
	u32 leaf;
	struct { u32 keep, add; } r[4];		/* eax, ebx, ecx, edx */
};

#define SAME		{ ~0u, 0 }
#define SIGNATURE(at)	{ 0, QV_CPUID_SIGNATURE[at] | QV_CPUID_SIGNATURE[at + 1] << 8 | \
			     QV_CPUID_SIGNATURE[at + 2] << 16 | QV_CPUID_SIGNATURE[at + 3] << 24 }
#define OSXSAVE		(1u << 27)

static const struct cpuid_rule cpuid_rules[] = {
	/* ecx: no VMX; OSXSAVE is the guest's own, below; a hypervisor is there */
	{ 1,		{ SAME, SAME, { ~(1u << 5 | OSXSAVE), 1u << 31 }, SAME } },
	/* ecx: no protection keys, no shadow stacks: their MSRs are not a cell's */
	{ 7,		{ SAME, SAME, { ~(3u << 3 | 1u << 7), 0 }, SAME } },
	{ QV_CPUID_BASE,	{ { 0, QV_CPUID_BASE + 1 }, SIGNATURE(0), SIGNATURE(4), SIGNATURE(8) } },
	{ QV_CPUID_BASE + 1, { { 0, QV_INFO_GPA }, { 0, QV_INFO_ABI }, { 0, 0 }, { 0, 0 } } },
	/* ecx: no SVM, no instruction-based sampling, no SKINIT */
	{ 0x80000001,	{ SAME, SAME, { ~(1u << 2 | 1u << 10 | 1u << 12), 0 }, SAME } },
	/* ebx: no INVLPGB */
	{ 0x80000008,	{ SAME, { ~(1u << 3), 0 }, SAME, SAME } },
	/* SVM's features */
	{ 0x8000000a,	{ { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } },
};

/* Cells only: Linux's CPUID does not exit */
void exit_cpuid(struct pcpu *cpu)
{
	static const u8 places[] = { GPR_RAX, GPR_RBX, GPR_RCX, GPR_RDX };
	u32 leaf = cpu->regs[GPR_RAX], r[4], i, k;
	struct guest_mode mode;

	cpuid(leaf, cpu->regs[GPR_RCX], r);
	for (k = 0; k < sizeof(cpuid_rules) / sizeof(cpuid_rules[0]); k++)
		if (cpuid_rules[k].leaf == leaf)
			for (i = 0; i < 4; i++)
				r[i] = (r[i] & cpuid_rules[k].r[i].keep) | cpuid_rules[k].r[i].add;
	vendor_mode(cpu, &mode);
	if (leaf == 1 && (mode.cr4 & CR4_OSXSAVE))
		r[2] |= OSXSAVE;
	for (i = 0; i < 4; i++)
		cpu->regs[places[i]] = r[i];
	vendor_skip(cpu, 2);
}
