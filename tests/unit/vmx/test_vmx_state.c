// SPDX-License-Identifier: GPL-2.0-only
/* vmx/state.c, vmx/linux.c, vmx/leap.c: guest states, controls, and host fields. */
#include <string.h>
#include "abi/errors.h"
#include "fake.h"
#include "fake_traps.h"
#include "vmx/fake_vmcs.h"
#include "unit.h"

/* The exits of each kind of guest, and the VPID of its translations */
static void controls(void)
{
	const struct qv_mon_vmx *x = &me()->boot.vmx;
	struct pcpu *cpu = pcpu_of(0);
	u32 cell;

	for (cell = 0; cell < 2; cell++) {
		fake_open(true, false);
		if (cell)
			fake_become_cell();
		vendor_arrive(cpu);
		unit_case("%s:", cell ? "cell" : "Linux");
		CHECK_EQ(fake_vmx.loaded, FAKE_BLOCK + QV_OFF_CPUS + CPU_OFF_VMCS);
		CHECK_EQ(fake_get(VMCS_PIN), x->pin);
		CHECK_EQ(fake_get(VMCS_PROC), x->proc | (cell ? 1u << 11 : 0));
		CHECK_EQ(fake_get(VMCS_PROC2), x->proc2 | (cell ? 1u << 6 : 0));
		CHECK_EQ(fake_get(VMCS_EXIT), x->exit);
		CHECK_EQ(fake_get(VMCS_EXCEPTIONS), cell ? 1u << 1 | 1u << 17 | 1u << 18 : 0);
		CHECK_EQ(fake_get(VMCS_VPID), me()->id + 1);
		CHECK_EQ(fake_get(VMCS_EPT_POINTER), me()->nested.root | 3 << 3 | 6);
		CHECK_EQ(fake_get(VMCS_LINK), ~0ull);
		CHECK_EQ(fake_get(VMCS_CR0_MASK), cell ? 0x60000020 : 0x20);
		CHECK_EQ(fake_get(VMCS_CR4_MASK),
			 1ull << 13 | 1ull << 25 | 1ull << 32 | (cell ? 1ull << 6 : 0));
		CHECK_EQ(fake_get(VMCS_CR4_SHADOW), 0);
		CHECK_EQ(fake_get(VMCS_MSR_BITMAP) - FAKE_BLOCK, (u64)me()->msr_map - QV_VA_BLOCK);
		CHECK_EQ(fake_get(VMCS_IO_BITMAP_A) - FAKE_BLOCK,
			 (u64)me()->port_map - QV_VA_BLOCK);
		CHECK_EQ(fake_get(VMCS_IO_BITMAP_B), fake_get(VMCS_IO_BITMAP_A) + 4096);
		CHECK_EQ(fake_get(ENTRY_EVENT), 0);
		CHECK_EQ(fake_get(VMCS_EXIT_LOADS) | fake_get(VMCS_EXIT_STORES) |
				 fake_get(VMCS_ENTRY_LOADS) | fake_get(VMCS_CR3_TARGETS),
			 0);
	}
}

/* The host state that each exit loads: the monitor's own, in this CPU's area */
static void host(void)
{
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	CHECK_EQ(fake_get(HOST_CS), 0x10);
	CHECK_EQ(fake_get(HOST_SS), 0x18);
	CHECK_EQ(fake_get(HOST_TR), 0x20);
	CHECK_EQ(fake_get(HOST_FS) | fake_get(HOST_GS), 0);
	CHECK_EQ(fake_get(HOST_CR3), me()->host.root);
	CHECK_EQ(fake_get(HOST_TR_BASE), (u64)cpu + CPU_OFF_TSS);
	CHECK_EQ(fake_get(HOST_IDTR_BASE), (u64)me()->idt);
	CHECK_EQ(fake_get(HOST_GDTR_BASE), (u64)gdt);
	CHECK_EQ(fake_get(HOST_RIP), (u64)vmx_exited);
	CHECK(fake_get(HOST_RSP) > (u64)cpu + 0x7f00 &&
	      fake_get(HOST_RSP) <= (u64)cpu + QV_CPU_LEN);
}

/* SDM vol. 3, 27.3.1: checks of the next entry, for the fields that the monitor writes */
static void check_enterable(void)
{
	u64 rights, entry = fake_get(VMCS_ENTRY);
	u32 i;

	CHECK(fake_get(GUEST_CR4) & CR4_VMXE);
	CHECK(fake_get(GUEST_CR0) & 0x20);	/* NE must be set; PE and PG may have any value */
	CHECK((fake_get(GUEST_CR0) & 1) || !(fake_get(GUEST_CR0) & CR0_PG));
	CHECK_EQ(!!(entry & ENTRY_LONG), !!(fake_get(GUEST_EFER) & EFER_LMA));
	CHECK_EQ(fake_get(GUEST_RFLAGS) & ~0x3f7fd7ull, 0);
	CHECK(fake_get(GUEST_RFLAGS) & 2);
	CHECK_EQ(fake_get(GUEST_ACTIVITY) | fake_get(GUEST_PENDING_DEBUG), 0);
	CHECK_EQ(fake_get(GUEST_BLOCKING), 0);
	CHECK_EQ(fake_get(VMCS_LINK), ~0ull);
	rights = fake_get(GUEST_TR_RIGHTS);
	CHECK((rights & 0x100ff) == 0x8b);
	for (i = SEG_ES; i <= SEG_GS; i++) {
		u32 limit = fake_get(GUEST_ES_LIMIT + 2 * i);

		rights = fake_get(GUEST_ES_RIGHTS + 2 * i);
		if (rights & RIGHTS_UNUSABLE)
			continue;
		CHECK((rights & 0x91) == 0x91 &&
		      !(rights & 0xf00)); /* present, code or data, accessed */
		CHECK(!(limit & 0xfff00000) || rights >> 15 & 1);
		CHECK((limit & 0xfff) == 0xfff || !(rights >> 15 & 1));
	}
}

static void check_segments(u32 code, u32 data, u32 limit)
{
	u32 i;

	for (i = SEG_ES; i <= SEG_GS; i++) {
		unit_case("segment %u:", i);
		CHECK_EQ(fake_get(GUEST_ES_RIGHTS + 2 * i), i == SEG_CS ? code : data);
		CHECK_EQ(fake_get(GUEST_ES_LIMIT + 2 * i), limit);
		if (i != SEG_CS)
			CHECK_EQ(fake_get(GUEST_ES_BASE + 2 * i), 0);
	}
}

/* Values that an earlier guest left in the VMCS */
static void dirty(struct pcpu *cpu)
{
	u32 i;

	fake_guest();
	fake_set(GUEST_EFER, 0xd01);
	fake_set(GUEST_CR4, 0x3026f0);
	fake_set(GUEST_BLOCKING, BLOCKING_NMI);
	fake_set(ENTRY_EVENT, EVENT_VALID | 0x30);
	fake_set(VMCS_ENTRY, me()->boot.vmx.entry | ENTRY_LONG);
	fake_set(GUEST_SYSENTER_EIP, 0x1234);
	for (i = 0; i < 16; i++)
		cpu->regs[i] = 0xbad;
	cpu->nmi_pending = true;
}

static void check_reset(const struct pcpu *cpu)
{
	u32 i;

	for (i = 0; i < 16; i++)
		if (i != GPR_RAX && i != GPR_RBX)
			CHECK_EQ(cpu->regs[i], 0);
	CHECK(!cpu->nmi_pending);
	CHECK_EQ(fake_get(GUEST_CR3) | fake_get(GUEST_EFER) | fake_get(GUEST_SYSENTER_EIP), 0);
	CHECK_EQ(fake_get(GUEST_CR4), CR4_VMXE | CR4_MCE);
	CHECK_EQ(fake_get(VMCS_CR4_SHADOW), 0);
	CHECK_EQ(fake_get(GUEST_DR7), 0x400);
	CHECK_EQ(fake_get(GUEST_PAT), PAT_RESET);
	CHECK_EQ(fake_get(GUEST_RFLAGS), 2);
	CHECK_EQ(fake_get(ENTRY_EVENT), 0);
	check_enterable();
}

static void states(void)
{
	const struct qv_mon_entry entry = { .eip = 0x123456, .eax = 0x2badb002, .ebx = 0x9000 };
	struct pcpu *cpu = pcpu_of(0);

	fake_open(true, false);
	fake_become_cell();
	vendor_arrive(cpu);
	unit_case("parked:");
	dirty(cpu);
	vendor_set_park(cpu, CPU_STOPPED);
	check_reset(cpu);
	check_segments(RIGHTS_CODE16, RIGHTS_DATA16, 0xffff);
	CHECK_EQ(fake_get(VMCS_EPT_POINTER), me()->park.root | 3 << 3 | 6);
	CHECK_EQ(fake_get(GUEST_RIP) | fake_get(GUEST_CS_BASE), 0);

	unit_case("SIPI:");
	dirty(cpu);
	vendor_set_sipi(cpu, 0x9a);
	check_reset(cpu);
	check_segments(RIGHTS_CODE16, RIGHTS_DATA16, 0xffff);
	CHECK_EQ(fake_get(VMCS_EPT_POINTER), me()->nested.root | 3 << 3 | 6);
	CHECK_EQ(fake_get(GUEST_CS), 0x9a00);
	CHECK_EQ(fake_get(GUEST_CS_BASE), 0x9a000);
	/* the guest reads that caches are off (SDM vol. 3, table 10-1) */
	CHECK_EQ(fake_get(VMCS_CR0_SHADOW), 0x60000010);

	unit_case("entry:");
	dirty(cpu);
	vendor_set_entry(cpu, &entry);
	check_reset(cpu);
	check_segments(RIGHTS_CODE32, RIGHTS_DATA32, ~0u);
	CHECK_EQ(fake_get(GUEST_RIP), 0x123456);
	CHECK_EQ(fake_get(VMCS_CR0_SHADOW), 0x11);
	CHECK_EQ(fake_get(GUEST_CR0), 0x31);
	CHECK_EQ(cpu->regs[GPR_RAX], 0x2badb002);
	CHECK_EQ(cpu->regs[GPR_RBX], 0x9000);
}

static void linux_state(struct qv_linux_state *s)
{
	*s = (struct qv_linux_state){
		.rsp = 0xffffc90000001000,
		.rip = 0xffffffff81000000,
		.rflags = 2,
		.cr0 = 0x80050033,
		.cr3 = 0x1234000,
		.cr4 = 0x3506f0,
		.efer = 0xd01,
		.gdt_base = 0xfffffe0000001000,
		.idt_base = 0xfffffe0000000000,
		.gdt_limit = 127,
		.idt_limit = 4095,
		.cs = 0x10,
		.ss = 0x18,
		.tr = 0x40,
		.pat = 0x0407050600070106,
		.debugctl = 0x4000,
		.dr7 = 0x400,
		.fs = { .rights = RIGHTS_UNUSABLE, .base = 0x7f0012345000 },
		.gs = { .rights = RIGHTS_UNUSABLE, .base = 0xffff88803ec00000 },
		.tr_seg = { .sel = 0x40,
			    .limit = 0x4087,
			    .rights = RIGHTS_TSS,
			    .base = 0xfffffe0000003000 },
		.ldt_seg = { .rights = RIGHTS_UNUSABLE },
		.sysenter_cs = 0x10,
		.sysenter_esp = 0xfffffe0000003200,
		.sysenter_eip = 0xffffffff81800000,
	};
}

static void linux_becomes_a_guest(void)
{
	struct pcpu *cpu = pcpu_of(0);
	const struct qv_linux_state *s = &cpu->linux_state;

	fake_open(true, false);
	linux_state(&cpu->linux_state);
	CHECK_EQ(vendor_enter(cpu), QV_ME_OK);
	CHECK_EQ(fake_get(GUEST_CR0), s->cr0);
	CHECK_EQ(fake_get(VMCS_CR0_SHADOW), s->cr0);
	CHECK_EQ(fake_get(GUEST_CR3), s->cr3);
	CHECK_EQ(fake_get(GUEST_CR4), s->cr4 | CR4_VMXE);
	CHECK_EQ(fake_get(VMCS_CR4_SHADOW), 0);			/* Linux reads VMXE as clear */
	CHECK_EQ(fake_get(GUEST_EFER), s->efer);
	CHECK(fake_get(VMCS_ENTRY) & ENTRY_LONG);
	CHECK_EQ(fake_get(GUEST_RIP), s->rip);
	CHECK_EQ(fake_get(GUEST_RSP), s->rsp);
	CHECK_EQ(fake_get(GUEST_GS_BASE), s->gs.base);
	CHECK_EQ(fake_get(GUEST_FS_BASE), s->fs.base);
	CHECK_EQ(fake_get(GUEST_TR), 0x40);
	CHECK_EQ(fake_get(GUEST_TR_LIMIT), 0x4087);
	CHECK_EQ(fake_get(GUEST_IDTR_LIMIT), 4095);
	CHECK_EQ(fake_get(GUEST_GDTR_BASE), s->gdt_base);
	CHECK_EQ(fake_get(GUEST_SYSENTER_EIP), s->sysenter_eip);
	CHECK_EQ(fake_get(GUEST_DEBUGCTL), 0x4000);
	CHECK_EQ(fake_get(GUEST_CS_RIGHTS), RIGHTS_CODE64);
	/* the NMI window is on for the trial only */
	CHECK(!(fake_get(VMCS_PROC) & PROC_NMI_WINDOW));
	CHECK_EQ(fake_get(HOST_RIP), (u64)vmx_exited);
	CHECK_EQ(cpu->regs[GPR_RAX], 0);
	check_enterable();
	fake_vmx.refuse = true;
	CHECK_EQ(vendor_enter(cpu), QV_ME_VMRUN);
	fake_vmx.refuse = false;
}

static void check_bare(const struct pcpu *cpu, const struct qv_linux_state *want)
{
	CHECK_TEXT(fake_called, "vmx_cross");
	CHECK_EQ(fake_vmx.crossed, me()->boot.block_va + ((u64)&cpu->linux_state - QV_VA_BLOCK));
	/* an illegal RFLAGS, so that the entry must fail */
	CHECK_EQ(fake_get(GUEST_RFLAGS), 0);
	CHECK_EQ(fake_get(HOST_RIP), me()->boot.tramp_leave);
	CHECK_EQ(fake_get(HOST_CR0), want->cr0);
	CHECK_EQ(fake_get(HOST_CR3), want->cr3);
	/* the driver clears VMXE after VMXOFF */
	CHECK_EQ(fake_get(HOST_CR4), want->cr4 | CR4_VMXE);
	CHECK_EQ(fake_get(HOST_RSP), want->rsp);
	CHECK_EQ(fake_get(HOST_CS), 0x10);
	CHECK_EQ(fake_get(HOST_SS), 0x18);
	CHECK_EQ(fake_get(HOST_DS) | fake_get(HOST_ES), 0);
	CHECK_EQ(fake_get(HOST_TR), want->tr_seg.sel);
	CHECK_EQ(fake_get(HOST_TR_BASE), want->tr_seg.base);
	CHECK_EQ(fake_get(HOST_GS_BASE), want->gs.base);
	CHECK_EQ(fake_get(HOST_GDTR_BASE), want->gdt_base);
	CHECK_EQ(fake_get(HOST_EFER), want->efer);
	CHECK_EQ(fake_get(HOST_PAT), want->pat);
	CHECK_EQ(fake_get(HOST_SYSENTER_ESP), want->sysenter_esp);
}

/*
 * Leaving returns the guest's present state. Backing out returns the state that Linux had at its
 * arrival.
 */
static void back_to_the_bare_machine(void)
{
	struct pcpu *cpu = pcpu_of(0);
	struct qv_linux_state now;

	fake_open(true, false);
	linux_state(&cpu->linux_state);
	CHECK_EQ(vendor_enter(cpu), QV_ME_OK);
	now = cpu->linux_state;
	now.cr3 = 0x5678000, now.rsp -= 0x100, now.gs.base += 0x40, now.cr4 |= 1 << 20;
	fake_set(GUEST_CR3, now.cr3);
	fake_set(GUEST_RSP, now.rsp);
	fake_set(GUEST_GS_BASE, now.gs.base);
	fake_set(GUEST_CR4, now.cr4 | CR4_VMXE);
	cpu->nmi_pending = true;
	*nmi_note(cpu) = 1;
	if (!setjmp(fake_back))
		vendor_leave(cpu);
	unit_case("left:");
	check_bare(cpu, &now);
	CHECK(cpu->nmi_pending && *nmi_note(cpu));	/* the driver checks both places */
	CHECK_EQ(cpu->linux_state.error, 0);
	CHECK_EQ(cpu->linux_state.cr4, now.cr4);

	fake_open(true, false);
	linux_state(&cpu->linux_state);
	now = cpu->linux_state;
	vendor_arrive(cpu);
	if (!setjmp(fake_back))
		vendor_back(cpu, QV_ME_CPU_STUCK);
	unit_case("turned back:");
	check_bare(cpu, &now);
	CHECK_EQ(cpu->linux_state.error, QV_ME_CPU_STUCK);
}

/*
 * A CPU moves from one instance to another in one step, with the fault stacks of the new instance
 */
static void to_another_instance(void)
{
	struct pcpu *there = pcpu_of(1);

	fake_open(true, false);
	if (!setjmp(fake_back))
		vendor_move(0x7777000, (u64)pcpu_of(2), vendor_arrive, there);
	CHECK_TEXT(fake_called, "vmx_cross");
	CHECK_EQ(fake_vmx.crossed, (u64)there);
	CHECK_EQ(fake_get(HOST_CR3), 0x7777000);
	CHECK_EQ(fake_get(HOST_RIP), (u64)vendor_arrive);
	CHECK_EQ(fake_get(HOST_RSP) % 16, 8);		/* the stack is aligned as after a call */
	CHECK(fake_get(HOST_RSP) < (u64)pcpu_of(2) && fake_get(HOST_RSP) > (u64)there + 0x7000);
	CHECK_EQ(fake_get(HOST_TR_BASE), (u64)there + CPU_OFF_TSS);
	CHECK_EQ(fake_get(GUEST_RFLAGS), 0);
	CHECK(!(fake_get(VMCS_PROC) & PROC_SECONDARY));
}

/*
 * When a CPU goes to another instance, no counter, sampling, trace or throttling remains enabled.
 */
static void left_behind(void)
{
	static const u32 msrs[] = {
		0x1d9, 0xda0, 0x48, 0x6a0, 0x6a2, 0x6a4, 0x6a5, 0x6a6,
		0x6a7, 0x6a8, 0x6e1, 0xd90, 0xd93, 0x14ce, 0xe1, 0x38f,
		0x3f1, 0x570, 0x19a, 0x1c4, 0xc0000081, 0xc0000082,
		0xc0000083, 0xc0000084, 0xc0000102, 0xc0000103,
	};
	u32 i;

	fake_open(true, false);
	fake_num_wrmsrs = 0;
	vendor_clear_msrs();
	for (i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++) {
		unit_case("MSR %#x:", msrs[i]);
		CHECK_EQ(fake_written(msrs[i]), 0);
	}
}

UNIT_SUITE(vmx_state) = {
	{ "vmx state: each kind of guest has its controls", controls },
	{ "vmx state: an exit loads the monitor's state", host },
	{ "vmx state: each start gives a defined state", states },
	{ "vmx state: Linux becomes a guest", linux_becomes_a_guest },
	{ "vmx state: leaving restores the bare machine", back_to_the_bare_machine },
	{ "vmx state: a CPU moves to another instance", to_another_instance },
	{ "vmx state: a CPU that changes its instance is cleared", left_behind },
	{ 0 }
};
