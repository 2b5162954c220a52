// SPDX-License-Identifier: GPL-2.0-only
/* Exits that mean the same on both vendors. */
#include "cpu.h"
#include "vendor.h"

/* An NMI of ours may come after the command it announced was found: not the guest's then */
static bool expected(struct pcpu *cpu)
{
	bool soon = rdtsc() - cpu->stray_tsc < me()->boot.tsc_khz * 1000ull;

	cpu->stray_tsc = 0;
	return soon;
}

void exit_nmi(struct pcpu *cpu)
{
	u32 cmd = atomic_swap(&cpu->cmd, 0);

	if (cmd) {
		run_commands(cpu, cmd);		/* may not come back */
		late_commands(cpu);
	} else if (!expected(cpu) && cpu->phase == CPU_RUNNING) {
		vendor_inject_nmi(cpu);
	}
}

void exit_memory(struct pcpu *cpu, u64 gpa, bool write)
{
	if (write && (gpa & ~0xfffull) == 0xfee00000 && !me()->boot.x2apic) {
		cpu_status(cpu)->exits[QV_EXIT_XAPIC]++;
		if (xapic_write(cpu, gpa))
			return;
		if (is_front_end()) {		/* an instruction we do not know: #GP tells Linux */
			vendor_inject_fault(cpu, 13);
			return;
		}
	} else {
		cpu_status(cpu)->exits[QV_EXIT_MEMORY]++;
	}
	if (is_front_end())
		front_touch(cpu, gpa, write);
	else
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

static FRONT_END_ONLY void front_hypercall(struct pcpu *cpu)
{
	u64 nr = cpu->regs[GPR_RAX], result = hypercall(cpu, nr, cpu->regs[GPR_RDI]);

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

/* QV_CALL_*: false: there is no such call */
static bool cell_call(u32 nr)
{
	if (nr - QV_CALL_LOCK > QV_CALL_UNLOCK - QV_CALL_LOCK)
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
	else if (!mode.cpl && cell_call(cpu->regs[GPR_RAX]))
		vendor_skip(cpu, 3);
	else
		vendor_inject_fault(cpu, 6);	/* as on a machine without us */
}

#define CPUID_1_OSXSAVE		(1u << 27)
#define CPUID_1_HYPERVISOR	(1u << 31)
#define CPUID_1_VMX		(1u << 5)
#define CPUID_7_PKU		(3u << 3)
#define CPUID_81_SVM		(1u << 2)
#define CPUID_88_INVLPGB	(1u << 3)
#define CR4_OSXSAVE		(1u << 18)

/* Cells only: Linux's CPUID does not exit */
void exit_cpuid(struct pcpu *cpu)
{
	static const char signature[12] = QV_CPUID_SIGNATURE;
	u32 leaf = cpu->regs[GPR_RAX], r[4];
	struct guest_mode mode;

	vendor_mode(cpu, &mode);
	cpuid(leaf, cpu->regs[GPR_RCX], r);
	switch (leaf) {
	case 1:
		r[2] = (r[2] & ~CPUID_1_OSXSAVE) | CPUID_1_HYPERVISOR |
			(mode.cr4 & CR4_OSXSAVE ? CPUID_1_OSXSAVE : 0);
		r[2] &= ~CPUID_1_VMX;
		break;
	case 0x80000001:
		r[2] &= ~CPUID_81_SVM;
		break;
	case 7:
		r[2] &= ~CPUID_7_PKU;
		break;
	case 0x80000008:
		r[1] &= ~CPUID_88_INVLPGB;
		break;
	case 0x8000000a:
		memset(r, 0, sizeof(r));
		break;
	case QV_CPUID_BASE:
		r[0] = QV_CPUID_BASE + 1;
		memcpy(&r[1], signature, sizeof(signature));
		break;
	case QV_CPUID_BASE + 1:
		r[0] = QV_INFO_GPA;
		r[1] = QV_INFO_ABI;
		r[2] = r[3] = 0;
		break;
	}
	cpu->regs[GPR_RAX] = r[0];
	cpu->regs[GPR_RBX] = r[1];
	cpu->regs[GPR_RCX] = r[2];
	cpu->regs[GPR_RDX] = r[3];
	vendor_skip(cpu, 2);
}

#define XCR0_X87	(1u << 0)
#define XCR0_SSE	(1u << 1)
#define XCR0_AVX	(1u << 2)
#define XCR0_AVX512	(7u << 5)

/* Cells only: what would fault here must fault there */
void exit_xsetbv(struct pcpu *cpu)
{
	u64 value = cpu->regs[GPR_RDX] << 32 | (u32)cpu->regs[GPR_RAX];
	u32 r[4], wide = value & XCR0_AVX512;
	struct guest_mode mode;
	bool fine;

	cpuid(0xd, 0, r);
	vendor_mode(cpu, &mode);
	fine = !mode.cpl && (u32)cpu->regs[GPR_RCX] == 0 && (value & XCR0_X87) &&
	       !(value & ~((u64)r[3] << 32 | r[0])) &&
	       !(value & ~(u64)(XCR0_X87 | XCR0_SSE | XCR0_AVX | XCR0_AVX512)) &&
	       !((value & XCR0_AVX) && !(value & XCR0_SSE)) &&
	       (!wide || (wide == XCR0_AVX512 && (value & XCR0_AVX)));
	if (!fine) {
		vendor_inject_fault(cpu, 13);
		return;
	}
	asm volatile("xsetbv" : : "c"(0), "a"((u32)value), "d"((u32)(value >> 32)));
	vendor_skip(cpu, 3);
}
