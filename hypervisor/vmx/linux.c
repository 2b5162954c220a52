// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux becomes a guest, and goes back to the bare machine. It goes back by a leap (leap.c), as it
 * came (driver/cross/vmx.c). The driver takes the state that a leap does not load from the CPU's
 * struct qv_linux_state.
 */
#include "abi/errors.h"
#include "abi/test_hooks.h"
#include "vmx.h"

struct place {			/* offset of a field in struct qv_linux_state */
	u16 field, offset, size;
};
#define AT(field, member) { field, __builtin_offsetof(struct qv_linux_state, member), \
			    sizeof(((struct qv_linux_state *)0)->member) }
#define SEG(which, seg) \
	AT(GUEST_ES + 2 * (which), seg.sel), AT(GUEST_ES_BASE + 2 * (which), seg.base), \
	AT(GUEST_ES_LIMIT + 2 * (which), seg.limit), AT(GUEST_ES_RIGHTS + 2 * (which), seg.rights)

static const struct place as_guest[] = {
	SEG(SEG_FS, fs), SEG(SEG_GS, gs), SEG(SEG_LDTR, ldt_seg), SEG(SEG_TR, tr_seg),
	AT(GUEST_GDTR_BASE, gdt_base), AT(GUEST_GDTR_LIMIT, gdt_limit),
	AT(GUEST_IDTR_BASE, idt_base), AT(GUEST_IDTR_LIMIT, idt_limit), AT(GUEST_CR0, cr0),
	AT(GUEST_CR3, cr3), AT(GUEST_CR4, cr4), AT(GUEST_EFER, efer), AT(GUEST_PAT, pat),
	AT(GUEST_DEBUGCTL, debugctl), AT(GUEST_DR7, dr7), AT(GUEST_RFLAGS, rflags),
	AT(GUEST_RIP, rip), AT(GUEST_RSP, rsp), AT(GUEST_SYSENTER_CS, sysenter_cs),
	AT(GUEST_SYSENTER_ESP, sysenter_esp), AT(GUEST_SYSENTER_EIP, sysenter_eip),
};

static const struct place as_host[] = {
	AT(HOST_CS, cs), AT(HOST_SS, ss), AT(HOST_TR, tr_seg.sel), AT(HOST_TR_BASE, tr_seg.base),
	AT(HOST_FS_BASE, fs.base), AT(HOST_GS_BASE, gs.base), AT(HOST_GDTR_BASE, gdt_base),
	AT(HOST_IDTR_BASE, idt_base), AT(HOST_CR0, cr0), AT(HOST_CR3, cr3), AT(HOST_EFER, efer),
	AT(HOST_PAT, pat), AT(HOST_RSP, rsp), AT(HOST_SYSENTER_CS, sysenter_cs),
	AT(HOST_SYSENTER_ESP, sysenter_esp), AT(HOST_SYSENTER_EIP, sysenter_eip),
};

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static void write_places(const struct qv_linux_state *s, const struct place *p, u32 num)
{
	for (; num--; p++) {
		u64 value = 0;

		memcpy(&value, (const u8 *)s + p->offset, p->size);
		vmcs_write(p->field, value);
	}
}

static void read_places(struct qv_linux_state *s, const struct place *p, u32 num)
{
	for (; num--; p++) {
		u64 value = vmcs_read(p->field);

		memcpy((u8 *)s + p->offset, &value, p->size);
	}
}

/*
 * Returns true if the processor accepts this guest state. A guest that can take NMIs exits for its
 * NMI window before the first instruction.
 */
static u64 try_guest(struct pcpu *cpu)
{
	u32 proc = vmcs_read(VMCS_PROC), reason;
	bool taken;

	vmcs_write(VMCS_PROC, proc | PROC_NMI_WINDOW);
	if (me()->boot.test_hooks & QV_TEST_BAD_VMRUN && cpu->index == 1)
		vmcs_write(VMCS_VPID, 0);	/* for tests: an illegal guest state */
	taken = vmx_try();
	reason = vmcs_read(EXIT_REASON);
	if (taken && reason == REASON_EVENT) {
		vmx_unblock_nmi();
		*(u32 *)((u8 *)cpu + CPU_OFF_NMI) = 1;
	}
	vmcs_write(VMCS_PROC, proc);
	vmcs_write(VMCS_VPID, me()->id + 1);
	vmx_set_host(cpu);
	return taken && !(reason & REASON_ENTRY_FAILED) ? QV_ME_OK : QV_ME_VMRUN;
}

u64 vendor_enter(struct pcpu *cpu)
{
	const struct qv_linux_state *s = &cpu->linux_state;

	vendor_arrive(cpu);
	vmx_set_seg(SEG_CS, s->cs, RIGHTS_CODE64, ~0u, 0);
	vmx_set_seg(SEG_SS, s->ss, RIGHTS_DATA32, ~0u, 0);
	vmx_set_seg(SEG_DS, 0, RIGHTS_UNUSABLE, 0, 0);	/* unusable: the driver reloads DS and ES */
	vmx_set_seg(SEG_ES, 0, RIGHTS_UNUSABLE, 0, 0);
	write_places(s, as_guest, LEN(as_guest));
	vmcs_write(GUEST_CR4, s->cr4 | CR4_VMXE);
	vmcs_write(VMCS_CR0_SHADOW, s->cr0);
	vmcs_write(VMCS_ENTRY, me()->boot.vmx.entry | ENTRY_LONG);
	cpu->regs[GPR_RAX] = 0;
	cpu->phase = CPU_RUNNING;
	return try_guest(cpu);
}

static void __attribute__((noreturn)) cross(struct pcpu *cpu)
{
	const struct qv_linux_state *s = &cpu->linux_state;

	write_places(s, as_host, LEN(as_host));
	vmcs_write(HOST_CR4, s->cr4 | CR4_VMXE);
	vmcs_write(HOST_RIP, me()->boot.tramp_leave);
	vmcs_write(HOST_DS, 0);
	vmcs_write(HOST_ES, 0);
	vmx_leap(me()->boot.block_va + ((u64)s - QV_VA_BLOCK));
}

void vendor_leave(struct pcpu *cpu)
{
	struct qv_linux_state *s = &cpu->linux_state;

	read_places(s, as_guest, LEN(as_guest));
	s->cr4 &= ~CR4_VMXE;
	s->error = 0;
	cross(cpu);
}

void vendor_back(struct pcpu *cpu, u64 error)
{
	cpu->linux_state.error = error;
	cross(cpu);
}
