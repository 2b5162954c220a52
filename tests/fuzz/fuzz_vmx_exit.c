// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same as fuzz_exit.c for VT-x: exits with random VMCSs and registers, of Linux and of a cell
 * alternately. The settings that confine the guest must not change, and each event of the next
 * entry must be legal.
 */
#include <string.h>
#include "choices.h"
#include "fake.h"
#include "fuzz.h"
#include "guest.h"
#include "unit.h"
#include "vmx/fake_vmcs.h"
#include "world.h"

/* Exit reasons: SDM vol. 3, appendix C */
static const u32 reasons[] = {
	0, 0, 0, 2, 3, 8, 9, 10, 11, 13, 15, 18, 18, 19, 20, 21,
	22, 23, 24, 25, 26, 27, 28, 28, 30, 30, 31, 31, 32, 32, 32,
	48, 48, 48, 49, 50, 53, 54, 55, 55, 63, 64, 0x80000021, 0x80000029,
};
static const u32 msrs[] = {
	0x10, 0x1b, 0x3a, 0x79, 0x8b, 0x1a0, 0x200, 0x277, 0x2ff,
	0x480, 0x570, 0x6e0, 0x800, 0x80b, 0x80d, 0x830, 0x830,
	0x832, 0x835, 0x83f, 0xc80, 0xda0, 0xc0000080, 0xc0000081, 0x40000000,
};
/* The settings that confine the guest, as they were at its first entry */
static const u32 holds[] = {
	VMCS_VPID, VMCS_IO_BITMAP_A, VMCS_IO_BITMAP_B, VMCS_MSR_BITMAP,
	VMCS_XSS_BITMAP, VMCS_LINK, HOST_CR0, HOST_CR3,
	HOST_CR4, HOST_RSP, HOST_RIP, HOST_TR_BASE, HOST_IDTR_BASE,
	HOST_GDTR_BASE, VMCS_PIN, VMCS_PROC2, VMCS_EXIT,
	 VMCS_CR0_MASK, VMCS_CR4_MASK,
};
#define HOLDS	(sizeof(holds) / sizeof(holds[0]))

static u64 opened[HOLDS], exceptions;

/* State that the processor leaves at an exit: random, but within the values that it can report. */
static void any_exit(struct pcpu *cpu, struct choices *c)
{
	static const u32 events[] = { 0, 0, 0, EVENT_VALID | 0x30, EVENT_VALID | EVENT_NMI | 2,
				      EVENT_VALID | EVENT_EXCEPTION | 6,
				      EVENT_VALID | EVENT_EXCEPTION | EVENT_ERROR | 14,
				      EVENT_VALID | EVENT_SOFT | 0x80, EVENT_VALID | 6 << 8 | 3 };
	static const u32 vectors[] = { 1, 2, 2, 17, 18 }, widths[] = { 0, 1, 3 };
	u32 n = choose(c, sizeof(reasons) / sizeof(reasons[0]) + 1), vector = vectors[choose(c, 5)];
	u32 type = EVENT_EXCEPTION;

	fake_set(EXIT_REASON,
		 n < sizeof(reasons) / sizeof(reasons[0]) ? reasons[n] : choose(c, 0x80));
	fake_set(EXIT_QUALIFICATION, choose(c, 4) ? choose(c, 1ull << 32) : choose(c, 8));
	if (fake_get(EXIT_REASON) == REASON_PORT)	/* 1, 2 or 4 bytes */
		fake_set(EXIT_QUALIFICATION,
			 (fake_get(EXIT_QUALIFICATION) & ~7ull) | widths[choose(c, 3)]);
	fake_set(EXIT_GUEST_PHYSICAL,
		 choose(c, 4) ? choose(c, FAKE_RAM) : 0xfee00000 + choose(c, 4096));
	fake_set(EXIT_LENGTH, choose(c, 16));
	if (vector == 2)
		type = EVENT_NMI;
	else if (vector == 1 && choose(c, 2))
		type = 5 << 8;
	fake_set(EXIT_EVENT, EVENT_VALID | type | (vector == 17 ? EVENT_ERROR : 0) |
		 (choose(c, 2) ? EVENT_FROM_IRET : 0) | vector);
	fake_set(IDT_EVENT, events[choose(c, 9)]);
	fake_set(IDT_ERROR, choose(c, 1ull << 16));
	fake_set(ENTRY_EVENT, 0);
	fake_set(GUEST_RIP, choose(c, FAKE_RAM));
	fake_set(GUEST_CS_RIGHTS, choose(c, 0x10000));
	fake_set(GUEST_SS_RIGHTS, choose(c, 4) << 5 | 0x93);
	fake_set(GUEST_CR0, choose(c, 2) ? 0x80000031 : choose(c, 1ull << 32) | 0x20);
	fake_set(GUEST_CR3, choose(c, FAKE_RAM));
	fake_set(GUEST_CR4, choose(c, 1ull << 24) | CR4_VMXE);
	fake_set(GUEST_BLOCKING, choose(c, 16));
	fake_set(GUEST_RFLAGS, choose(c, 0x1000) | 2);
	fake_set(GUEST_ACTIVITY, choose(c, 2));
	cpu->regs[GPR_RAX] = choose(c, 2) ? choose(c, 8) : choose(c, 1ull << 32);
	cpu->regs[GPR_RCX] = choose(c, 8) ? msrs[choose(c, sizeof(msrs) / sizeof(msrs[0]))] :
					    choose(c, 1ull << 32);
	cpu->regs[GPR_RDX] = choose(c, 4) ? choose(c, 8) : choose(c, 1ull << 32);
	cpu->regs[GPR_RDI] = choose(c, FAKE_RAM);
}

/* SDM vol. 3, 27.2.1.3 */
static void check_event(u32 event)
{
	u32 type = event & EVENT_TYPE, vector = event & 0xff;

	if (!(event & EVENT_VALID))
		return;
	CHECK(!type || type == EVENT_NMI || type == EVENT_EXCEPTION ||
	      (type == 5 << 8 && vector == 1));
	CHECK(!(event & 0x7ffff000));
	CHECK(type != EVENT_EXCEPTION || vector < 32);
	CHECK(type != EVENT_NMI || vector == 2);
	CHECK(!(event & EVENT_ERROR) || (fake_get(GUEST_CR0) & 1) || type == EVENT_EXCEPTION);
}

static void check_confined(void)
{
	u64 ept = fake_get(VMCS_EPT_POINTER) & PT_ADDR;
	const u32 proc = PROC_IO_BITMAPS | PROC_MSR_BITMAPS | PROC_SECONDARY;
	u32 i;

	for (i = 0; i < HOLDS; i++)
		CHECK_EQ(fake_get(holds[i]), opened[i]);
	CHECK_EQ(fake_get(VMCS_PROC) & proc, proc);
	CHECK(ept == me()->nested.root || ept == me()->park.root);
	CHECK_EQ(fake_get(VMCS_EXCEPTIONS), ept == me()->park.root ? 1 << 18 : exceptions);
	CHECK(fake_get(GUEST_CR4) & CR4_VMXE);
	CHECK(!(fake_get(VMCS_CR4_SHADOW) & ~(u64)CR4_MCE));
	CHECK(fake_get(GUEST_CR0) & 0x20);
	check_event(fake_get(ENTRY_EVENT));
}

/* Returns false if the CPU has left this guest. */
static bool step(struct choices *c, bool cell)
{
	struct pcpu *cpu = pcpu_of(0);
	u32 was = my_status()->state;

	fake_wrmsr_last = 0;
	any_exit(cpu, c);
	unit_case("exit %#lx qualification %#lx at %#lx msr %#lx:", fake_get(EXIT_REASON),
		  fake_get(EXIT_QUALIFICATION), fake_get(EXIT_GUEST_PHYSICAL), cpu->regs[GPR_RCX]);
	if (setjmp(fake_back))
		return false;
	vmx_exit(cpu);
	check_confined();
	CHECK_EQ(me()->locks[LOCK_MANAGER], 0);
	if (cell)
		guest_check_cell(was);
	else
		CHECK(fake_wrmsr_last != 0x570 && fake_wrmsr_last != 0x560);
	return true;
}

/* The machine is set up once. Each run copies it back. Tables are cleared when they are taken. */
static void open_shape(u32 shape)
{
	static u8 *kept[4];
	static u32 used[4];
	u32 i;

	if (kept[shape]) {
		memcpy((void *)QV_VA_BLOCK, kept[shape], used[shape]);
		vendor_arrive(pcpu_of(0));
	} else {
		fake_open(shape & 1, false);
		if (shape & 2) {
			guest_become_cell();
		}
		vendor_arrive(pcpu_of(0));
		used[shape] = me()->pt_pool.next;
		kept[shape] = exact_copy((void *)QV_VA_BLOCK, used[shape]);
	}
	for (i = 0; i < HOLDS; i++)
		opened[i] = fake_get(holds[i]);
	exceptions = fake_get(VMCS_EXCEPTIONS);
}

/* First byte: bit 0 x2APIC, bit 1 a cell */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static struct world empty;
	struct choices c = { data, len };
	u32 shape = choose(&c, 4);

	fake_ipi = guest_check_ipi;
	open_shape(shape);
	while (choices_left(&c) && step(&c, shape & 2))
		;
	if (shape == 1)
		world_check(&empty);
	return 0;
}
