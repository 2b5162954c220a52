// SPDX-License-Identifier: GPL-2.0-only
/* Events that are on their way when an exit comes: NMIs, exceptions, faults of the monitor's own. */
#include <string.h>
#include "fake.h"
#include "core/dispatch.h"
#include "svm/svm.h"
#include "unit.h"

#define GP	(EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 13)

/* An exit in the delivery of @event */
static void exit_in(u64 code, u64 event)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = code;
	v->exit_int_info = event;
	svm_exit(pcpu_of(0));
}

/* Who steps through the guest sees the instruction end that the monitor has carried out */
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

/* A parked CPU takes a machine check and forgets it: with MCE clear, or MCIP left set, the machine would shut down */
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
		park(cpu, CPU_WAIT_SIPI);
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

static void nmi_exit(u64 code)
{
	exit_in(code, 0);
}

static void nmis(void)
{
	const u64 nmi = EVENT_VALID | EVENT_NMI | 2;
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 i;

	fake_open(true, true);
	nmi_exit(EXIT_NMI);			/* not ours: Linux's */
	CHECK_EQ(v->event_inj, nmi);
	CHECK(v->intercept3 & I3_IRET);
	nmi_exit(EXIT_NMI);			/* another while the first is handled: later */
	CHECK_EQ(v->event_inj, 0);
	CHECK(cpu->nmi_pending);
	nmi_exit(EXIT_NMI);			/* a third merges with the second, as in silicon */
	CHECK_EQ(v->event_inj, 0);
	nmi_exit(EXIT_IRET);
	CHECK_EQ(v->event_inj, 0);		/* not before IRET is done */
	CHECK(v->intercept3 & I3_VINTR && v->v_intr & V_IRQ);
	nmi_exit(EXIT_VINTR);
	CHECK_EQ(v->event_inj, nmi);
	CHECK(!(v->intercept3 & I3_VINTR) && !(v->v_intr & V_IRQ));
	CHECK(!cpu->nmi_pending);
	nmi_exit(EXIT_IRET);
	CHECK_EQ(v->event_inj, 0);
	CHECK(!(v->intercept3 & (I3_IRET | I3_VINTR)));
	cpu->cmd = CMD_FLUSH;			/* ours; but one of Linux's may be in it */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, nmi);
	CHECK_EQ(cpu_status(cpu)->nmis_in_doubt, 1);
	CHECK_EQ(cpu->ack & CMD_FLUSH, CMD_FLUSH);
	CHECK_EQ(v->tlb_control, TLB_FLUSH_ALL);
	v->event_inj = 0;
	for (i = 0; i < 2; i++) {		/* two more while Linux is in its handler: one NMI waits */
		cpu->cmd = CMD_FLUSH;
		nmi_exit(EXIT_NMI);
		CHECK_EQ(v->event_inj, 0);
		CHECK_EQ(cpu_status(cpu)->nmis_in_doubt, 2);
	}
	nmi_exit(EXIT_IRET);
	cpu->cmd = CMD_FLUSH;			/* and one before it could come */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	nmi_exit(EXIT_VINTR);
	CHECK_EQ(v->event_inj, nmi);
	CHECK_EQ(cpu_status(cpu)->nmis_in_doubt, 2);
	nmi_exit(EXIT_IRET);
	CHECK_EQ(v->event_inj, 0);
	CHECK(!(v->intercept3 & (I3_IRET | I3_VINTR)));
	cpu->cmd = CMD_CATCH;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);		/* its Linux is gone */
	CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
	CHECK_EQ(v->n_cr3, me()->park.root);
	nmi_exit(EXIT_NMI);			/* parked: nobody to give it to */
	CHECK_EQ(v->event_inj, 0);
	cpu->sipi = 0x99;
	cpu->cmd = CMD_SIPI;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK_EQ(v->cs.base, 0x99000);
	CHECK_EQ(v->rip, 0);
	cpu->cmd = CMD_SIPI;			/* a second SIPI does nothing */
	v->cs.base = 0x1234;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->cs.base, 0x1234);
}

/* An NMI that was sent before a guest began meets one that has no IDT to take it: it ends here */
static void just_started(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	fake_open(true, true);
	park(cpu, CPU_WAIT_SIPI);
	cpu->sipi = 0x99;
	cpu->cmd = CMD_SIPI;			/* found by an NMI of somebody else's */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	CHECK(cpu->stray_until > 0);
	cpu->stray_until += 1ull << 40;		/* however slowly this test runs */
	nmi_exit(EXIT_NMI);			/* the one that announced it */
	CHECK_EQ(v->event_inj, 0);
	CHECK(!cpu->nmi_pending);
	cpu->cmd = CMD_FLUSH;			/* ours without doubt */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(cpu_status(cpu)->nmis_in_doubt, 0);
	CHECK_EQ(cpu->ack & CMD_FLUSH, CMD_FLUSH);
	nmi_exit(EXIT_NMI);			/* only one is ever missing: this is the guest's */
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
	cpu->nmi_masked = false;
	v->event_inj = 0;
	cpu->stray_until = rdtsc() - 1;		/* a start a while ago: the announcing NMI has come long since */
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
	cpu->nmi_masked = false;
	cpu->started_tsc -= me()->boot.tsc_khz * 1000ull;	/* a second later it has an IDT */
	cpu->cmd = CMD_FLUSH;
	nmi_exit(EXIT_NMI);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_NMI | 2);
	CHECK_EQ(cpu_status(cpu)->nmis_in_doubt, 1);
}

/* An interrupt that was on its way in when the exit came is not lost */
static void delivery_goes_on(void)
{
	static const struct { u64 before, after; } rows[] = {
		{ 0, 0 }, { 0x30, 0 },
		{ EVENT_VALID | 0x30, EVENT_VALID | 0x30 },
		{ EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 14 | 2ull << 32,
		  EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 14 | 2ull << 32 },
		{ EVENT_VALID | EVENT_NMI | 2, EVENT_VALID | EVENT_NMI | 2 },
		{ EVENT_VALID | 4 << 8 | 0x80, 0 },		/* INT n happens again by itself */
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

/* An exception in a loop of its own delivery cannot keep a command away */
static void storms(void)
{
	static const u64 codes[] = { EXIT_DB, EXIT_AC };
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 i;

	for (i = 0; i < 2; i++) {
		fake_open(true, true);
		fake_become_cell();
		exit_in(codes[i], EVENT_VALID | EVENT_EXCEPTION | 14);	/* met while another went in */
		unit_case("exit %#lx:", codes[i]);
		CHECK_EQ(v->event_inj & 0xff, codes[i] - 0x40);
		cpu->cmd = CMD_STOP;
		nmi_exit(codes[i]);
		CHECK_EQ(cpu->phase, CPU_STOPPED);
		CHECK_EQ(cpu->ack & CMD_STOP, CMD_STOP);
		CHECK_EQ(v->event_inj, 0);
		CHECK(cpu->stray_until != 0);		/* its NMI still comes, and is not the guest's */
	}
}

static void fault(u32 vector)
{
	fake_called = NULL;
	if (!setjmp(fake_back))
		monitor_fault(vector, 0x40001234, (u64)pcpu_of(0) + 0x1f80);
	CHECK(fake_called && !strcmp(fake_called, "svm_run"));	/* the guest runs on, or what is there now */
}

static void faults_of_our_own(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	fake_open(true, true);
	v->event_inj = 0;
	me()->busy = me()->ioapic_busy = me()->config_busy = 1;
	fault(14);
	CHECK_EQ(v->event_inj, GP);
	CHECK_EQ(me()->busy, 0);
	CHECK_EQ(me()->ioapic_busy, 0);
	CHECK_EQ(me()->config_busy, 0);
	fault(18);
	CHECK_EQ(v->event_inj, EVENT_VALID | EVENT_EXCEPTION | 18);
	CHECK_EQ(cpu->phase, CPU_RUNNING);
	v->event_inj = 0;
	me()->busy = me()->config_busy = 2;	/* what another CPU is at goes on */
	cpu->phase = CPU_WAIT_SIPI;
	fault(6);				/* nobody is there to be told */
	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(cpu->phase, CPU_WAIT_SIPI);
	CHECK_EQ(v->n_cr3, me()->park.root);
	CHECK_EQ(me()->busy, 2);
	CHECK_EQ(me()->config_busy, 2);
	cpu->phase = CPU_RUNNING;
	cpu->faulting = true;			/* a fault while it dealt with one */
	fault(8);
	CHECK_EQ(cpu->phase, CPU_STOPPED);
	CHECK_EQ(v->n_cr3, me()->park.root);
	fake_open(true, true);
	fake_become_cell();
	fault(8);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(my_status()->failure.reason, QV_FAIL_MONITOR);
	CHECK_EQ(my_status()->failure.address, 0x40001234);
	CHECK_EQ(cpu->phase, CPU_STOPPED);
	CHECK_EQ(cpu->faulting, 0);
}

UNIT_SUITE(events) = {
	{ "events: NMIs, ours and Linux's", nmis },
	{ "events: NMIs meet a CPU just started", just_started },
	{ "events: one in delivery goes on", delivery_goes_on },
	{ "events: exceptions in a loop", storms },
	{ "events: faults of the monitor's own", faults_of_our_own },
	{ "events: single steps", steps },
	{ "events: machine checks of who is parked", machine_checks },
	{ 0 }
};
