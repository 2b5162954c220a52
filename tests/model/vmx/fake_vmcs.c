// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "fake.h"
#include "fake_vendor.h"
#include "fake_vmcs.h"
#include "unit.h"

#define FIELDS	0x7000u

struct fake_vmx fake_vmx;
static _Thread_local u64 banks[FAKE_CPUS][FIELDS], *fields;	/* the fields of the current CPU */
const u8 gdt[32], vmx_exited[1];

/* A field's number encodes its width and kind: SDM vol. 3, 25.11.2. */
static u64 as_wide(u32 field, u64 value)
{
	switch (field >> 13 & 3) {
	case 0:
		return (u16)value;
	case 2:
		return (u32)value;
	}
	return value;
}

static u64 *current(void)
{
	return fields ? fields : banks[0];
}

void fake_as(u32 cpu)
{
	fields = banks[cpu];
}

static u64 *place(u32 field)
{
	if (field >= FIELDS || field & 1)
		unit_give_up("no such field");
	return &current()[field];
}

u64 fake_get(u32 field)
{
	return *place(field);
}

void fake_set(u32 field, u64 value)
{
	CHECK_EQ(as_wide(field, value), value);
	*place(field) = value;
}

u64 vmcs_read(u32 field)
{
	return *place(field);
}

void vmcs_write(u32 field, u64 value)
{
	CHECK((field >> 10 & 3) != 1);	/* VMWRITE cannot change fields of exit information */
	*place(field) = as_wide(field, value);
}

/* ---- vmx/entry.S ---- */

void vmx_load(u64 vmcs_pa)
{
	CHECK_EQ(vmcs_pa % QV_PAGE, 0);
	CHECK_EQ(*(u32 *)(fake_ram + vmcs_pa), me()->boot.vmx.revision);
	/* the fields have no useful values at first */
	memset(current(), 0x5a, sizeof(banks[0]));
	fake_vmx.loaded = vmcs_pa;
}

void vmx_flush(void)
{
	__atomic_fetch_add(&fake_vmx.flushes, 1, __ATOMIC_RELAXED);
}

bool vmx_try(void)
{
	CHECK(fake_get(VMCS_PROC) & PROC_NMI_WINDOW);
	current()[EXIT_REASON] = fake_vmx.refuse ? REASON_ENTRY_FAILED | 33 : REASON_NMI_WINDOW;
	return true;
}

void vendor_run(struct pcpu *cpu)
{
	(void)cpu;
	fake_back_to("vendor_run");
}

void vmx_cross(u64 rdi)
{
	fake_vmx.crossed = rdi;
	fake_back_to("vmx_cross");
}

void vmx_unblock_nmi(void)
{
	fake_vmx.unblocks++;
}

void vendor_shutdown(void)
{
	fake_back_to("vendor_shutdown");
}

void vendor_take_interrupts(void)
{
}

bool xsetbv_safe(u32 index, u64 value)
{
	if (index || !(value & 1))		/* #GP */
		return false;
	fake_vmx.xcr = index;
	fake_vmx.xcr_value = value;
	return true;
}

/* ---- exits ---- */

void fake_vendor_boot(struct qv_mon_boot *b)
{
	b->ept = fake_ept = 1;
	b->block_va = 0xffff888000000000ull + FAKE_BLOCK;
	b->tramp_leave = 0xffffffffc0001000ull;
	b->vmx = (struct qv_mon_vmx){
		.revision = 0x12, .pin = 0x16 | PIN_NMI | PIN_VIRTUAL_NMI,
		.proc = 0x0401e172 | PROC_IO_BITMAPS | PROC_MSR_BITMAPS | PROC_SECONDARY,
		.proc2 = PROC2_EPT | PROC2_VPID | PROC2_UNRESTRICTED | PROC2_RDTSCP,
		.exit = 0x36dff | EXIT_SAVE_PAT | EXIT_LOAD_PAT | EXIT_SAVE_EFER | EXIT_LOAD_EFER,
		.entry = (0x11ff & ~ENTRY_LONG) | ENTRY_LOAD_PAT | ENTRY_LOAD_EFER,
	};
}

void fake_guest(void)
{
	fake_set(GUEST_RIP, FAKE_RIP);
	fake_set(GUEST_RSP, 0x7000);
	fake_set(GUEST_CR0, 0x31);		/* protected mode, no paging, flat segments */
	fake_set(GUEST_CR4, CR4_VMXE);
	fake_set(GUEST_EFER, 0);
	fake_set(GUEST_CS_RIGHTS, RIGHTS_CODE32);
	fake_set(GUEST_CS_BASE, 0);
	fake_set(GUEST_SS_RIGHTS, RIGHTS_DATA32);
	fake_set(GUEST_BLOCKING, 0);
	fake_set(GUEST_ACTIVITY, 0);
	fake_set(GUEST_PENDING_DEBUG, 0);
	fake_set(GUEST_RFLAGS, 2);
	fake_set(GUEST_DEBUGCTL, 0);
	fake_set(GUEST_DR7, 0x400);
	fake_set(ENTRY_EVENT, 0);
}

void fake_exit(struct pcpu *cpu, u32 reason, u64 qualification, u64 gpa, u32 length)
{
	fake_set(EXIT_REASON, reason);
	fake_set(EXIT_QUALIFICATION, qualification);
	fake_set(EXIT_GUEST_PHYSICAL, gpa);
	fake_set(EXIT_LENGTH, length);
	fake_set(IDT_EVENT, 0);
	if (reason)
		fake_set(EXIT_EVENT, 0);
	/* every exit clears bit 31, which marks an event as valid */
	fake_set(ENTRY_EVENT, 0);
	vmx_exit(cpu);
}

void fake_event_exit(struct pcpu *cpu, u32 vector)
{
	fake_set(EXIT_EVENT, EVENT_VALID | (vector == 2 ? EVENT_NMI : EVENT_EXCEPTION) |
		 (vector == 17 ? EVENT_ERROR : 0) | vector);
	fake_exit(cpu, REASON_EVENT, 0, 0, 0);
}

void fake_memory_exit(struct pcpu *cpu, u64 gpa, bool write)
{
	fake_exit(cpu, REASON_EPT, write ? 2 : 1, gpa, 0x666);
}
