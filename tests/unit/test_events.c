// SPDX-License-Identifier: GPL-2.0-only
/* Events in delivery at an exit, NMIs, exceptions, and faults of the monitor itself. */
#include <string.h>
#include "fake.h"
#include "core/dispatch.h"
#include "core/kick.h"
#include "svm/svm.h"
#include "unit.h"

#define GP	(EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13)

/* An exit that interrupts the delivery of @event */
static void exit_in(u64 code, u64 event)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = code;
	v->exit_int_info = event;
	svm_exit(pcpu_of(0));
}

/* If the guest single-steps, #DB is injected for an instruction that the monitor carried out. */
static void steps(void)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));
	u32 step;

	for (step = 0; step < 2; step++) {
		fake_open(true, false);
		v->rip = 0x5000;
		v->rflags = step ? 0x102 : 2;
		v->dr6 = 0xffff0ff0;
		exit_in(EXIT_INVD, 0);
		CHECK_EQ(v->rip, 0x5002);
		CHECK_EQ(v->event_inj, step ? EVENT_VALID | EVENT_EXCEPTION | 1 : 0);
		CHECK_EQ(v->dr6, step ? 0xffff4ff0 : 0xffff0ff0);
	}
}

/*
 * A parked CPU takes a machine check and drops it. With MCE clear, or MCIP left set, the machine
 * would shut down.
 */
static void machine_checks(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 cell;

	for (cell = 0; cell < 2; cell++) {
		unit_case("%s:", cell ? "cell" : "Linux");
		fake_open(true, false);
		if (cell)
			fake_become_cell();
		vendor_arrive(cpu);
		vendor_set_park(cpu, CPU_WAIT_SIPI);
		CHECK(v->intercept_exc & EXC_MC && v->cr4 == CR4_MCE);
		fake_num_wrmsrs = 0;
		exit_in(EXIT_MC, 0);
		CHECK_EQ(fake_written(0x17a), 0);
		CHECK_EQ(v->event_inj, 0);
		CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
		CHECK_EQ(my_status()->state, QV_MON_RUNNING);
		vendor_set_sipi(cpu, 0x9a);
		CHECK_EQ(v->intercept_exc, cell ? EXC_DB | EXC_AC | EXC_MC : 0);
		CHECK_EQ(v->cr4, 0);
	}
	cpu->phase = CPU_RUNNING;
	exit_in(EXIT_MC, 0);
	CHECK_EQ(my_status()->failure.reason, QV_FAIL_EXIT);
}

/* The exit @code, after the guest has executed an instruction since the exit before */
static void nmi_exit(u64 code)
{
	vmcb_of(pcpu_of(0))->rip++;
	exit_in(code, 0);
}

/*
 * An NMI between the exit of an IRET and that IRET comes in the NMI handler still. Linux's CPU 1
 * executed one IRET without end: the NMI had overwritten the frame that the IRET pops.
 */
static void nmis_at_an_iret(void)
{
	const u64 nmi = EVENT_VALID | EVENT_NMI | 2;
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 end;

	for (end = 0; end < 2; end++) {
		fake_open(true, true);
		nmi_exit(EXIT_NMI);
		CHECK_EQ(v->event_inj, nmi);
		nmi_exit(EXIT_IRET);
		CHECK(!(v->intercept3 & (I3_IRET | I3_VINTR)));
		exit_in(EXIT_NMI, 0);
		CHECK_EQ(v->event_inj, 0);
		CHECK(cpu->nmi_pending && v->intercept3 & I3_IRET);
		exit_in(EXIT_IRET, 0);		/* the same IRET exits again */
		CHECK(!(v->intercept3 & I3_IRET) && v->intercept3 & I3_VINTR);
		CHECK_EQ(v->shadow & 1, 1);	/* one instruction, the IRET, comes before V_IRQ */
		exit_in(EXIT_NMI, 0);		/* a third NMI merges with the second */
		CHECK_EQ(v->event_inj, 0);
		exit_in(EXIT_IRET, 0);
		if (end)
			v->rsp += 40;	/* an IRET to itself: only the stack shows that it ended */
		else
			v->rip += 2;
		exit_in(EXIT_VINTR, 0);
		CHECK_EQ(v->event_inj, nmi);
		CHECK(!cpu->nmi_pending);
	}
}

static void nmis(void)
{
	const u64 nmi = EVENT_VALID | EVENT_NMI | 2;
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 i;

	fake_open(true, true);
	nmi_exit(EXIT_NMI);			/* Linux's own NMI is injected */
	CHECK_EQ(v->event_inj, nmi);
	CHECK(v->intercept3 & I3_IRET);
	nmi_exit(EXIT_NMI);		/* a second NMI comes during the handler and is held back */
	CHECK_EQ(v->event_inj, 0);
	CHECK(cpu->nmi_pending);
	nmi_exit(EXIT_NMI);		/* a third NMI merges with the second, as on hardware */
	CHECK_EQ(v->event_inj, 0);
	nmi_exit(EXIT_IRET);
	CHECK_EQ(v->event_inj, 0);	/* nothing is injected before the IRET is complete */
	CHECK(v->intercept3 & I3_VINTR && v->v_intr & V_IRQ);
	nmi_exit(EXIT_VINTR);
	CHECK_EQ(v->event_inj, nmi);
	CHECK(!(v->intercept3 & I3_VINTR) && !(v->v_intr & V_IRQ));
	CHECK(!cpu->nmi_pending);
	nmi_exit(EXIT_IRET);
	CHECK_EQ(v->event_inj, 0);
	CHECK(!(v->intercept3 & (I3_IRET | I3_VINTR)));
	cpu->cmd = CMD_FLUSH;		/* an NMI of QV; a Linux NMI may have merged with it */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, nmi);
	CHECK_EQ(cpu->status->nmis_in_doubt, 1);
	CHECK_EQ(cpu->ack & CMD_FLUSH, CMD_FLUSH);
	CHECK_EQ(v->tlb_control, TLB_FLUSH_ALL);
	v->event_inj = 0;
	/* QV sends two more NMIs during Linux's handler; one stays pending */
	for (i = 0; i < 2; i++) {
		cpu->cmd = CMD_FLUSH;
		nmi_exit(EXIT_NMI);
		CHECK_EQ(v->event_inj, 0);
		CHECK_EQ(cpu->status->nmis_in_doubt, 2);
	}
	nmi_exit(EXIT_IRET);
	cpu->cmd = CMD_FLUSH;	/* QV sends another NMI before the pending NMI is injected */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	nmi_exit(EXIT_VINTR);
	CHECK_EQ(v->event_inj, nmi);
	CHECK_EQ(cpu->status->nmis_in_doubt, 2);
	nmi_exit(EXIT_IRET);
	CHECK_EQ(v->event_inj, 0);
	CHECK(!(v->intercept3 & (I3_IRET | I3_VINTR)));
	cpu->cmd = CMD_CATCH;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);		/* a caught CPU no longer runs Linux */
	CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
	CHECK_EQ(v->n_cr3, me()->park.root);
	nmi_exit(EXIT_NMI);			/* a parked CPU has no guest to inject into */
	CHECK_EQ(v->event_inj, 0);
	cpu->sipi = 0x99;
	cpu->cmd = CMD_SIPI;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK_EQ(v->cs.base, 0x99000);
	CHECK_EQ(v->rip, 0);
	cpu->cmd = CMD_SIPI;			/* a second SIPI has no effect */
	v->cs.base = 0x1234;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->cs.base, 0x1234);
}

/* Linux starts a CPU, which sees the command at an unrelated NMI */
static void linux_starts(struct pcpu *cpu)
{
	fake_open(true, true);
	cpu->linux_state.idt_base = 0xfffffe0000000000;
	vendor_set_park(cpu, CPU_WAIT_SIPI);
	cpu->sipi = 0x99;
	cpu->cmd = CMD_SIPI;
	nmi_exit(EXIT_NMI);
}

/* An NMI sent before a guest started must not be injected: the guest has no IDT yet. */
static void just_started(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	linux_starts(cpu);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK(cpu->stray_until > 0);
	cpu->stray_until += 1ull << 40;		/* the test must pass at any speed */
	nmi_exit(EXIT_NMI);			/* this is the NMI that announced the command */
	CHECK_EQ(v->event_inj, 0);
	CHECK(!cpu->nmi_pending);
	cpu->cmd = CMD_FLUSH;		/* an NMI with a pending command is certainly from QV */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(cpu->status->nmis_in_doubt, 0);
	CHECK_EQ(cpu->ack & CMD_FLUSH, CMD_FLUSH);
	/* at most one NMI was still to come, so this one is for the guest. It has an IDT by now */
	v->idtr.base = cpu->linux_state.idt_base;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
	cpu->nmi_masked = false;
	v->event_inj = 0;
	/* the guest started long ago, so the announcing NMI has arrived */
	cpu->stray_until = rdtsc() - 1;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
	cpu->nmi_masked = false;
}

/* However long ago Linux started a CPU: it gets NMIs when it has loaded the IDT of Linux */
static void no_idt_yet(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	linux_starts(cpu);
	cpu->stray_until = 0;			/* long ago */
	CHECK_EQ(v->idtr.base, 0);
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	cpu->cmd = CMD_FLUSH;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(cpu->status->nmis_in_doubt, 0);
	CHECK(!cpu->nmi_pending);
	v->idtr.base = 0xffffffff81a00000;	/* an IDT of its early code */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	v->idtr.base = cpu->linux_state.idt_base;
	cpu->cmd = CMD_FLUSH;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
	CHECK_EQ(cpu->status->nmis_in_doubt, 1);
	cpu->nmi_masked = false;
	v->event_inj = 0;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
}

/* An event in delivery at an exit is injected again. */
static void delivery_goes_on(void)
{
	static const struct { u64 before, after; } rows[] = {
		{ 0, 0 }, { 0x30, 0 },
		{ EVENT_VALID | 0x30, EVENT_VALID | 0x30 },
		{ EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 14 | 2ull << 32,
		  EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 14 | 2ull << 32 },
		{ EVENT_VALID | EVENT_NMI | 2, EVENT_VALID | EVENT_NMI | 2 },
		{ EVENT_VALID | 4 << 8 | 0x80, 0 },		/* the guest executes INT n again */
		{ EVENT_VALID | EVENT_EXCEPTION | 3, 0 },
		{ EVENT_VALID | EVENT_EXCEPTION | 6, EVENT_VALID | EVENT_EXCEPTION | 6 },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vmcb *v = vmcb_of(pcpu_of(0));

		fake_open(true, true);
		v->info1 = 4;
		v->info2 = 0x900000;
		exit_in(EXIT_NPF, rows[i].before);
		unit_case("event %#lx:", rows[i].before);
		CHECK_EQ(v->event_inj, rows[i].after);
	}
}

/* Exceptions that occur again and again during delivery cannot keep a CPU from its command. */
static void storms(void)
{
	static const u64 codes[] = { EXIT_DB, EXIT_AC };
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 i;

	for (i = 0; i < 2; i++) {
		fake_open(true, true);
		fake_become_cell();
		/* an exception during the delivery of another exception */
		exit_in(codes[i], EVENT_VALID | EVENT_EXCEPTION | 14);
		unit_case("exit %#lx:", codes[i]);
		CHECK_EQ(v->event_inj & 0xff, codes[i] - 0x40);
		cpu->cmd = CMD_STOP;
		nmi_exit(codes[i]);
		CHECK_EQ(cpu->phase, CPU_STOPPED);
		CHECK_EQ(cpu->ack & CMD_STOP, CMD_STOP);
		CHECK_EQ(v->event_inj, 0);
		/* the command's NMI will still arrive, and must not be injected */
		CHECK(cpu->stray_until != 0);
	}
}

static void fault(u32 vector)
{
	fake_called = NULL;
	if (!setjmp(fake_back))
		monitor_fault(vector, 0x40001234, (u64)pcpu_of(0) + 0x1f80);
	/* the CPU enters the same guest, or another guest */
	CHECK(fake_called && !strcmp(fake_called, "svm_run"));
}

static void have_locks(u32 holder)
{
	enum front_lock i;

	for (i = 0; i < FRONT_LOCKS; i++)
		me()->locks[i] = holder;
}

static void expect_locks(u32 holder)
{
	enum front_lock i;

	for (i = 0; i < FRONT_LOCKS; i++)
		CHECK_EQ(me()->locks[i], holder);
}

static void faults_of_our_own(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	fake_open(true, true);
	v->event_inj = 0;
	have_locks(1);
	fault(14);
	expect_locks(0);
	CHECK_EQ(v->event_inj, GP);
	fault(18);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_EXCEPTION | 18);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	v->event_inj = 0;
	/* the fault must not release another CPU's locks */
	have_locks(2);
	cpu->phase = CPU_WAIT_SIPI;
	fault(6);				/* a waiting CPU has no guest to inject into */
	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
	CHECK_EQ(v->n_cr3, me()->park.root);
	expect_locks(2);
	cpu->phase = CPU_RUNNING;
	cpu->faulting = true;			/* a fault while the monitor handles a fault */
	fault(8);
	CHECK_EQ(cpu->phase, CPU_STOPPED);
	CHECK_EQ(v->n_cr3, me()->park.root);
	fake_open(true, true);
	fake_become_cell();
	me()->bells.uses[0] = 7;		/* the manager waits while it is odd */
	fault(8);
	CHECK_EQ(me()->bells.uses[0], 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(my_status()->failure.reason, QV_FAIL_MONITOR);
	CHECK_EQ(my_status()->failure.address, 0x40001234);
	CHECK_EQ(cpu->phase, CPU_STOPPED);
	CHECK_EQ(cpu->faulting, 0);
	me()->bells.uses[0] = 9;
	cpu->faulting = true;			/* a fault while it rings for the cell that fails */
	fault(8);
	CHECK_EQ(me()->bells.uses[0], 0);
}

UNIT_SUITE(events) = {
	{ "events: NMIs of QV are taken, NMIs of Linux are injected", nmis },
	{ "events: an NMI waits for the IRET before it", nmis_at_an_iret },
	{ "events: a CPU just started gets no stray NMI", just_started },
	{ "events: a CPU of Linux without the IDT of Linux gets no NMI", no_idt_yet },
	{ "events: an event in delivery is injected again", delivery_goes_on },
	{ "events: a loop of exceptions does not delay commands", storms },
	{ "events: a fault of the monitor reaches Linux or fails the cell", faults_of_our_own },
	{ "events: single steps see emulated instructions", steps },
	{ "events: a parked CPU drops machine checks", machine_checks },
	{ 0 }
};
