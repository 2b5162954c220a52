// SPDX-License-Identifier: GPL-2.0-only
/* The result of each exit, for Linux and for a cell: svm/exits.c and the handlers that it names. */
#include <string.h>
#include "abi/calls.h"
#include "abi/log.h"
#include "abi/test_hooks.h"
#include "cell/cell.h"
#include "core/log.h"
#include "fake.h"
#include "svm/svm.h"
#include "unit.h"

#define RIP	0x5000ull
#define UD	(EVENT_VALID | EVENT_EXCEPTION | 6)
#define GP	(EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13)
/* an address in the second half of the monitor's block */
#define HOLE	(FAKE_BLOCK + 0x200000ull)
#define OPEN	(FAKE_BLOCK + 0x4000ull)
#define HIDDEN	(FAKE_BLOCK + 0x20000ull)		/* an address next to the open part */

struct row {
	const char *name;
	u64 code, info1, info2;
	u32 rax, rcx, rdx;
	/* the exit's inputs, then the expected result */
	u64 event;
	u32 skip;
	u32 reason;		/* for cells: the reason of the failure; 0: the cell continues */
	u64 address;
	u32 slot;		/* counter of this exit, an enum qv_exit */
};

static const struct row cell_rows[] = {
	{ "cpuid", EXIT_CPUID, .rax = 7, .skip = 2, .slot = QV_EXIT_CPUID },
	{ "call 0", EXIT_VMMCALL, .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "call: lock, without permission", EXIT_VMMCALL, .rax = QV_CALL_LOCK,
	  .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "call: unlock, without permission", EXIT_VMMCALL, .rax = QV_CALL_UNLOCK,
	  .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "call 3", EXIT_VMMCALL, .rax = QV_CALL_UNLOCK + 1,
	  .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "call ~0", EXIT_VMMCALL, .rax = ~0u, .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "port", EXIT_IOIO, 0x60 << 16 | 1,
	  .reason = QV_FAIL_PORT, .address = 0x60, .slot = QV_EXIT_PORT },
	{ "port 0xffff", EXIT_IOIO, 0xffffull << 16,
	  .reason = QV_FAIL_PORT, .address = 0xffff, .slot = QV_EXIT_PORT },
	{ "triple fault", EXIT_SHUTDOWN,
	  .reason = QV_FAIL_TRIPLE_FAULT, .address = RIP, .slot = QV_EXIT_TRIPLE_FAULT },
	{ "memory read", EXIT_NPF, 4, 0x7f001234,
	  .reason = QV_FAIL_MEMORY, .address = 0x7f001234, .slot = QV_EXIT_MEMORY },
	{ "memory write", EXIT_NPF, 6, 0x123456789abc,
	  .reason = QV_FAIL_MEMORY, .address = 0x123456789abc, .slot = QV_EXIT_MEMORY },
	{ "memory of Linux", EXIT_NPF, 6, 0x900000, .reason = QV_FAIL_MEMORY,
	  .address = 0x900000, .slot = QV_EXIT_MEMORY },
	{ "memory of the monitor", EXIT_NPF, 4, HIDDEN,
	  .reason = QV_FAIL_MEMORY, .address = HIDDEN, .slot = QV_EXIT_MEMORY },
	{ "the xAPIC page in x2APIC mode", EXIT_NPF, 6, 0xfee00300,
	  .reason = QV_FAIL_MEMORY, .address = 0xfee00300, .slot = QV_EXIT_MEMORY },
	{ "invd", EXIT_INVD, .skip = 2, .slot = QV_EXIT_INSTRUCTION },
	{ "wbinvd", EXIT_WBINVD, .skip = 2, .slot = QV_EXIT_INSTRUCTION },
	{ "rdpmc", 0x06f, .reason = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "machine check", 0x052, .reason = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "debug exception", EXIT_DB,
	  .event = EVENT_VALID | EVENT_EXCEPTION | 1, .slot = QV_EXIT_EXCEPTION },
	{ "alignment check", EXIT_AC,
	  .event = EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 17, .slot = QV_EXIT_EXCEPTION },
	{ "an INIT", EXIT_INIT, .slot = QV_EXIT_NMI },
	{ "a call for tests only", EXIT_VMMCALL, .rax = QV_CALL_FAULT,
	  .event = UD, .slot = QV_EXIT_HYPERCALL },
	{ "vmrun", EXIT_VMRUN, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmload", 0x082, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "vmsave", 0x083, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "stgi", 0x084, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "clgi", 0x085, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "skinit", EXIT_SKINIT, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "invlpga", EXIT_INVLPGA, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "an unexpected exit", 0x06e, .reason = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "a failed VMRUN", EXIT_INVALID, .reason = QV_FAIL_EXIT, .slot = QV_EXIT_OTHER },
	{ "rdmsr EFER", EXIT_MSR, 0, .rcx = 0xc0000080, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr EFER.LME", EXIT_MSR, 1, .rcx = 0xc0000080, .rax = 0x100,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr EFER.SVME", EXIT_MSR, 1, .rcx = 0xc0000080, .rax = 0x1000,
	  .reason = QV_FAIL_MSR, .address = 0xc0000080, .slot = QV_EXIT_MSR },
	{ "wrmsr EFER, reserved", EXIT_MSR, 1, .rcx = 0xc0000080, .rdx = 1,
	  .reason = QV_FAIL_MSR, .address = 0xc0000080, .slot = QV_EXIT_MSR },
	{ "wrmsr APIC base", EXIT_MSR, 1, .rcx = 0x1b,
	  .reason = QV_FAIL_MSR, .address = 0x1b, .slot = QV_EXIT_MSR },
	{ "rdmsr of a machine-check bank", EXIT_MSR, 0, .rcx = 0x401,
	  .reason = QV_FAIL_MSR, .address = 0x401, .slot = QV_EXIT_MSR },
	{ "rdmsr MCG_CAP", EXIT_MSR, 0, .rcx = 0x179, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr MTRRdefType", EXIT_MSR, 1, .rcx = 0x2ff, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr of the microcode loader", EXIT_MSR, 1, .rcx = 0xc0010020,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr SYSCFG", EXIT_MSR, 1, .rcx = 0xc0010010,
	  .reason = QV_FAIL_MSR, .address = 0xc0010010, .slot = QV_EXIT_MSR },
	{ "rdmsr of an SMCA bank", EXIT_MSR, 0, .rcx = 0xc0002000,
	  .reason = QV_FAIL_MSR, .address = 0xc0002000, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, fixed", EXIT_MSR, 1, .rcx = 0x832, .rax = 0x200ff,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, NMI", EXIT_MSR, 1, .rcx = 0x836, .rax = 0x400,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, ExtINT but masked", EXIT_MSR, 1, .rcx = 0x835, .rax = 0x10700,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, ExtINT", EXIT_MSR, 1, .rcx = 0x835, .rax = 0x700,
	  .reason = QV_FAIL_MSR, .address = 0x835, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, SMI", EXIT_MSR, 1, .rcx = 0x834, .rax = 0x200,
	  .reason = QV_FAIL_MSR, .address = 0x834, .slot = QV_EXIT_MSR },
	{ "wrmsr LVT, INIT", EXIT_MSR, 1, .rcx = 0x837, .rax = 0x500,
	  .reason = QV_FAIL_MSR, .address = 0x837, .slot = QV_EXIT_MSR },
	{ "rdmsr HSAVE", EXIT_MSR, 0, .rcx = 0xc0010117,
	  .reason = QV_FAIL_MSR, .address = 0xc0010117, .slot = QV_EXIT_MSR },
	{ "wrmsr outside the map", EXIT_MSR, 1, .rcx = 0x40000000,
	  .reason = QV_FAIL_MSR, .address = 0x40000000, .slot = QV_EXIT_MSR },
	{ "wrmsr ICR", EXIT_MSR, 1, .rcx = 0x830, .rax = 0x4031, .rdx = 2,
	  .skip = 2, .slot = QV_EXIT_ICR },
	{ "wrmsr ICR, to a foreign CPU", EXIT_MSR, 1, .rcx = 0x830, .rax = 0x4031, .rdx = 3,
	  .reason = QV_FAIL_IPI, .address = 3ull << 32 | 0x4031, .slot = QV_EXIT_ICR },
};

static const struct row linux_rows[] = {
	{ "vmrun", EXIT_VMRUN, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "stgi", 0x084, .event = UD, .slot = QV_EXIT_INSTRUCTION },
	{ "invd", EXIT_INVD, .skip = 2, .slot = QV_EXIT_INSTRUCTION },
	{ "an unexpected exit", 0x06e, .event = UD, .slot = QV_EXIT_OTHER },
	{ "its own memory", EXIT_NPF, 6, 0x900123, .slot = QV_EXIT_MEMORY },
	{ "memory of a device", EXIT_NPF, 6, 0xfe000123, .slot = QV_EXIT_MEMORY },
	{ "a hole, read", EXIT_NPF, 4, HOLE + 0x5123, .slot = QV_EXIT_MEMORY },
	{ "a hole, written", EXIT_NPF, 6, HOLE + 0x5123, .slot = QV_EXIT_MEMORY },
	{ "next to the open part, read", EXIT_NPF, 4, HIDDEN + 8, .slot = QV_EXIT_MEMORY },
	{ "next to the open part, written", EXIT_NPF, 6, HIDDEN + 8, .slot = QV_EXIT_MEMORY },
	{ "the open part, written", EXIT_NPF, 7, OPEN, .event = GP, .slot = QV_EXIT_MEMORY },
	{ "hypercall: nothing", EXIT_VMMCALL, .rax = QV_HC_NOP,
	  .skip = 3, .slot = QV_EXIT_HYPERCALL },
	{ "hypercall: unknown number", EXIT_VMMCALL, .rax = 0x1234,
	  .skip = 3, .slot = QV_EXIT_HYPERCALL },
	{ "wrmsr EFER", EXIT_MSR, 1, .rcx = 0xc0000080, .rax = 0xd01,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr EFER, reserved", EXIT_MSR, 1, .rcx = 0xc0000080, .rdx = 1,
	  .event = GP, .slot = QV_EXIT_MSR },
	{ "rdmsr HSAVE", EXIT_MSR, 0, .rcx = 0xc0010117, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr HSAVE", EXIT_MSR, 1, .rcx = 0xc0010117, .rax = 0x1000,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr VM_CR", EXIT_MSR, 1, .rcx = 0xc0010114, .rax = 0x10,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr APIC base, unchanged", EXIT_MSR, 1, .rcx = 0x1b, .rax = 0x1b, .rdx = 0x10,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr APIC base, changed", EXIT_MSR, 1, .rcx = 0x1b, .rax = 0x91b,
	  .skip = 2, .slot = QV_EXIT_MSR },
	{ "rdmsr of the microcode loader", EXIT_MSR, 0, .rcx = 0xc0010020,
	  .event = GP, .slot = QV_EXIT_MSR },
	{ "rdmsr of an SMCA bank", EXIT_MSR, 0, .rcx = 0xc0002001, .skip = 2, .slot = QV_EXIT_MSR },
	{ "wrmsr of an SMCA bank", EXIT_MSR, 1, .rcx = 0xc0002001, .skip = 2, .slot = QV_EXIT_MSR },
	{ "an INIT", EXIT_INIT, .slot = QV_EXIT_NMI },
	{ "a fault for tests only", EXIT_VMMCALL, .rax = QV_HC_FAULT,
	  .skip = 3, .slot = QV_EXIT_HYPERCALL },
	{ "rdmsr outside the map", EXIT_MSR, 0, .rcx = 0x40000000, .skip = 2, .slot = QV_EXIT_MSR },
	{ "rdmsr of an MSR that does not exist", EXIT_MSR, 0, .rcx = 0xdead0001,
	  .event = GP, .slot = QV_EXIT_MSR },
	{ "wrmsr of an MSR that does not exist", EXIT_MSR, 1, .rcx = 0xdead0001,
	  .event = GP, .slot = QV_EXIT_MSR },
	{ "wrmsr ICR", EXIT_MSR, 1, .rcx = 0x830, .rax = 0x4031, .rdx = 2,
	  .skip = 2, .slot = QV_EXIT_ICR },
	{ "wrmsr ICR, to a cell's CPU", EXIT_MSR, 1, .rcx = 0x830, .rax = 0x4031, .rdx = 3,
	  .skip = 2, .slot = QV_EXIT_ICR },
};

static struct vmcb *start(const struct row *r, bool assists)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	v->exit_code = r->code;
	v->info1 = r->info1;
	v->info2 = r->info2;
	v->exit_int_info = 0;
	v->rip = RIP;
	v->next_rip = assists ? RIP + r->skip : 0x666;
	v->rsp = 0x7000;
	v->cr0 = 0x11;			/* protected mode, no paging, flat segments */
	v->cpl = 0;
	v->rax = r->rax;
	/* the upper halves of RCX and RDX must be ignored */
	cpu->regs[GPR_RCX] = r->rcx | 0x5500000000ull;
	cpu->regs[GPR_RDX] = r->rdx | 0x6600000000ull;
	cpu->regs[GPR_RDI] = 0;
	return v;
}

static void check_row(const struct row *r, bool cell, bool assists)
{
	struct pcpu *cpu = pcpu_of(0);
	struct qv_mon_status *status = my_status();
	struct vmcb *v = start(r, assists);
	u64 before[QV_EXIT_SLOTS];
	u32 i;

	unit_case("%s, %s, %s assists:", cell ? "cell" : "Linux", r->name,
		  assists ? "with" : "without");
	memcpy(before, cpu->status->exits, sizeof(before));
	svm_exit(cpu);
	for (i = 0; i < QV_EXIT_SLOTS; i++)
		CHECK_EQ(cpu->status->exits[i], before[i] + (i == r->slot));
	if (r->reason) {
		CHECK_EQ(status->state, QV_MON_FAILED);
		CHECK_EQ(status->failure.reason, r->reason);
		CHECK_EQ(status->failure.address, r->address);
		CHECK_EQ(status->failure.rip, RIP);
		CHECK_EQ(status->failure.exit_code, r->code);
		CHECK_EQ(cpu->phase, CPU_STOPPED);
		CHECK_EQ(v->n_cr3, me()->park.root);
		CHECK_EQ(v->event_inj, 0);
		CHECK_EQ(v->rip, 0);		/* the start of the parking code */
		CHECK_EQ(v->cr0 & 1, 0);
		return;
	}
	CHECK_EQ(status->state, QV_MON_RUNNING);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK_EQ(v->event_inj, r->event);
	CHECK_EQ(v->rip, RIP + (r->event ? 0 : r->skip));
	CHECK_EQ(v->n_cr3, me()->nested.root);
}

static void rows_of(const struct row *rows, size_t num, bool cell)
{
	size_t i;

	for (i = 0; i < 2 * num; i++) {
		fake_open(true, i & 1);
		if (cell)
			fake_become_cell();
		check_row(&rows[i / 2], cell, i & 1);
	}
}

static void cells(void)
{
	rows_of(cell_rows, sizeof(cell_rows) / sizeof(cell_rows[0]), true);
}

static void front_end(void)
{
	rows_of(linux_rows, sizeof(linux_rows) / sizeof(linux_rows[0]), false);
}

/*
 * The machine resets, as without a monitor. The CPUs of Linux are not parked, since that would be a
 * silent hang.
 */
static void triple_fault_of_linux(void)
{
	static const struct row r = { .code = EXIT_SHUTDOWN };
	const struct qv_mon_log *log = (void *)(QV_VA_BLOCK + QV_OFF_LOG);
	const struct qv_mon_log_entry *kept = log->entries[QV_MON_LOG_KEPT];

	fake_open(true, true);
	start(&r, true);
	fake_called = "";
	if (!setjmp(fake_back))
		svm_exit(pcpu_of(0));
	CHECK_TEXT(fake_called, "svm_shutdown");
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	CHECK_EQ(pcpu_of(0)->phase, CPU_RUNNING);
	CHECK_EQ(kept[log->head[QV_MON_LOG_KEPT] - 1].what, QV_LOG_SHUTDOWN);
	CHECK_EQ(kept[log->head[QV_MON_LOG_KEPT] - 1].a, RIP);
}

/* Events that a guest can cause at will do not push out failures and management */
static void flood_of_events(void)
{
	const struct qv_mon_log *log = (void *)(QV_VA_BLOCK + QV_OFF_LOG);
	const struct qv_mon_log_entry *kept = log->entries[QV_MON_LOG_KEPT];
	u64 head, i;

	fake_open(true, false);
	log_event(pcpu_of(1), QV_LOG_FAILED, 3, 4);
	head = log->head[QV_MON_LOG_KEPT];
	for (i = 0; i < 3 * QV_MON_LOG_ENTRIES; i++)
		log_event(pcpu_of(0), QV_LOG_INSTRUCTION, i, 0);
	CHECK_EQ(log->head[QV_MON_LOG_KEPT], head);
	CHECK_EQ(kept[head - 1].seq, head);
	CHECK_EQ(kept[head - 1].what, QV_LOG_FAILED);
	CHECK_EQ(kept[head - 1].cpu, pcpu_of(1)->linux_cpu);
	CHECK_EQ(kept[head - 1].a, 3);
	CHECK_EQ(kept[head - 1].b, 4);
	CHECK_EQ(log->head[QV_MON_LOG_OTHER], 3 * QV_MON_LOG_ENTRIES);
	for (i = 0; i < QV_MON_LOG_ENTRIES; i++) {
		CHECK_EQ(log->entries[QV_MON_LOG_OTHER][i].seq, 2 * QV_MON_LOG_ENTRIES + i + 1);
		CHECK_EQ(log->entries[QV_MON_LOG_OTHER][i].a, 2 * QV_MON_LOG_ENTRIES + i);
	}
}

/* ---- memory that Linux does not own ---- */

static u64 seen(u64 gpa)		/* the value that Linux reads there now; 1: not mapped */
{
	u32 level;
	u64 e = *paging_find(&me()->nested, gpa, 1, &level);

	if (!(e & PT_P))
		return 1;
	return *(u64 *)(fake_ram + (e & PT_ADDR & -level_size(level)) + gpa % level_size(level));
}

static void touch(u64 gpa, bool write)
{
	struct row r = { .code = EXIT_NPF, .info1 = write ? 6 : 4, .info2 = gpa };

	start(&r, false);
	svm_exit(pcpu_of(0));
}

static void forbidden_touches(void)
{
	static const u64 places[] = { HOLE + 0x8000, HIDDEN + 0x2000 };
	u32 i, level;

	for (i = 0; i < 2; i++) {
		u64 gpa = places[i], e, secret = 0x5ec7e7;

		fake_open(true, true);
		memcpy(fake_ram + gpa, &secret, 8);
		unit_case("place %u:", i);
		touch(gpa, false);
		CHECK_EQ(seen(gpa), ~0ull);
		CHECK_EQ(pcpu_of(0)->regs[GPR_RAX], 0);
		CHECK_EQ(vmcb_of(pcpu_of(0))->tlb_control, TLB_FLUSH_ALL);
		e = *paging_find(&me()->nested, gpa, 1, &level);
		CHECK_EQ(e & PT_W, 0);			/* the page of ones still holds ones */
		touch(gpa, true);
		e = *paging_find(&me()->nested, gpa, 1, &level);
		CHECK(e & PT_W);
		CHECK(seen(gpa) != secret);
		CHECK_EQ(pcpu_of(0)->status->denied, 2);
		CHECK_EQ(*(u64 *)(fake_ram + gpa), secret);
		CHECK_EQ(vmcb_of(pcpu_of(0))->event_inj, 0);
	}
	CHECK_EQ(seen(OPEN) & 0, 0);
}

/*
 * When a cell is stopped, the state of its boot CPU is kept, without a failure. An earlier failure
 * stays recorded.
 */
static void stop_records(void)
{
	struct row r = { .code = EXIT_NMI };
	struct qv_mon_failure *f;

	fake_open(true, true);
	fake_become_cell();
	f = &my_status()->failure;
	pcpu_of(0)->cmd = CMD_STOP;
	pcpu_of(0)->regs[GPR_RBX] = 0xb0b;
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->state, QV_MON_STOPPED);
	CHECK_EQ(f->reason, QV_FAIL_NONE);
	CHECK_EQ(f->rip, RIP);
	CHECK_EQ(f->regs[GPR_RBX], 0xb0b);
	CHECK_EQ(f->exit_code, EXIT_NMI);
	CHECK_EQ(pcpu_of(0)->phase, CPU_STOPPED);
	fake_open(true, true);
	fake_become_cell();
	cell_fail(pcpu_of(1), QV_FAIL_PORT, 0x64);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	pcpu_of(0)->cmd = CMD_STOP;
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(f->reason, QV_FAIL_PORT);
	CHECK_EQ(f->address, 0x64);
	CHECK_EQ(f->cpu, pcpu_of(1)->linux_cpu);
}

/* Linux samples a CPU of a cell. The inmate continues without a change. */
static void samples(void)
{
	struct row r = { .code = EXIT_NMI };
	struct qv_mon_status *status;
	struct vmcb *v;

	fake_open(true, true);
	fake_become_cell();
	status = my_status();
	v = vmcb_of(pcpu_of(0));
	memset(&status->sample, 0xee, sizeof(status->sample));
	pcpu_of(0)->cmd = CMD_SAMPLE;
	pcpu_of(0)->regs[GPR_RBX] = 0xb0b;
	start(&r, true);
	v->event_inj = 0;
	svm_exit(pcpu_of(0));
	CHECK_EQ(status->samples, 1);
	CHECK_EQ(status->sample.reason, QV_FAIL_NONE);
	CHECK_EQ(status->sample.address, QV_CPU_RUNS);
	CHECK_EQ(status->sample.cpu, pcpu_of(0)->linux_cpu);
	CHECK_EQ(status->sample.rip, RIP);
	CHECK_EQ(status->sample.regs[GPR_RBX], 0xb0b);
	/* unknown fields are zero and have no values of an older sample */
	CHECK(status->sample.bytes[0] != 0xee);
	CHECK_EQ(status->state, QV_MON_RUNNING);
	CHECK_EQ(status->failure.tsc, 0);
	CHECK_EQ(pcpu_of(0)->phase, CPU_RUNNING);
	CHECK_EQ(v->rip, RIP);
	CHECK_EQ(v->event_inj, 0);
	/* a sample together with a stop has the state before the stop */
	pcpu_of(0)->cmd = CMD_SAMPLE | CMD_STOP;
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(status->samples, 2);
	CHECK_EQ(status->sample.address, QV_CPU_RUNS);
	CHECK_EQ(status->state, QV_MON_STOPPED);
	/* a sample is requested after the stop */
	pcpu_of(0)->cmd = CMD_SAMPLE;
	v->exit_code = EXIT_NMI;
	svm_exit(pcpu_of(0));
	CHECK_EQ(status->samples, 3);
	CHECK_EQ(status->sample.address, QV_CPU_STOPPED);
	CHECK_EQ(status->state, QV_MON_STOPPED);
}

/* Time in a call by Linux does not count as time in which the monitor holds the CPU. */
static void own_calls(void)
{
	struct row r = { .code = EXIT_VMMCALL, .rax = QV_HC_NOTE };
	struct qv_mon_cpu_status *s;

	fake_open(true, true);
	s = pcpu_of(0)->status;
	start(&r, true);
	pcpu_of(0)->regs[GPR_RDI] = QV_NOTE_RESTART;
	svm_exit(pcpu_of(0));
	CHECK(s->call_max > 0);
	CHECK(s->held_max < s->call_max);
	CHECK(s->cycles >= s->call_max);
	r = (struct row){ .code = EXIT_INVD };
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK(s->held_max > 0);
}

/* The cell's own calls for lock and unlock are allowed in ring 0 only */
static void lock_calls(void)
{
	struct row r = { .code = EXIT_VMMCALL, .rax = QV_CALL_LOCK, .skip = 3 };

	fake_open(true, true);
	fake_become_cell();
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->locked, 0);		/* without permission */
	me()->req.lock = QV_LOCK_MAY;
	start(&r, true)->cpl = 3;
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->locked, 0);
	CHECK_EQ(vmcb_of(pcpu_of(0))->event_inj, UD);
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->locked, 1);
	CHECK_EQ(vmcb_of(pcpu_of(0))->rax, QV_CALL_LOCK);	/* the call changes no register */
	r.rax = QV_CALL_UNLOCK + 1;
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->locked, 1);
	r.rax = QV_CALL_UNLOCK;
	start(&r, true);
	svm_exit(pcpu_of(0));
	CHECK_EQ(my_status()->locked, 0);
}

UNIT_SUITE(exits) = {
	{ "exits: each exit of a cell has its result", cells },
	{ "exits: each exit of Linux has its result", front_end },
	{ "exits: a triple fault of Linux resets the machine", triple_fault_of_linux },
	{ "exits: a flood of events spares failures in the log", flood_of_events },
	{ "exits: Linux's access to foreign memory reads ones", forbidden_touches },
	{ "exits: a cell locks and unlocks itself", lock_calls },
	{ "exits: a stopped cell keeps its boot CPU's state", stop_records },
	{ "exits: a sample shows a cell's state", samples },
	{ "exits: time in calls of Linux is counted separately", own_calls },
	{ 0 }
};
