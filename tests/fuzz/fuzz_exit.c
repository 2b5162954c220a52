// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits with random control blocks and registers, of Linux and of a cell alternately: MSRs, the
 * ICR, the xAPIC page, instructions, and all else that the processor may report. The settings that
 * confine the guest must not change.
 */
#include <string.h>
#include "choices.h"
#include "fake.h"
#include "fuzz.h"
#include "guest.h"
#include "svm/svm.h"
#include "unit.h"
#include "world.h"

/* Exit codes: APM vol. 2, appendix C */
static const u64 codes[] = {
	0x061, 0x063, 0x064, 0x072, 0x074, 0x076, 0x07a, 0x07b,
	0x07b, 0x07c, 0x07c, 0x07c, 0x07c, 0x07f, 0x080, 0x081,
	0x082, 0x083, 0x084, 0x085, 0x086, 0x089, 0x08d, 0x400,
	0x400, 0x400, 0x401, ~0ull, 0x000, 0x010, 0x014, 0x040,
	0x041, 0x051, 0x052, 0x065, 0x088,
};
static const u32 msrs[] = {
	0x10, 0x1b, 0x79, 0x8b, 0x200, 0x277, 0x2ff, 0x6e0,
	0x800, 0x80b, 0x80d, 0x830, 0x830, 0x832, 0x835, 0x83f,
	0xc0000080, 0xc0000081, 0xc0010010, 0xc0010015,
	0xc0010114, 0xc0010117, 0xc0011029, 0x40000000,
};

static u64 code_of(struct choices *c)
{
	u64 n = choose(c, sizeof(codes) / sizeof(codes[0]) + 1);

	return n < sizeof(codes) / sizeof(codes[0]) ? codes[n] : choose(c, 0x800);
}

/* State that the processor leaves at an exit: random, but within the values that it can report. */
static void any_exit(struct vmcb *v, struct pcpu *cpu, struct choices *c)
{
	static const u64 events[] = { 0, 0, 0, EVENT_VALID, EVENT_VALID | EVENT_NMI | 2,
				      EVENT_VALID | EVENT_EXCEPTION, EVENT_VALID | EVENT_SOFT };
	u32 i;

	v->exit_code = code_of(c);
	v->info1 = choose(c, 4) ? choose(c, 1ull << 32) : choose(c, 8);
	/* one of three bits of the exit information gives the width of the access */
	if (v->exit_code == EXIT_IOIO)
		v->info1 = (v->info1 & ~0x70ull) | 0x10ull << choose(c, 3);
	v->info2 = choose(c, 4) ? choose(c, FAKE_RAM) : 0xfee00000 + choose(c, 4096);
	v->exit_int_info = events[choose(c, 7)];
	v->exit_int_info |= (v->exit_int_info & EVENT_TYPE) == EVENT_EXCEPTION ? choose(c, 32) : 0;
	v->rip = choose(c, FAKE_RAM);
	v->next_rip = v->rip + choose(c, 16);
	v->cs.attrib = choose(c, 0x1000);
	v->cpl = choose(c, 4);
	v->cr0 = choose(c, 2) ? 0x80000011 : choose(c, 1ull << 32);
	v->cr3 = choose(c, FAKE_RAM);
	v->cr4 = choose(c, 1ull << 32);
	v->num_bytes = choose(c, 16);
	for (i = 0; i < sizeof(v->bytes) && v->exit_code == EXIT_NPF; i++)
		v->bytes[i] = choose(c, 256);
	v->rax = choose(c, 2) ? choose(c, 8) : choose(c, 1ull << 32);
	cpu->regs[GPR_RCX] = choose(c, 8) ? msrs[choose(c, sizeof(msrs) / sizeof(msrs[0]))] :
					    choose(c, 1ull << 32);
	cpu->regs[GPR_RDX] = choose(c, 4) ? choose(c, 8) : choose(c, 1ull << 32);
	cpu->regs[GPR_RDI] = choose(c, FAKE_RAM);
}

static void check_event(u64 event)
{
	u64 type = event & EVENT_TYPE;

	if (!(event & EVENT_VALID))
		return;
	CHECK(!type || type == EVENT_NMI || type == EVENT_EXCEPTION);
	CHECK(type != EVENT_EXCEPTION || ((event & 0xff) < 32 && (event & 0xff) != 2));
	CHECK(type != EVENT_NMI || (event & 0xff) == 2);
}

static struct vmcb opened;		/* the control block at the guest's first entry */

/* Checks the settings that confine the guest. They must be the same after every exit. */
static void check_confined(const struct vmcb *v)
{
	const u32 four = I4_VMRUN | I4_VMMCALL | I4_VMLOAD | I4_VMSAVE |
			 I4_STGI | I4_CLGI | I4_SKINIT;

	CHECK_EQ(opened.intercept3 & (I3_NMI | I3_MSR), I3_NMI | I3_MSR);
	CHECK_EQ(opened.intercept4 & four, four);
	CHECK_EQ(v->intercept_cr & opened.intercept_cr, opened.intercept_cr);
	CHECK_EQ(v->intercept_exc & opened.intercept_exc, opened.intercept_exc);
	CHECK_EQ(v->intercept3 & opened.intercept3, opened.intercept3);
	CHECK_EQ(v->intercept4 & opened.intercept4, opened.intercept4);
	CHECK_EQ(v->np_enable & NP_ENABLE, NP_ENABLE);
	CHECK_EQ(v->asid, me()->id + 1);
	CHECK_EQ(v->msrpm_pa, opened.msrpm_pa);
	CHECK_EQ(v->iopm_pa, opened.iopm_pa);
	CHECK(v->n_cr3 == me()->nested.root || v->n_cr3 == me()->park.root);
	CHECK(v->efer & EFER_SVME);
	CHECK_EQ(v->clean, 0);
	check_event(v->event_inj);
}

/* Returns false if the CPU has left this guest. */
static bool step(struct choices *c, bool cell)
{
	struct pcpu *cpu = pcpu_of(0);
	struct vmcb *v = vmcb_of(cpu);
	u64 efer = fake_msr(MSR_EFER);
	u32 was = my_status()->state;

	fake_wrmsr_last = 0;
	any_exit(v, cpu, c);
	unit_case("exit %#lx info %#lx %#lx msr %#lx:", v->exit_code, v->info1, v->info2,
		  cpu->regs[GPR_RCX]);
	if (setjmp(fake_back))
		return false;
	svm_exit(cpu);
	check_confined(v);
	CHECK_EQ(me()->locks[LOCK_MANAGER], 0);
	if (fake_wrmsr_last == MSR_EFER) {	/* the monitor probes EFER, then restores it */
		CHECK_EQ(fake_wrmsr_value, efer);
		fake_wrmsr_last = 0;
	}
	if (cell)
		guest_check_cell(was);
	else
		CHECK(fake_wrmsr_last != MSR_HSAVE && fake_wrmsr_last != MSR_VM_CR);
	return true;
}

/*
 * Each shape of the machine is set up once. Each run copies it back. Tables are cleared when they
 * are taken.
 */
static void open_shape(u32 shape)
{
	static u8 *kept[8];
	static u32 used[8];

	if (kept[shape]) {
		memcpy((void *)QV_VA_BLOCK, kept[shape], used[shape]);
		return;
	}
	fake_open(shape & 1, shape & 2);
	if (shape & 4) {
		guest_become_cell();
		vendor_arrive(pcpu_of(0));
	}
	used[shape] = me()->pt_pool.next;
	kept[shape] = exact_copy((void *)QV_VA_BLOCK, used[shape]);
}

/* First byte: bit 0 x2APIC, bit 1 decode assists, bit 2 a cell */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static struct world empty;
	struct choices c = { data, len };
	u32 shape = choose(&c, 8);

	fake_ipi = guest_check_ipi;
	open_shape(shape);
	opened = *vmcb_of(pcpu_of(0));
	while (choices_left(&c) && step(&c, shape & 4))
		;
	if ((shape & 5) == 1)
		world_check(&empty);
	return 0;
}
