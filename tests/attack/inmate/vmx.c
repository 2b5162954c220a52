// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions of VT-x and SMX. The newest instructions are bytes here, since not all assemblers
 * know them.
 */
#include <inmate/cpu.h>
#include "attack.h"

/* An instruction whose operand is the address of a structure */
#define OF_ADDRESS(name, code) \
	void name(uint64_t pa, uint64_t b) \
	{ \
		TRY(code " %0", "+m"(pa) : : "memory", "cc"); \
		fault_ends(); \
		survived("done, %lx", (unsigned long)pa); \
	}

OF_ADDRESS(ins_vmxon, "vmxon")
OF_ADDRESS(ins_vmclear, "vmclear")
OF_ADDRESS(ins_vmptrld, "vmptrld")
OF_ADDRESS(ins_vmptrst, "vmptrst")

/* An instruction without operands, or with operands in registers */
#define ALONE(name, code) \
	void name(uint64_t a, uint64_t b) \
	{ \
		TRY(code, "+a"(a) : "b"(0), "c"(0), "d"(0) : "memory", "cc"); \
		fault_ends(); \
		survived("done, %lx", (unsigned long)a); \
	}

ALONE(ins_vmlaunch, "vmlaunch")
ALONE(ins_vmresume, "vmresume")
ALONE(ins_vmxoff, "vmxoff")
ALONE(ins_vmread, "vmread %%rax, %%rax")
ALONE(ins_vmwrite, "vmwrite %%rbx, %%rax")
ALONE(ins_vmfunc, ".byte 0x0f, 0x01, 0xd4")
ALONE(ins_encls, ".byte 0x0f, 0x01, 0xcf")
ALONE(ins_enclv, ".byte 0x0f, 0x01, 0xc0")
ALONE(ins_pconfig, ".byte 0x0f, 0x01, 0xc5")
ALONE(ins_seamcall, ".byte 0x66, 0x0f, 0x01, 0xcf")
ALONE(ins_tdcall, ".byte 0x66, 0x0f, 0x01, 0xcc")

/* Both instructions take a type and a descriptor. The type here is the one for all translations */
#define DROPS(name, code) \
	void name(uint64_t kind, uint64_t b) \
	{ \
		static const uint64_t all[2]; \
		\
		TRY(code " %0, %1", : "m"(all), "r"(kind) : "memory", "cc"); \
		fault_ends(); \
		survived("dropped"); \
	}

DROPS(ins_invept, "invept")
DROPS(ins_invvpid, "invvpid")

/* Without CR4.SMXE the instruction raises #UD anyway */
void ins_getsec(uint64_t leaf, uint64_t b)
{
	TRY("mov %0, %%cr4", : "r"(read_cr4() | 1ull << 14) : "memory");
	TRY(".byte 0x0f, 0x37", "+a"(leaf) : "b"(0), "c"(0) : "memory", "cc");
	fault_ends();
	survived("it says %lx", (unsigned long)leaf);
}
