// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ucontext.h>
#include "fake.h"
#include "fake_traps.h"
#include "unit.h"

void (*fake_ipi)(u32 low, u32 apic_id) = fake_answer;
u64 fake_wrmsr_value;
u32 fake_wrmsr_last;

/* This processor lacks LMSLE, MCOMMIT, INTWB, UAIE and automatic IBRS. */
#define EFER_LACKS	(1u << 13 | 1u << 17 | 1u << 18 | 1u << 20 | 1u << 21)
static u64 efer = 0x10c0000080;
u64 fake_apic_base = 0x100000001bull;
void (*fake_on_base)(u64 old, u64 value);

u64 fake_msr(u32 msr)
{
	if (msr == 0xc0000080)
		return efer;
	if (msr == 0x1b)
		return fake_apic_base;
	/* x2APIC: no interrupt is in service, and none is pending */
	if (msr >= 0x810 && msr <= 0x827)
		return 0;
	return msr >= 0xdead0000 ? 0 : 0x1000000000ull | msr;
}

static struct { u32 msr; u64 value; } wrmsrs[64];
u32 fake_num_wrmsrs;

void fake_note_wrmsr(u32 msr, u64 value)
{
	fake_wrmsr_last = msr;
	fake_wrmsr_value = value;
	if (msr == 0x1b && fake_on_base)
		fake_on_base(fake_apic_base, value);
	if (msr == 0x1b)
		fake_apic_base = value;
	if (msr == 0xc0000080)
		efer = value & ~(u64)EFER_LACKS;
	wrmsrs[fake_num_wrmsrs % 64].msr = msr;
	wrmsrs[fake_num_wrmsrs++ % 64].value = value;
}

u64 fake_written(u32 msr)
{
	u32 i = fake_num_wrmsrs;

	if (i > 64)
		unit_give_up("more MSRs were written than the list holds");
	while (i--)
		if (wrmsrs[i].msr == msr)
			return wrmsrs[i].value;
	return FAKE_NEVER;
}

static void write_msr(u32 msr, u64 value)
{
	fake_note_wrmsr(msr, value);
	if (msr == 0x830)
		fake_ipi(value, value >> 32);
}

/* Registers by their number in an instruction */
static const int order[] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

u64 fake_dr[8];

static void move_debug(greg_t *regs, u8 rex, u8 modrm, bool to)
{
	greg_t *reg = &regs[order[(modrm & 7) | (rex & 1) << 3]];
	u64 *dr = &fake_dr[modrm >> 3 & 7];

	if (to)
		*dr = *reg;
	else
		*reg = *dr;
}

/* Returns the address of a memory operand. SIB bytes are not decoded: the compiler uses "(%0)". */
static u64 operand(const greg_t *regs, u8 rex, const u8 *modrm, u32 *len)
{
	u64 base = regs[order[(*modrm & 7) | (rex & 1) << 3]];
	u32 mod = *modrm >> 6;

	if ((*modrm & 7) == 4)			/* SIB byte: only (%rsp) occurs */
		modrm++, ++*len;
	*len += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (mod == 0 && (*modrm & 7) == 5)
		*len += 4;
	return mod == 1 ? base + (int8_t)modrm[1] : base;
}

u32 fake_in = ~0u, fake_out, fake_port;
u32 (*fake_ports)(u32 port, u32 size, bool in, u32 value);

/* Carries out `in` and `out` with dx. Returns the length; 0 if it is neither. */
static u32 port_access(greg_t *regs, const u8 *at)
{
	u32 word = *at == 0x66, size = !(at[word] & 1) ? 1 : word ? 2 : 4;
	u64 mask = size == 4 ? 0 : ~0ull << 8 * size;

	if ((at[word] & 0xfc) != 0xec)
		return 0;
	fake_port = regs[REG_RDX] & 0xffff;
	if (fake_ports)
		fake_in = fake_ports(fake_port, size, !(at[word] & 2), regs[REG_RAX] & ~mask);
	if (at[word] & 2)
		fake_out = regs[REG_RAX] & ~mask;
	else
		regs[REG_RAX] = (regs[REG_RAX] & mask) | (fake_in & (size == 4 ? ~0u : ~mask));
	return word + 1;
}

#define TICK	5000u		/* cycles from one read of the clock to the next */
static u64 now;
u64 (*fake_held_up)(void);

void fake_time(void)
{
	now = 1ull << 40;
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		unit_give_up("the clock cannot be taken over");
}

/*
 * Carries out the privileged instruction at @at. Returns its length, or 0 for any other
 * instruction.
 */
static u32 carry_out(greg_t *regs, const u8 *at)
{
	u8 rex = (*at & 0xf0) == 0x40 ? *at : 0;
	const u8 *op = rex ? at + 1 : at;
	u32 len = (rex != 0) + 3;
	u64 value;

	/* the instructions cli, sti and hlt */
	if (*op == 0xfa || *op == 0xfb || *op == 0xf4)
		return 1;
	if (*op != 0x0f)
		return port_access(regs, at);
	switch (op[1]) {
	case 0x09:						/* wbinvd */
		return len - 1;
	/* moves from and to control registers have no effect */
	case 0x20: case 0x22:
		return len;
	case 0x21: case 0x23:
		move_debug(regs, rex, op[2], op[1] == 0x23);
		return len;
	case 0x30:						/* wrmsr */
		write_msr(regs[REG_RCX], (u64)regs[REG_RDX] << 32 | (u32)regs[REG_RAX]);
		return len - 1;
	/* the instruction rdtsc, after fake_time() */
	case 0x31:
		now += TICK + (fake_held_up ? fake_held_up() : 0);
		regs[REG_RAX] = (u32)now;
		regs[REG_RDX] = now >> 32;
		return len - 1;
	case 0x32:						/* rdmsr */
		value = fake_msr(regs[REG_RCX]);
		regs[REG_RAX] = (u32)value;
		regs[REG_RDX] = value >> 32;
		return len - 1;
	case 0x01:
		/* the instructions vmload, vmsave, stgi, clgi and xsetbv */
		if (op[2] >= 0xc0)
			return len;
		value = operand(regs, rex, op + 2, &len);
		if ((op[2] >> 3 & 7) == 7)
			fake_invlpg(value);
		/* the instructions lgdt and lidt have no effect here */
		return len;
	}
	return 0;
}

static void on_trap(int signal_number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	u32 len = carry_out(regs, (const u8 *)regs[REG_RIP]);

	if (!len) {
		fprintf(stderr, "fault at rip %#llx, address %p\n", regs[REG_RIP], info->si_addr);
		/* a fault that the monitor did not expect ends the process */
		signal(signal_number, SIG_DFL);
	}
	regs[REG_RIP] += len;
}

void fake_traps(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}
