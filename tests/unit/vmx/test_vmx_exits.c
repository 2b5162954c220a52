// SPDX-License-Identifier: GPL-2.0-only
/*
 * The result of each exit on VT-x, for Linux and for a cell: vmx/exits.c and the handlers in core.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/log.h"
#include "abi/test_hooks.h"
#include "fake.h"
#include "vmx/fake_vmcs.h"
#include "unit.h"

#define UD	(EVENT_VALID | EVENT_EXCEPTION | 6)
#define GP	(EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13)
#define HOLE	(FAKE_BLOCK + 0x200000ull)
#define OPEN	(FAKE_BLOCK + 0x4000ull)
#define FAILED	(REASON_ENTRY_FAILED | 33)

struct row {
	const char *name;
	u32 reason, vector;	/* the event, if the exit reason is REASON_EVENT */
	u64 qualification, gpa;
	u32 rax, rcx, rdx;
	/* the exit's inputs, then the expected result */
	u64 event;
	u32 skip;		/* length of the instruction as the processor reports it */
	u32 failure;		/* for cells: the reason of the failure; 0: the cell continues */
	u64 address;
	u32 slot;		/* counter of this exit, an enum qv_exit */
};

static const struct row cell_rows[] = {
	{ "cpuid", REASON_CPUID, .rax = 7, .skip = 2, .slot = QV_EXIT_CPUID },
	{ "call 0", REASON_VMCALL, .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "call: lock, without permission", REASON_VMCALL, .rax = QV_CALL_LOCK,
	  .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "a call for tests only", REASON_VMCALL, .rax = QV_CALL_FAULT,
	  .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "in al, 0x60", REASON_PORT, .qualification = 0x60 << 16 | 8,
	  .failure = QV_FAIL_PORT, .address = 0x60, .slot = QV_EXIT_PORT },
	{ "out 0xffff, eax", REASON_PORT, .qualification = 0xffffull << 16 | 3,
	  .failure = QV_FAIL_PORT, .address = 0xffff, .slot = QV_EXIT_PORT },
	{ "rep outsb", REASON_PORT, .qualification = 0x80 << 16 | 0x30,
	  .failure = QV_FAIL_PORT, .address = 0x80, .slot = QV_EXIT_PORT },
	{ "triple fault", REASON_TRIPLE_FAULT,
	  .failure = QV_FAIL_TRIPLE_FAULT, .address = FAKE_RIP, .slot = QV_EXIT_TRIPLE_FAULT },
	{ "memory read", REASON_EPT, .qualification = 1, .gpa = 0x7f001234,
	  .failure = QV_FAIL_MEMORY, .address = 0x7f001234, .slot = QV_EXIT_MEMORY },
	{ "memory write", REASON_EPT, .qualification = 2, .gpa = 0x123456789abc,
	  .failure = QV_FAIL_MEMORY, .address = 0x123456789abc, .slot = QV_EXIT_MEMORY },
	{ "memory executed", REASON_EPT, .qualification = 4, .gpa = QV_INFO_GPA,
	  .failure = QV_FAIL_MEMORY, .address = QV_INFO_GPA, .slot = QV_EXIT_MEMORY },
	{ "memory of the monitor", REASON_EPT, .qualification = 1, .gpa = HOLE,
	  .failure = QV_FAIL_MEMORY, .address = HOLE, .slot = QV_EXIT_MEMORY },
	{ "an EPT misconfiguration", 49, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "invd", REASON_INVD, .skip = 2, .slot = QV_EXIT_INSTRUCTION },
	{ "wbinvd", REASON_WBINVD, .skip = 2, .slot = QV_EXIT_INSTRUCTION },
	{ "rdpmc", 15, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "a task switch", 9, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "machine check", REASON_EVENT, 18, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "debug exception", REASON_EVENT, 1,
	  .event = EVENT_VALID | EVENT_EXCEPTION | 1, .slot = QV_EXIT_EXCEPTION },
	{ "alignment check", REASON_EVENT, 17,
	  .event = EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 17, .slot = QV_EXIT_EXCEPTION },
	{ "an INIT", REASON_INIT, .slot = QV_EXIT_NMI },
	{ "getsec", REASON_GETSEC, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmclear", 19, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmlaunch", 20, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmptrld", 21, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmptrst", 22, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmread", 23, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmresume", 24, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmwrite", 25, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmxoff", 26, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmxon", 27, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "invept", 50, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "invvpid", 53, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "xsaves of unsupported state", 63, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "xrstors of unsupported state", 64, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "an unexpected exit", 12, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "an unknown reason", 0x7fff, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "a rejected entry", FAILED, .failure = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "xsetbv", REASON_XSETBV, .rax = 7, .skip = 3, .slot = QV_EXIT_CR },
	{ "xsetbv of another register", REASON_XSETBV, .rax = 7, .rcx = 1,
	  .event = GP, .slot = QV_EXIT_CR },
	{ "xsetbv without x87", REASON_XSETBV, .rax = 2, .event = GP, .slot = QV_EXIT_CR },
	{ "mov cr4, rax", REASON_CR, .qualification = 4, .rax = 0x2000,
	  .event = GP, .slot = QV_EXIT_CR },
	/* the guest executes the instruction again */
	{ "mov cr0, rax", REASON_CR, .rax = 0x60000011, .slot = QV_EXIT_CR },
	{ "rdmsr, a machine-check bank", REASON_RDMSR, .rcx = 0x401,
	  .failure = QV_FAIL_MSR, .address = 0x401, .slot = QV_EXIT_MSR },
	{ "rdmsr MCG_CAP", REASON_RDMSR, .rcx = 0x179, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr APIC base", REASON_WRMSR, .rcx = 0x1b,
	  .failure = QV_FAIL_MSR, .address = 0x1b, .slot = QV_EXIT_MSR },
	{ "wrmsr MTRRdefType", REASON_WRMSR, .rcx = 0x2ff, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr of the microcode loader", REASON_WRMSR, .rcx = 0x79,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr next to SPEC_CTRL", REASON_WRMSR, .rcx = 0x47, .failure = QV_FAIL_MSR,
	  .address = 0x47, .slot = QV_EXIT_MSR },
	{ "wrmsr RTIT_CTL", REASON_WRMSR, .rcx = 0x570,
	  .failure = QV_FAIL_MSR, .address = 0x570, .slot = QV_EXIT_MSR },
	{ "rdmsr VMX_BASIC", REASON_RDMSR, .rcx = 0x480,
	  .failure = QV_FAIL_MSR, .address = 0x480, .slot = QV_EXIT_MSR },
	{ "wrmsr outside the map", REASON_WRMSR, .rcx = 0x40000000,
	  .failure = QV_FAIL_MSR, .address = 0x40000000, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, fixed", REASON_WRMSR, .rcx = 0x832, .rax = 0x200ff,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, SMI", REASON_WRMSR, .rcx = 0x834, .rax = 0x200,
	  .failure = QV_FAIL_MSR, .address = 0x834, .slot = QV_EXIT_MSR },
	{ "wrmsr ICR", REASON_WRMSR, .rcx = 0x830, .rax = 0x4031, .rdx = 2,
	  .skip = 2, .slot = QV_EXIT_ICR },
	{ "wrmsr ICR, to a foreign CPU", REASON_WRMSR, .rcx = 0x830, .rax = 0x4031, .rdx = 3,
	  .failure = QV_FAIL_IPI, .address = 3ull << 32 | 0x4031, .slot = QV_EXIT_ICR },
};

static const struct row linux_rows[] = {
	{ "cpuid", REASON_CPUID, .rax = 1, .skip = 2, .slot = QV_EXIT_CPUID },
	{ "vmxon", 27, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "invd", REASON_INVD, .skip = 2, .slot = QV_EXIT_INSTRUCTION },
	{ "an unexpected exit", 12, .event = UD, .slot = QV_EXIT_OTHER },
	{ "its own memory", REASON_EPT, .qualification = 2, .gpa = 0x900123,
	  .slot = QV_EXIT_MEMORY },
	{ "memory of a device", REASON_EPT, .qualification = 2, .gpa = 0xfe000123,
	  .slot = QV_EXIT_MEMORY },
	{ "a hole, read", REASON_EPT, .qualification = 1, .gpa = HOLE + 0x5123,
	  .slot = QV_EXIT_MEMORY },
	{ "a hole, written", REASON_EPT, .qualification = 2, .gpa = HOLE + 0x5123,
	  .slot = QV_EXIT_MEMORY },
	{ "a hole, executed", REASON_EPT, .qualification = 4, .gpa = HOLE + 0x5123,
	  .slot = QV_EXIT_MEMORY },
	{ "beyond all addresses", REASON_EPT, .qualification = 1, .gpa = 1ull << 40 | 0x900123,
	  .event = GP, .slot = QV_EXIT_MEMORY },
	{ "beyond the tables, where the remainder is its own", REASON_EPT, .qualification = 1,
	  .gpa = 1ull << 48 | 0x900123, .event = GP, .slot = QV_EXIT_MEMORY },
	{ "beyond the tables, where the remainder is a hole", REASON_EPT, .qualification = 1,
	  .gpa = 1ull << 48 | HOLE, .event = GP, .slot = QV_EXIT_MEMORY },
	{ "the open part, written", REASON_EPT, .qualification = 0x2a, .gpa = OPEN,
	  .event = GP, .slot = QV_EXIT_MEMORY },
	{ "hypercall: nothing", REASON_VMCALL, .rax = QV_HC_NOP,
	  .skip = 3, .slot = QV_EXIT_HYPERCALL },
	{ "hypercall: unknown number", REASON_VMCALL, .rax = 0x1234,
	  .skip = 3, .slot = QV_EXIT_HYPERCALL },
	{ "a fault for tests only", REASON_VMCALL, .rax = QV_HC_FAULT,
	  .skip = 3, .slot = QV_EXIT_HYPERCALL },
	{ "xsetbv", REASON_XSETBV, .rax = 3, .skip = 3, .slot = QV_EXIT_CR },
	{ "mov cr4, rax", REASON_CR, .qualification = 4, .rax = 0x2000,
	  .event = GP, .slot = QV_EXIT_CR },
	{ "mov cr0, rax", REASON_CR, .rax = 0x80050013, .slot = QV_EXIT_CR },
	{ "an INIT", REASON_INIT, .slot = QV_EXIT_NMI },
	{ "wrmsr FEATURE_CONTROL, unchanged", REASON_WRMSR, .rcx = 0x3a, .rax = 0x3a, .rdx = 0x10,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr APIC base, changed", REASON_WRMSR, .rcx = 0x1b, .rax = 0x91b,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "rdmsr of the microcode loader", REASON_RDMSR, .rcx = 0x79,
	  .event = GP, .slot = QV_EXIT_MSR },
	{ "rdmsr outside the map", REASON_RDMSR, .rcx = 0x40000000,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "rdmsr of an MSR that does not exist", REASON_RDMSR, .rcx = 0xdead0001,
	  .event = GP, .slot = QV_EXIT_MSR },
	{ "wrmsr ICR", REASON_WRMSR, .rcx = 0x830, .rax = 0x4031, .rdx = 2,
	  .skip = 2, .slot = QV_EXIT_ICR },
};

static void enter(const struct row *r)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_guest();
	/* the upper halves must be ignored */
	cpu->regs[GPR_RAX] = r->rax | (r->reason == REASON_VMCALL ? 0 : 0x4400000000ull);
	cpu->regs[GPR_RCX] = r->rcx | 0x5500000000ull;
	cpu->regs[GPR_RDX] = r->rdx | 0x6600000000ull;
	cpu->regs[GPR_RDI] = 0;
	if (r->reason == REASON_EVENT)
		fake_event_exit(cpu, r->vector);
	else
		fake_exit(cpu, r->reason, r->qualification, r->gpa, r->skip ? r->skip : 0x666);
}

static void check_row(const struct row *r, bool cell)
{
	struct pcpu *cpu = pcpu_of(0);
	const struct qv_mon_status *status = my_status();
	u64 before[QV_EXIT_SLOTS];
	u32 i;

	unit_case("%s, %s:", cell ? "cell" : "Linux", r->name);
	memcpy(before, cpu->status->exits, sizeof(before));
	enter(r);
	for (i = 0; i < QV_EXIT_SLOTS; i++)
		CHECK_EQ(cpu->status->exits[i], before[i] + (i == r->slot));
	if (r->failure) {
		CHECK_EQ(status->state, QV_MON_FAILED);
		CHECK_EQ(status->failure.reason, r->failure);
		CHECK_EQ(status->failure.address, r->address);
		CHECK_EQ(status->failure.rip, FAKE_RIP);
		CHECK_EQ(status->failure.exit_code, r->reason);
		CHECK_EQ(cpu->phase, CPU_STOPPED);
		CHECK_EQ(fake_get(VMCS_EPT_POINTER) & PT_ADDR, me()->park.root);
		CHECK_EQ(fake_get(ENTRY_EVENT), 0);
		CHECK_EQ(fake_get(GUEST_RIP), 0);	/* the start of the parking code */
		CHECK_EQ(fake_get(GUEST_CR0) & 1, 0);
		return;
	}
	CHECK_EQ(status->state, QV_MON_RUNNING);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK_EQ(fake_get(ENTRY_EVENT), r->event);
	CHECK_EQ(fake_get(GUEST_RIP), FAKE_RIP + (r->event ? 0 : r->skip));
	CHECK_EQ(fake_get(VMCS_EPT_POINTER) & PT_ADDR, me()->nested.root);
}

static void cells(void)
{
	size_t i;

	for (i = 0; i < sizeof(cell_rows) / sizeof(cell_rows[0]); i++) {
		fake_open(true, false);
		fake_become_cell();
		check_row(&cell_rows[i], true);
	}
}

static void front_end(void)
{
	size_t i;

	for (i = 0; i < sizeof(linux_rows) / sizeof(linux_rows[0]); i++) {
		fake_open(true, false);
		check_row(&linux_rows[i], false);
	}
}

/*
 * Host-owned bits of CR0: the guest reads back the value that it wrote, and executes the
 * instruction again.
 */
static void cr0_shadow(void)
{
	static const u64 values[] = { 0x11, 0x31, 0x60000010, 0xe0000011, 0x20000031, 0x80050033 };
	u32 i, reg;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (reg = 0; reg < 16; reg++) {
			struct pcpu *cpu = pcpu_of(0);

			if (reg == GPR_RSP)
				continue;
			fake_open(true, false);
			fake_become_cell();
			fake_guest();
			unit_case("register %u, value %#lx:", reg, values[i]);
			cpu->regs[reg] = values[i];
			fake_exit(cpu, REASON_CR, (u64)reg << 8, 0, 3);
			CHECK_EQ(fake_get(VMCS_CR0_SHADOW), values[i]);
			CHECK_EQ(fake_get(GUEST_RIP), FAKE_RIP);
			CHECK_EQ(fake_get(GUEST_CR0), 0x31);
			CHECK_EQ(fake_get(ENTRY_EVENT), 0);
		}
}

/* CR4.MCE stays set, whatever value a cell reads. No guest has VT-x, user interrupts or FRED. */
static void cr4_shadow(void)
{
	static const struct { u64 value, shadow; u32 event; } rows[] = {
		{ 0x60, 0x40, 0 }, { 0x20, 0, 0 }, { 0x2020, 0, GP },
		{ 1ull << 25 | 0x40, 0, GP }, { 1ull << 32, 0, GP },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_open(true, false);
		fake_become_cell();
		fake_guest();
		unit_case("value %#lx:", rows[i].value);
		pcpu_of(0)->regs[GPR_RBX] = rows[i].value;
		fake_set(VMCS_CR4_SHADOW, 0);
		fake_exit(pcpu_of(0), REASON_CR, (u64)GPR_RBX << 8 | 4, 0, 3);
		CHECK_EQ(fake_get(VMCS_CR4_SHADOW), rows[i].shadow);
		CHECK_EQ(fake_get(ENTRY_EVENT), rows[i].event);
		CHECK_EQ(fake_get(GUEST_RIP), FAKE_RIP);
	}
}

/* A Linux program runs 32-bit code up to 4 GiB. An entry with a longer RIP would be rejected. */
static void rip_wraps(void)
{
	fake_open(true, false);
	fake_guest();
	fake_set(GUEST_CS_RIGHTS, 0xc0fb);
	fake_set(GUEST_RIP, 0xfffffffe);
	fake_exit(pcpu_of(0), REASON_CPUID, 0, 0, 2);
	CHECK_EQ(fake_get(GUEST_RIP), 0);
	fake_guest();
	fake_set(GUEST_CS_RIGHTS, 0xa09b);
	fake_set(GUEST_RIP, 0xfffffffe);
	fake_exit(pcpu_of(0), REASON_CPUID, 0, 0, 2);
	CHECK_EQ(fake_get(GUEST_RIP), 1ull << 32);
}

/* VT-x instructions exit at any privilege level. Programs must not fill the log with them. */
static void no_log_from_programs(void)
{
	const struct qv_mon_log *log = (void *)(QV_VA_BLOCK + QV_OFF_LOG);
	const u64 *now = &log->head[QV_MON_LOG_OTHER];
	u64 head;

	fake_open(true, false);
	fake_guest();
	head = *now;
	fake_set(GUEST_SS_RIGHTS, 0xc0f3);
	fake_exit(pcpu_of(0), REASON_VMXON, 0, 0, 5);
	CHECK_EQ(*now, head);
	CHECK_EQ(fake_get(ENTRY_EVENT), UD);
	fake_guest();
	fake_set(GUEST_SS_RIGHTS, 0xc093);
	fake_exit(pcpu_of(0), REASON_VMXON, 0, 0, 5);
	CHECK_EQ(*now, head + 1);
}

/* A triple fault of Linux resets the machine; a cell stops. */
static void triple_fault_of_linux(void)
{
	const struct qv_mon_log *log = (void *)(QV_VA_BLOCK + QV_OFF_LOG);
	const struct qv_mon_log_entry *kept = log->entries[QV_MON_LOG_KEPT];

	fake_open(true, false);
	fake_guest();
	fake_called = "";
	if (!setjmp(fake_back))
		fake_exit(pcpu_of(0), REASON_TRIPLE_FAULT, 0, 0, 0);
	CHECK_TEXT(fake_called, "vendor_shutdown");
	CHECK_EQ(kept[log->head[QV_MON_LOG_KEPT] - 1].what, QV_LOG_SHUTDOWN);
	CHECK_EQ(kept[log->head[QV_MON_LOG_KEPT] - 1].a, FAKE_RIP);
}

/* The processor rejects a guest state. That CPU stops, and the entry is not tried again. */
static void refused_entry_of_linux(void)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	fake_guest();
	fake_exit(cpu, FAILED, 0, 0, 0);
	CHECK_EQ(cpu->phase, CPU_STOPPED);
	CHECK_EQ(fake_get(VMCS_EPT_POINTER) & PT_ADDR, me()->park.root);
	fake_open(true, false);
	fake_guest();
	vmx_handle(cpu, CODE_ENTRY_FAILED);	/* VMRESUME and VMLAUNCH themselves failed */
	CHECK_EQ(cpu->phase, CPU_STOPPED);
}

/* After the tables change, no old translation remains. */
static void flushes(void)
{
	u32 before;

	fake_open(true, false);
	fake_guest();
	before = fake_vmx.flushes;
	fake_exit(pcpu_of(0), REASON_CPUID, 0, 0, 2);
	CHECK_EQ(fake_vmx.flushes, before);
	fake_exit(pcpu_of(0), REASON_EPT, 1, HOLE + 0x1000, 0);
	CHECK_EQ(fake_vmx.flushes, before + 1);
	CHECK(!pcpu_of(0)->flush);
}

UNIT_SUITE(vmx_exits) = {
	{ "vmx exits: each exit of a cell has its result", cells },
	{ "vmx exits: each exit of Linux has its result", front_end },
	{ "vmx exits: CR0 has host-owned bits", cr0_shadow },
	{ "vmx exits: CR4 has host-owned bits", cr4_shadow },
	{ "vmx exits: RIP wraps outside 64-bit code", rip_wraps },
	{ "vmx exits: programs cause no log entries", no_log_from_programs },
	{ "vmx exits: a triple fault of Linux resets the machine", triple_fault_of_linux },
	{ "vmx exits: rejected entries of Linux stop the CPU", refused_entry_of_linux },
	{ "vmx exits: a change of tables flushes", flushes },
	{ 0 }
};
