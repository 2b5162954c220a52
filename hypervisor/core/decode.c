// SPDX-License-Identifier: GPL-2.0-only
#include "decode.h"

/* Kinds of an instruction's first byte. NONE: a byte that this decoder does not know */
enum kind {
	NONE, PREFIX, DATA16, ADDRESS,
	MOFFS,			/* a1, a2, a3: mov between moffs and eax */
	REG,			/* ModRM; the operand is its register */
	IMM8, IMM,		/* ModRM, which holds the operation too; the operand follows it */
};

static const u8 kinds[256] = {
	[0x26] = PREFIX, [0x2e] = PREFIX, [0x36] = PREFIX, [0x3e] = PREFIX, [0x64] = PREFIX,
	[0x65] = PREFIX, [0xf0] = PREFIX, [0x66] = DATA16, [0x67] = ADDRESS,
	[0xa1] = MOFFS, [0xa2] = MOFFS, [0xa3] = MOFFS, [0x8b] = REG,
	/* an even opcode is the same instruction with an operand of one byte */
	[0x88] = REG, [0x89] = REG, [0x86] = REG, [0x87] = REG,
	[0x08] = REG, [0x09] = REG, [0x20] = REG, [0x21] = REG,
	[0xc6] = IMM, [0xc7] = IMM, [0x80] = IMM, [0x81] = IMM, [0x83] = IMM8,
};

/* enum decode_op plus 1, by the opcode or by bits 5..3 of ModRM; 0: no operation */
static const u8 reg_ops[256] = {
	[0xa1] = 1 + DECODE_LOAD, [0xa3] = 1 + DECODE_STORE, [0x8b] = 1 + DECODE_LOAD,
	[0x89] = 1 + DECODE_STORE, [0x87] = 1 + DECODE_XCHG,
	[0x09] = 1 + DECODE_OR, [0x21] = 1 + DECODE_AND,
};
static const u8 mov_ops[8] = { [0] = 1 + DECODE_STORE };
static const u8 imm_ops[8] = { [1] = 1 + DECODE_OR, [4] = 1 + DECODE_AND };

/* Bytes of displacement, by bits 7..6 of ModRM; second row: for 16-bit addresses */
static const u8 displacements[2][3] = { { 0, 1, 4 }, { 0, 1, 2 } };
/* Bytes of the address in opcode a3, by enum decode_mode, without and with prefix 67 */
static const u8 offsets[3][2] = { { 2, 4 }, { 4, 2 }, { 8, 4 } };

/* Returns the number of bytes from ModRM up to the immediate */
static u32 address_len(const u8 *b, bool addr16)
{
	u32 mod = b[0] >> 6, rm = b[0] & 7, len = 1;

	if (!addr16 && rm == 4) {		/* SIB */
		rm = b[1] & 7;
		len++;
	}
	/* there is no base register; a displacement takes its place */
	if (mod == 0 && rm == (addr16 ? 6 : 5))
		mod = 2;
	return len + displacements[addr16][mod];
}

/* @b is padded: it holds every byte that the longest instruction takes from it */
static bool decode(const u8 *b, enum decode_mode mode, const u64 *regs, struct decoded *out)
{
	bool data16 = mode == DECODE_16, other = false;
	u32 at = 0, rex = 0, op, i;
	u8 kind;

	while (kind = kinds[b[at]], kind != NONE && kind <= ADDRESS) {
		if (kind == DATA16)
			data16 = mode != DECODE_16;
		other |= kind == ADDRESS;
		if (++at == DECODE_MAX)
			return false;
	}
	if (mode == DECODE_64 && (b[at] & 0xf0) == 0x40)
		rex = b[at++];			/* REX is the last prefix */
	kind = kinds[b[at]];
	/* the operand cannot have 64 bits: no device register is wider than 32 bits */
	if (kind < MOFFS || (rex & 8))
		return false;
	op = b[at++];
	out->size = !(op & 1) ? 1 : data16 ? 2 : 4;
	op |= 1;
	if (kind == MOFFS) {
		out->op = reg_ops[op] - 1;
		out->reg = 0;
		out->value = regs[0];
		out->len = at + offsets[mode][other];
		return true;
	}
	i = b[at] >> 3 & 7;
	op = kind == REG ? reg_ops[op] : (op == 0xc7 ? mov_ops : imm_ops)[i];
	if (b[at] >> 6 == 3 || !op)		/* the operand is a register, not memory */
		return false;
	out->op = op - 1;
	out->reg = i | (rex & 4) << 1;
	/* Without REX, byte registers 4 to 7 are AH..BH: bits 15..8 of the first four */
	out->value = out->size == 1 && !rex && i > 3 ? regs[i - 4] >> 8 : regs[out->reg];
	at += address_len(b + at, mode != DECODE_64 && (mode == DECODE_16) != other);
	if (kind == IMM) {
		/* always 4 bytes: those after the immediate lie above the low .size bytes */
		__builtin_memcpy(&out->value, b + at, 4);
		at += out->size;
	} else if (kind == IMM8) {
		out->value = (int8_t)b[at++];
	}
	out->len = at;
	return true;
}

bool decode_access(const u8 *bytes, u32 num, enum decode_mode mode, const u64 *regs,
		   struct decoded *out)
{
	/* room after the last prefix for REX, opcode, ModRM, SIB, displacement and immediate */
	u8 b[DECODE_MAX + 12] = { 0 };
	u32 i;

	if (num > DECODE_MAX)
		num = DECODE_MAX;
	for (i = 0; i < num; i++)
		b[i] = bytes[i];
	if (!decode(b, mode, regs, out) || out->len > num)
		return false;
	out->value &= ~0u >> (32 - 8 * out->size);
	return true;
}
