// SPDX-License-Identifier: GPL-2.0-only
/* Events in delivery at an exit, on VT-x: SDM vol. 3, 28.2.4, 27.6, 26.7. */
#include "fake.h"
#include "vmx/fake_vmcs.h"
#include "core/dispatch.h"
#include "core/kick.h"
#include "unit.h"

#define NMI	(EVENT_VALID | EVENT_NMI | 2)

/* An exit for CPUID while @event was being delivered */
static void exit_in(u32 event, u32 error, u32 reason, u64 qualification)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_set(EXIT_REASON, reason);
	fake_set(EXIT_QUALIFICATION, qualification);
	fake_set(EXIT_GUEST_PHYSICAL, 0x900000);
	fake_set(EXIT_LENGTH, 2);
	fake_set(IDT_EVENT, event);
	fake_set(IDT_ERROR, error);
	fake_set(ENTRY_EVENT, 0);
	vmx_exit(cpu);
}

static void delivered_again(void)
{
	static const struct { u32 event, again; } rows[] = {
		{ 0, 0 },
		{ 0x30, 0 },						/* not valid */
		{ EVENT_VALID | 0x30, EVENT_VALID | 0x30 },		/* an interrupt */
		{ NMI, NMI },
		{ EVENT_VALID | 3 << 8 | 6, EVENT_VALID | 3 << 8 | 6 },
		{ EVENT_VALID | 3 << 8 | 1 << 11 | 14, EVENT_VALID | 3 << 8 | 1 << 11 | 14 },
		/* bit 12 has another meaning at an entry */
		{ EVENT_VALID | 3 << 8 | 1 << 12 | 14, EVENT_VALID | 3 << 8 | 14 },
		{ EVENT_VALID | 4 << 8 | 0x80, 0 },			/* INT n */
		{ EVENT_VALID | 5 << 8 | 1, 0 },			/* INT1 */
		{ EVENT_VALID | 6 << 8 | 3, 0 },			/* INT3 */
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_open(true, false);
		fake_guest();
		unit_case("event %#x:", rows[i].event);
		exit_in(rows[i].event, 0x1234, REASON_EPT, 2);
		CHECK_EQ(fake_get(ENTRY_EVENT), rows[i].again);
		if (rows[i].again)
			CHECK_EQ(fake_get(ENTRY_ERROR), 0x1234);
	}
}

/* An NMI that is injected again must not be blocked by its own first delivery. */
static void nmi_again(void)
{
	fake_open(true, false);
	fake_guest();
	fake_set(GUEST_BLOCKING, BLOCKING_NMI);
	exit_in(NMI, 0, REASON_EPT, 2);
	CHECK_EQ(fake_get(GUEST_BLOCKING), 0);
	CHECK_EQ(fake_get(ENTRY_EVENT), NMI);
}

/*
 * If IRET ends with a nested fault or #AC, NMIs are blocked as before the IRET. If an event was in
 * delivery, NMIs are not blocked.
 */
static void iret_again(void)
{
	const u32 ac = EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 17;
	const struct { u32 event, reason, met; u64 qualification; bool blocked; } rows[] = {
		{ 0, REASON_EPT, 0, 2 | 1 << 12, true }, { 0, REASON_EPT, 1 << 12, 2, false },
		{ EVENT_VALID | 0x30, REASON_EPT, 0, 2 | 1 << 12, false },
		{ 0, REASON_CPUID, 1 << 12, 1 << 12, false },
		{ 0, REASON_EVENT, ac | 1 << 12, 0, true }, { 0, REASON_EVENT, ac, 1 << 12, false },
		{ EVENT_VALID | 0x30, REASON_EVENT, ac | 1 << 12, 0, false },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_open(true, false);
		fake_become_cell();
		fake_guest();
		fake_set(EXIT_EVENT, rows[i].met);
		if (rows[i].reason == REASON_EPT)	/* in a cell this exit would be a failure */
			me()->id = 0;
		unit_case("row %u:", i);
		exit_in(rows[i].event, 0, rows[i].reason, rows[i].qualification);
		CHECK_EQ(fake_get(GUEST_BLOCKING), rows[i].blocked ? BLOCKING_NMI : 0);
	}
}

/* The guest's NMI is injected exactly once: at once, or as soon as possible. */
static void nmis(void)
{
	static const u32 blocks[] = { BLOCKING_NMI, BLOCKING_MOV_SS };
	struct pcpu *cpu = pcpu_of(0);
	u32 i, unblocks;

	fake_open(true, false);
	fake_guest();
	unblocks = fake_vmx.unblocks;
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), NMI);
	CHECK_EQ(fake_vmx.unblocks, unblocks + 1);
	CHECK(!(fake_get(VMCS_PROC) & PROC_NMI_WINDOW));
	fake_guest();		/* an NMI window may open repeatedly before STI's shadow ends */
	fake_set(GUEST_BLOCKING, BLOCKING_STI);
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), NMI);
	CHECK_EQ(fake_get(GUEST_BLOCKING), 0);
	for (i = 0; i < 2; i++) {
		unit_case("blocked by %#x:", blocks[i]);
		fake_guest();
		fake_set(GUEST_BLOCKING, blocks[i]);
		fake_event_exit(cpu, 2);
		CHECK_EQ(fake_get(ENTRY_EVENT), 0);
		CHECK(cpu->nmi_pending && fake_get(VMCS_PROC) & PROC_NMI_WINDOW);
		fake_set(GUEST_BLOCKING, 0);
		fake_exit(cpu, REASON_NMI_WINDOW, 0, 0, 0);
		CHECK_EQ(fake_get(ENTRY_EVENT), NMI);
		CHECK(!cpu->nmi_pending && !(fake_get(VMCS_PROC) & PROC_NMI_WINDOW));
		fake_exit(cpu, REASON_CPUID, 0, 0, 2);
		CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	}
}

/* An event that was in delivery is injected before the NMI. */
static void nmi_waits_its_turn(void)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	fake_guest();
	fake_set(EXIT_EVENT, NMI);
	exit_in(EVENT_VALID | 0x30, 0, REASON_EVENT, 0);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | 0x30);
	CHECK(cpu->nmi_pending && fake_get(VMCS_PROC) & PROC_NMI_WINDOW);
}

/*
 * An NMI of QV is a command and is not injected, even if it arrived in the monitor and was
 * recorded.
 */
static void commands(void)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	fake_guest();
	cpu->linux_state.idt_base = 0xfffffe0000000000;
	cpu->cmd = CMD_INIT;
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
	cpu->cmd = CMD_SIPI;
	cpu->sipi = 0x9a;
	*nmi_note(cpu) = 1;
	*nmi_note(cpu) = 0;			/* entry.S does this */
	vmx_handle(cpu, CODE_NMI);
	CHECK_EQ(*nmi_note(cpu), 0);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK_EQ(fake_get(GUEST_CS_BASE), 0x9a000);
	CHECK_EQ(fake_get(GUEST_CS), 0x9a00);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	cpu->stray_until += 1ull << 40;		/* the test must pass at any speed */
	/* an NMI sent before this guest started: the guest has no IDT */
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	CHECK(!cpu->nmi_pending);
	/* however long ago: Linux has its handler when it has loaded its IDT */
	cpu->cmd = CMD_FLUSH;
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	fake_set(GUEST_IDTR_BASE, cpu->linux_state.idt_base);
	fake_event_exit(cpu, 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), NMI);
}

static void own_fault(bool cell, u32 vector)
{
	fake_open(true, false);
	if (cell)
		fake_become_cell();
	fake_guest();
	fake_called = "";
	if (!setjmp(fake_back))
		monitor_fault(vector, 0x40001234, (u64)pcpu_of(0) + 0x7f00);
	CHECK_TEXT(fake_called, "vendor_run");
}

/* A machine check in the monitor: Linux handles it. Without Linux it is dropped. */
static void checks_of_the_monitor(void)
{
	fake_num_wrmsrs = 0;
	own_fault(false, 18);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | EVENT_EXCEPTION | 18);
	CHECK_EQ(fake_written(0x17a), FAKE_NEVER);
	own_fault(true, 18);
	CHECK_EQ(fake_written(0x17a), 0);
	fake_num_wrmsrs = 0;
	fake_open(true, false);
	vendor_set_park(pcpu_of(1), CPU_WAIT_SIPI);
	if (!setjmp(fake_back))
		monitor_fault(18, 0x40001234, (u64)pcpu_of(1) + 0x7f00);
	CHECK_EQ(fake_written(0x17a), 0);
	CHECK_EQ(pcpu_of(1)->phase, CPU_WAIT_SIPI);
}

/* A fault of the monitor itself injects #GP into Linux, and is a failure of a cell */
static void own_faults(void)
{
	own_fault(false, 14);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13);
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	own_fault(true, 14);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
}

/*
 * A cell's exception is injected unchanged. INT1 needs its length, since the handler would return
 * to INT1 otherwise.
 */
static void exceptions_go_back(void)
{
	static const struct { u32 met, event; } rows[] = {
		{ EVENT_VALID | EVENT_EXCEPTION | 1, EVENT_VALID | EVENT_EXCEPTION | 1 },
		{ EVENT_VALID | 5 << 8 | 1, EVENT_VALID | 5 << 8 | 1 },
		{ EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 1 << 12 | 17,
		  EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 17 },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_case("event %#x:", rows[i].met);
		fake_open(true, false);
		fake_become_cell();
		fake_guest();
		fake_set(GUEST_DR7, 0x2400);
		/* with TF set, an entry would need more state */
		fake_set(GUEST_BLOCKING, BLOCKING_STI | BLOCKING_MOV_SS);
		fake_set(ENTRY_ERROR, 0x77);
		fake_set(EXIT_EVENT, rows[i].met);
		fake_exit(pcpu_of(0), REASON_EVENT, 0, 0, 1);
		CHECK_EQ(fake_get(ENTRY_EVENT), rows[i].event);
		CHECK_EQ(fake_get(ENTRY_ERROR), 0);
		CHECK_EQ(fake_get(ENTRY_LENGTH), 1);
		CHECK_EQ(fake_get(GUEST_RIP), FAKE_RIP);
		/* the delivery of #DB clears GD */
		CHECK_EQ(fake_get(GUEST_DR7), rows[i].event & 16 ? 0x2400 : 0x400);
		CHECK_EQ(fake_get(GUEST_BLOCKING) & (BLOCKING_STI | BLOCKING_MOV_SS), 0);
	}
}

/*
 * The injection of #GP wakes a halted guest and ends the STI shadow. Otherwise the entry would be
 * rejected (SDM vol. 3, 27.3.1.5).
 */
static void faults_wake(void)
{
	fake_open(true, false);
	fake_guest();
	fake_set(GUEST_ACTIVITY, 1);
	fake_set(GUEST_BLOCKING, BLOCKING_STI);
	vendor_inject_fault(pcpu_of(0), 13);
	CHECK_EQ(fake_get(GUEST_ACTIVITY), 0);
	CHECK_EQ(fake_get(GUEST_BLOCKING), 0);
}

/* If the guest single-steps, #DB is injected after an instruction that the monitor carried out. */
static void steps(void)
{
	static const struct { u32 flags, debugctl, pending, want; } rows[] = {
		{ 2, 0, 0, 0 }, { 0x102, 0, 0, 0x4000 }, { 0x102, 0, 1, 0x4001 },
		{ 0x102, 2, 0, 0 }, { 0x102, 1, 0, 0x4000 },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_case("row %u:", i);
		fake_open(true, false);
		fake_guest();
		fake_set(GUEST_RFLAGS, rows[i].flags);
		fake_set(GUEST_DEBUGCTL, rows[i].debugctl);
		fake_set(GUEST_PENDING_DEBUG, rows[i].pending);
		fake_exit(pcpu_of(0), REASON_CPUID, 0, 0, 2);
		CHECK_EQ(fake_get(GUEST_RIP), FAKE_RIP + 2);
		CHECK_EQ(fake_get(GUEST_PENDING_DEBUG), rows[i].want);
	}
}

/*
 * A parked CPU drops a machine check that is sent to all CPUs. If it stayed pending, the next one
 * would shut the machine down.
 */
static void machine_check_in_the_park(void)
{
	struct pcpu *cpu = pcpu_of(0);
	u32 cell;

	for (cell = 0; cell < 2; cell++) {
		unit_case("%s:", cell ? "cell" : "Linux");
		fake_open(true, false);
		if (cell)
			fake_become_cell();
		fake_guest();
		vendor_set_park(cpu, CPU_WAIT_SIPI);
		CHECK_EQ(fake_get(VMCS_EXCEPTIONS), 1 << 18);
		fake_note_wrmsr(0x17a, 0x77);
		fake_event_exit(cpu, 18);
		CHECK_EQ(fake_written(0x17a), 0);
		CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
		CHECK_EQ(fake_get(ENTRY_EVENT), 0);
		fake_note_wrmsr(0x17a, 0x77);
		fake_exit(cpu, REASON_ENTRY_FAILED | 41, 0, 0, 0);
		CHECK_EQ(fake_written(0x17a), 0);
		CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
		CHECK_EQ(fake_get(ENTRY_EVENT), 0);
		CHECK_EQ(my_status()->state, QV_MON_RUNNING);
		vendor_set_sipi(cpu, 0x9a);
		CHECK_EQ(fake_get(VMCS_EXCEPTIONS), cell ? 1 << 1 | 1 << 17 | 1 << 18 : 0);
	}
}

/*
 * A failed entry delivers nothing. It leaves IDT_EVENT as the exit before it, and the event that
 * was to be injected: SDM vol. 3, 27.8. An event that was delivered before must not come again: a
 * parked CPU cannot take it.
 */
static void failed_entry_repeats_no_event(void)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	fake_guest();
	vendor_set_park(cpu, CPU_WAIT_SIPI);
	fake_set(EXIT_REASON, REASON_ENTRY_FAILED | 41);
	fake_set(IDT_EVENT, EVENT_VALID | 0x30);
	fake_set(GUEST_BLOCKING, BLOCKING_NMI);
	vmx_exit(cpu);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	fake_set(IDT_EVENT, NMI);
	fake_set(ENTRY_EVENT, EVENT_VALID | 0x31);
	vmx_exit(cpu);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | 0x31);
	CHECK_EQ(fake_get(GUEST_BLOCKING), BLOCKING_NMI);
}

/* A machine check during an entry: Linux handles it, and a cell fails. */
static void machine_check_at_an_entry(void)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	fake_guest();
	fake_exit(cpu, REASON_ENTRY_FAILED | 41, 0, 0, 0);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | EVENT_EXCEPTION | 18);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	fake_open(true, false);
	fake_become_cell();
	fake_guest();
	fake_exit(cpu, REASON_ENTRY_FAILED | 41, 0, 0, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(cpu->phase, CPU_STOPPED);
}

/*
 * Real mode has no error codes. An entry with an error code would be rejected (SDM vol. 3,
 * 27.2.1.3).
 */
static void faults_in_real_mode(void)
{
	fake_open(true, false);
	fake_guest();
	fake_set(GUEST_CR0, 0x30);
	vendor_inject_fault(pcpu_of(0), 13);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | EVENT_EXCEPTION | 13);
	fake_set(GUEST_CR0, 0x31);
	vendor_inject_fault(pcpu_of(0), 13);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13);
	CHECK_EQ(fake_get(ENTRY_ERROR), 0);
	vendor_inject_fault(pcpu_of(0), 6);
	CHECK_EQ(fake_get(ENTRY_EVENT), EVENT_VALID | EVENT_EXCEPTION | 6);
}

UNIT_SUITE(vmx_events) = {
	{ "vmx events: events in delivery are injected again", delivered_again },
	{ "vmx events: an NMI in delivery is injected again", nmi_again },
	{ "vmx events: IRET is carried out again", iret_again },
	{ "vmx events: the guest's NMIs are injected once", nmis },
	{ "vmx events: an NMI comes after the event in delivery", nmi_waits_its_turn },
	{ "vmx events: NMIs of QV are commands", commands },
	{ "vmx events: a fault of the monitor reaches Linux or fails the cell", own_faults },
	{ "vmx events: machine checks in the monitor reach Linux", checks_of_the_monitor },
	{ "vmx events: exceptions of a cell are injected again", exceptions_go_back },
	{ "vmx events: a fault ends a halt and a shadow", faults_wake },
	{ "vmx events: single steps see emulated instructions", steps },
	{ "vmx events: a parked CPU drops machine checks", machine_check_in_the_park },
	{ "vmx events: a failed entry repeats no event", failed_entry_repeats_no_event },
	{ "vmx events: a machine check at an entry reaches Linux", machine_check_at_an_entry },
	{ "vmx events: faults in real mode have no error code", faults_in_real_mode },
	{ 0 }
};
