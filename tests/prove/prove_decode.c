// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: decode_access() reads only the first num bytes, and 15 at most. An accepted instruction
 *	has the reported length, names one of 16 registers, and is rejected if one of its bytes is
 *	missing
 * Bound: none: any 15 bytes, any num, mode and registers
 * Assumed: the buffer holds num bytes
 * Enough: no instruction is longer than 15 bytes, and the code never reads beyond
 * Code: hypervisor/core/decode.c
 * Options: --unwind 28
 * Quick: yes
 * Changed: hypervisor/core/decode.c: `__builtin_memcpy(` ->
 *	`extern void *memcpy(void *, const void *, size_t); memcpy(`: CBMC knows the function by
 *	this name
 * Mutation: hypervisor/core/decode.c: `if (num > DECODE_MAX)` -> `if (num > 99)`: no limit of 15
 *	bytes
 * Mutation: hypervisor/core/decode.c: `|| out->len > num)` -> `|| out->len > num + 1)`: bytes that
 *	were not given are read
 * Mutation: hypervisor/core/decode.c: `out->reg = i | (rex & 4) << 1;` ->
 *	`out->reg = i | (rex & 4) << 2;`: a register that does not exist
 * Mutation: hypervisor/core/decode.c: `at += out->size;` -> `at += out->size - 1;`: a wrong length
 */
#include "core/decode.h"
#include "prove.h"

int main(void)
{
	u32 num = any_u32(), present = num < DECODE_MAX ? num : DECODE_MAX, part = any_u32(), i;
	/* the instruction is at the end of memory */
	u8 memory[DECODE_MAX], *bytes = memory + DECODE_MAX - present;
	enum decode_mode mode = any_u32() % 3;
	struct decoded d, again;
	u64 regs[16];
	bool fine;

	for (i = 0; i < DECODE_MAX; i++)
		memory[i] = any_u8();
	for (i = 0; i < 16; i++)
		regs[i] = any_u64();
	if (!decode_access(bytes, num, mode, regs, &d))
		return 0;
	PROVE(d.len >= 2 && d.len <= present, "the length covers given bytes only");
	PROVE(d.op <= DECODE_LOAD && (d.size == 1 || d.size == 2 || d.size == 4),
	      "a known operation and size");
	PROVE((d.op != DECODE_XCHG && d.op != DECODE_LOAD) || d.reg < (mode == DECODE_64 ? 16 : 8),
	      "a register that exists");

	ASSUME(part <= d.len);
	fine = decode_access(bytes, part, mode, regs, &again);
	PROVE(fine == (part == d.len), "its own bytes are enough, and all are needed");
	PROVE(!fine || (again.len == d.len && again.value == d.value && again.op == d.op &&
			again.reg == d.reg && again.size == d.size), "they mean the same");
	PROVE(d.size == 4 || !(d.value >> (8 * d.size)), "the operand is no larger than it may be");
	return 0;
}
