// SPDX-License-Identifier: GPL-2.0-only
/* svm/state.c: guest states and controls, also with features that no emulator has. */
#include <string.h>
#include "abi/errors.h"
#include "fake.h"
#include "fake_traps.h"
#include "svm/svm.h"
#include "unit.h"

#define CODE16	0x09b
#define DATA16	0x093
#define CODE32	0xc9b
#define DATA32	0xc93

/* The intercepts of each kind of guest, and the ASID of its translations */
static void controls(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 i;

	for (i = 0; i < 4; i++) {
		bool cell = i & 1, invlpgb = i & 2;

		fake_open(true, true);
		me()->boot.invlpgb = invlpgb;
		if (cell)
			fake_become_cell();
		v->clean = 0;
		vendor_arrive(cpu);
		unit_case("%s, %s INVLPGB:", cell ? "cell" : "Linux", invlpgb ? "with" : "without");
		CHECK_EQ(v->np_enable, NP_ENABLE | (!cell && invlpgb ? NP_INVLPGB : 0));
		CHECK_EQ(v->asid, me()->id + 1);
		CHECK_EQ(v->n_cr3, me()->nested.root);
		CHECK_EQ(v->tlb_control, TLB_FLUSH_ALL);
		CHECK_EQ(v->clean, 0);	/* the clean bits never report any state as unchanged */
		CHECK_EQ(v->intercept_cr | v->intercept_dr, 0);
		CHECK_EQ(v->intercept_exc, cell ? 1u << 1 | 1u << 17 | 1u << 18 : 0);
		CHECK_EQ(!!(v->intercept3 & I3_CPUID), cell);
		CHECK_EQ(!!(v->intercept3 & I3_RDPMC), cell);
		CHECK(v->intercept3 & I3_SHUTDOWN);
		CHECK_EQ(v->intercept3 & I3_INTR, 0);		/* law 1 */
		CHECK_EQ(v->event_inj | v->v_intr | v->shadow, 0);
	}
}

static void check_segments(const struct vmcb *v, u16 code, u16 data, u32 limit)
{
	const struct vmcb_seg *segs[] = { &v->es, &v->ss, &v->ds, &v->fs, &v->gs };
	u32 i;

	CHECK_EQ(v->cs.attrib, code);
	CHECK_EQ(v->cs.limit, limit);
	for (i = 0; i < sizeof(segs) / sizeof(segs[0]); i++) {
		CHECK_EQ(segs[i]->attrib, data);
		CHECK_EQ(segs[i]->limit, limit);
		CHECK_EQ(segs[i]->base, 0);
	}
}

/* Values that an earlier guest left in the block */
static void use_up(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	memset(&v->save, 0xa5, sizeof(v->save));
	memset(cpu->regs, 0xa5, sizeof(cpu->regs));
	v->intercept3 |= I3_IRET | I3_VINTR;
	v->event_inj = v->v_intr = v->shadow = ~0ull;
	cpu->nmi_masked = cpu->nmi_pending = true;
}

static void check_reset(const struct pcpu *cpu, u64 cr4)
{
	const struct vmcb *v = vmcb_of(cpu);

	CHECK_EQ(v->efer, EFER_SVME);
	CHECK_EQ(v->cr4, cr4);
	CHECK_EQ(v->cr3 | v->cr2, 0);
	CHECK_EQ(v->rflags, 2);
	CHECK_EQ(v->dr6, 0xffff0ff0);
	CHECK_EQ(v->dr7, 0x400);
	CHECK_EQ(v->g_pat, 0x0007040600070406ull);
	CHECK_EQ(v->gdtr.base | v->idtr.base | v->ldtr.base | v->tr.base, 0);
	CHECK_EQ(v->lstar | v->star | v->sfmask | v->kernel_gs | v->sysenter_eip, 0);
	CHECK_EQ(v->s_cet | v->ssp | v->isst | v->spec_ctrl | v->dbgctl, 0);
	CHECK_EQ(v->cpl, 0);
	CHECK_EQ(v->event_inj | v->v_intr | v->shadow, 0);
	CHECK_EQ(v->intercept3 & (I3_IRET | I3_VINTR), 0);
	CHECK(!cpu->nmi_masked && !cpu->nmi_pending);
}

/* After INIT, after SIPI and at a cell's entry, no state of the previous guest remains. */
static void starts(void)
{
	static const struct qv_mon_entry entry = {
		.eip = 0x100020, .eax = 0x36d76289, .ebx = 0x9500
	};
	struct pcpu *cpu = pcpu_of(1);
	struct vmcb *v = vmcb_of(cpu);

	fake_open(true, true);
	fake_become_cell();
	use_up(cpu);
	vendor_set_park(cpu, CPU_STOPPED);
	check_reset(cpu, CR4_MCE);
	check_segments(v, CODE16, DATA16, 0xffff);
	CHECK_EQ(v->n_cr3, me()->park.root);
	CHECK_EQ(v->rip | v->cs.base | v->cs.sel, 0);
	use_up(cpu);
	vendor_set_sipi(cpu, 0x9a);
	check_reset(cpu, 0);
	check_segments(v, CODE16, DATA16, 0xffff);
	CHECK_EQ(v->n_cr3, me()->nested.root);
	CHECK_EQ(v->cs.sel, 0x9a00);
	CHECK_EQ(v->cs.base, 0x9a000);
	CHECK_EQ(v->rip, 0);
	use_up(cpu);
	vendor_set_entry(cpu, &entry);
	check_reset(cpu, 0);
	check_segments(v, CODE32, DATA32, ~0u);
	CHECK_EQ(v->cr0, 0x11);			/* protected mode, no paging, caches enabled */
	CHECK_EQ(v->rip, entry.eip);
	CHECK_EQ(v->rax, entry.eax);
	CHECK_EQ(cpu->regs[GPR_RBX], entry.ebx);
	CHECK_EQ(cpu->regs[GPR_RCX] | cpu->regs[15], 0);
}

/* When a CPU of Linux leaves the monitor, the guest's state is written to these registers. */
static void leave(u64 cr4)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	v->cr4 = cr4;
	v->s_cet = 0x3;
	v->spec_ctrl = 0x5;
	v->efer = 0x1d01;
	fake_num_wrmsrs = 0;
	if (!setjmp(fake_back))
		vendor_leave(cpu);
	CHECK(fake_called && !strcmp(fake_called, "svm_leave"));
}

/* The monitor runs without Linux's speculation controls. Linux then gets its own values back. */
static void speculation(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u32 with;

	for (with = 0; with < 2; with++) {
		fake_open(true, true);
		me()->boot.spec_ctrl = with;
		v->spec_ctrl = 0x77;
		fake_num_wrmsrs = 0;
		vendor_enter(cpu);
		unit_case("%s a field in the control block:", with ? "with" : "without");
		CHECK_EQ(v->spec_ctrl, with ? fake_msr(0x48) : 0x77);
		CHECK_EQ(fake_written(0x48), with ? 0 : FAKE_NEVER);
		leave(0x20);
		CHECK_EQ(fake_written(0x48), with ? 0x5 : FAKE_NEVER);
		CHECK_EQ(fake_written(0xc0000080), 0x1d01);
		CHECK_EQ(fake_written(0xc0010117), 0);	/* the host's save area is no longer set */
	}
}

static void back_out(void)
{
	if (!setjmp(fake_back))
		vendor_back(pcpu_of(0), QV_ME_CPU_STUCK);
	CHECK(fake_called && !strcmp(fake_called, "svm_leave"));
}

/* Linux has its breakpoints again after disable and after a refused enable */
static void breakpoints(void)
{
	struct pcpu *cpu = pcpu_of(0);
	u32 refused;

	for (refused = 0; refused < 2; refused++) {
		fake_open(true, true);
		fake_dr[6] = 0xffff0ff1;
		fake_dr[7] = 0x90402;
		vendor_enter(cpu);
		unit_case("%s:", refused ? "a refused enable" : "disable");
		CHECK_EQ(fake_dr[7], 0x400);
		if (refused)
			back_out();
		else
			leave(0x20);
		CHECK_EQ(fake_dr[6], 0xffff0ff1);
		CHECK_EQ(fake_dr[7], 0x90402);
	}
}

static void shadow_stacks(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);

	fake_open(true, true);
	cpu->linux_state.s_cet = 0x9;
	cpu->linux_state.ssp_table = 0x12340;
	vendor_enter(cpu);
	CHECK_EQ(v->s_cet, 0x9);
	CHECK_EQ(v->isst, 0x12340);
	leave(0x20);
	/* not written, since the register may not exist */
	CHECK_EQ(fake_written(0x6a2), FAKE_NEVER);
	leave(0x20 | 1ull << 23);
	CHECK_EQ(fake_written(0x6a2), 0x3);
}

/*
 * When a CPU goes to another instance, no counter, sampling or branch record is enabled, and no
 * shadow stack remains.
 */
static void left_behind(void)
{
	static const u32 msrs[] = {
		0x1d9, 0xda0, 0x48, 0x6a0, 0x6a4, 0x6a5, 0x6a6, 0x6a7, 0x6a8,
		0xc0000103, 0xc000010f, 0xc0000301, 0xc0010000, 0xc0010001,
		0xc0010002, 0xc0010003, 0xc0010200, 0xc0010202, 0xc0010204,
		0xc0010206, 0xc0010208, 0xc001020a, 0xc0011030, 0xc0011033,
	};
	u32 i;

	fake_open(true, true);
	fake_num_wrmsrs = 0;
	vendor_clear_msrs();
	for (i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++) {
		unit_case("MSR %#x:", msrs[i]);
		CHECK_EQ(fake_written(msrs[i]), 0);
	}
}

UNIT_SUITE(state) = {
	{ "state: each kind of guest has its exits and ASID", controls },
	{ "state: each start gives a defined state", starts },
	{ "state: speculation control is saved and restored", speculation },
	{ "state: breakpoints are kept, also if enable is refused", breakpoints },
	{ "state: shadow stacks are restored if enabled", shadow_stacks },
	{ "state: a CPU that changes its instance is cleared", left_behind },
	{ 0 }
};
