// SPDX-License-Identifier: GPL-2.0-only
#include "decode.h"

struct cursor {
	const u8 *bytes;
	u32 num, at;
	bool short_of;		/* ran past the end */
};

static u8 next(struct cursor *c)
{
	if (c->at >= c->num) {
		c->short_of = true;
		return 0;
	}
	return c->bytes[c->at++];
}

static u32 next32(struct cursor *c)
{
	u32 i, v = 0;

	for (i = 0; i < 4; i++)
		v |= (u32)next(c) << (8 * i);
	return v;
}

static void skip(struct cursor *c, u32 n)
{
	while (n--)
		next(c);
}

struct prefixes {
	u8 rex;
	bool data16, addr_other;
};

static u8 read_prefixes(struct cursor *c, enum decode_mode mode, struct prefixes *p)
{
	for (;;) {
		u8 b = next(c);

		switch (b) {
		case 0x66:
			p->data16 = true;
			break;
		case 0x67:
			p->addr_other = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0xf0:
			break;
		default:
			if (mode == DECODE_64 && (b & 0xf0) == 0x40) {
				p->rex = b;		/* ends the prefixes */
				return next(c);
			}
			return b;
		}
		if (c->short_of)
			return 0;
	}
}

/* Skips what follows the ModRM byte; false for a register operand */
static bool skip_address(struct cursor *c, u8 modrm, enum decode_mode mode, const struct prefixes *p)
{
	u32 mod = modrm >> 6, rm = modrm & 7;
	bool addr16 = (mode == DECODE_16) != (mode != DECODE_64 && p->addr_other);

	if (mod == 3)
		return false;
	if (addr16) {
		skip(c, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
		return true;
	}
	if (rm == 4) {
		u8 sib = next(c);

		if (mod == 0 && (sib & 7) == 5)
			skip(c, 4);
	} else if (mod == 0 && rm == 5) {
		skip(c, 4);
	}
	skip(c, mod == 1 ? 1 : mod == 2 ? 4 : 0);
	return true;
}

/* C7, 81, 83: the operation is in ModRM, the operand follows */
static bool immediate(struct cursor *c, u8 opcode, u8 modrm, struct decoded *out)
{
	u32 ext = (modrm >> 3) & 7;

	if (opcode == 0xc7 && ext == 0)
		out->op = DECODE_STORE;
	else if (opcode != 0xc7 && ext == 1)
		out->op = DECODE_OR;
	else if (opcode != 0xc7 && ext == 4)
		out->op = DECODE_AND;
	else
		return false;
	out->value = opcode == 0x83 ? (u32)(int8_t)next(c) : next32(c);
	return true;
}

bool decode_write(const u8 *bytes, u32 num, enum decode_mode mode, const u64 *regs,
		  struct decoded *out)
{
	struct cursor c = { .bytes = bytes, .num = num < DECODE_MAX ? num : DECODE_MAX };
	struct prefixes p = { 0 };
	u8 opcode = read_prefixes(&c, mode, &p);
	bool data16 = (mode == DECODE_16) != p.data16;
	u8 modrm;

	if (data16 || (p.rex & 8))		/* device registers are 32 bits wide */
		return false;
	if (opcode == 0xa3) {			/* mov moffs, eax */
		skip(&c, mode == DECODE_64 ? (p.addr_other ? 4 : 8) :
			 (mode == DECODE_16) != p.addr_other ? 2 : 4);
		*out = (struct decoded){ DECODE_STORE, c.at, 0, (u32)regs[0] };
		return !c.short_of;
	}
	modrm = next(&c);
	if (!skip_address(&c, modrm, mode, &p))
		return false;
	out->reg = ((modrm >> 3) & 7) | (p.rex & 4 ? 8 : 0);
	out->value = (u32)regs[out->reg];
	switch (opcode) {
	case 0x89: out->op = DECODE_STORE; break;
	case 0x87: out->op = DECODE_XCHG; break;
	case 0x09: out->op = DECODE_OR; break;
	case 0x21: out->op = DECODE_AND; break;
	case 0xc7: case 0x81: case 0x83:
		if (!immediate(&c, opcode, modrm, out))
			return false;
		break;
	default:
		return false;
	}
	out->len = c.at;
	return !c.short_of;
}
