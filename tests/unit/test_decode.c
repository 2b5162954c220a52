// SPDX-License-Identifier: GPL-2.0-only
/* decode.c: encodings written by hand, truncated ones, and random bytes. */
#include <stdlib.h>
#include <string.h>
#include "insn.h"
#include "unit.h"

#define R(n)	0x11223300u + (n)

struct row {
	const char *what;
	enum decode_mode mode;
	u32 len;
	u8 bytes[15];
	enum decode_op op;
	u32 value, reg;
};

static const struct row good[] = {
	{ "mov %eax,(%rdi)", DECODE_64, 2, { 0x89, 0x07 }, DECODE_STORE, R(0), 0 },
	{ "mov %ebx,0x300(%rdi)", DECODE_64, 6, { 0x89, 0x9f, 0, 3, 0, 0 }, DECODE_STORE, R(3), 0 },
	{ "mov %r9d,(%rax)", DECODE_64, 3, { 0x44, 0x89, 0x08 }, DECODE_STORE, R(9), 0 },
	{ "mov %esi,-0xa00d00(%rdi)", DECODE_64, 6, { 0x89, 0xb7, 0, 0xf3, 0x5f, 0xff },
	  DECODE_STORE, R(6), 0 },
	{ "mov %eax,0x10(%rip)", DECODE_64, 6, { 0x89, 5, 0x10, 0, 0, 0 }, DECODE_STORE, R(0), 0 },
	{ "mov %eax,0xfee000b0, SIB", DECODE_64, 7, { 0x89, 4, 0x25, 0xb0, 0, 0xe0, 0xfe },
	  DECODE_STORE, R(0), 0 },
	{ "mov %ecx,(%r12)", DECODE_64, 4, { 0x41, 0x89, 0x0c, 0x24 }, DECODE_STORE, R(1), 0 },
	{ "mov %ecx,0x80(%rsp)", DECODE_64, 7, { 0x89, 0x8c, 0x24, 0x80, 0, 0, 0 },
	  DECODE_STORE, R(1), 0 },
	{ "mov %edx,8(%rbp,%rcx,4)", DECODE_64, 4, { 0x89, 0x54, 0x8d, 8 }, DECODE_STORE, R(2), 0 },
	{ "movl $0xfb,0x300(%rax)", DECODE_64, 10, { 0xc7, 0x80, 0, 3, 0, 0, 0xfb, 0, 0, 0 },
	  DECODE_STORE, 0xfb, 0 },
	{ "movl $0,0xffffffffff5fc0b0", DECODE_64, 11,
	  { 0xc7, 4, 0x25, 0xb0, 0xc0, 0x5f, 0xff, 0, 0, 0, 0 }, DECODE_STORE, 0, 0 },
	{ "movabs %eax,0x1122334455667788", DECODE_64, 9,
	  { 0xa3, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11 }, DECODE_STORE, R(0), 0 },
	{ "addr32 movabs %eax,0xfee000b0", DECODE_64, 6, { 0x67, 0xa3, 0xb0, 0, 0xe0, 0xfe },
	  DECODE_STORE, R(0), 0 },
	{ "xchg %r8d,0x280(%rdi)", DECODE_64, 7, { 0x44, 0x87, 0x87, 0x80, 2, 0, 0 },
	  DECODE_XCHG, R(8), 8 },
	{ "lock or %ecx,(%rax)", DECODE_64, 3, { 0xf0, 0x09, 0x08 }, DECODE_OR, R(1), 0 },
	{ "and %edx,(%rbx)", DECODE_64, 2, { 0x21, 0x13 }, DECODE_AND, R(2), 0 },
	{ "orl $0x100,0xf0(%rax)", DECODE_64, 10, { 0x81, 0x88, 0xf0, 0, 0, 0, 0, 1, 0, 0 },
	  DECODE_OR, 0x100, 0 },
	{ "andl $0xfffeffff,0x350(%rax)", DECODE_64, 10,
	  { 0x81, 0xa0, 0x50, 3, 0, 0, 0xff, 0xff, 0xfe, 0xff }, DECODE_AND, 0xfffeffff, 0 },
	{ "andl $-16,(%rdi): the constant is sign-extended", DECODE_64, 3, { 0x83, 0x27, 0xf0 },
	  DECODE_AND, 0xfffffff0, 0 },
	{ "orl $0x7f,(%rdi)", DECODE_64, 3, { 0x83, 0x0f, 0x7f }, DECODE_OR, 0x7f, 0 },
	{ "rex mov: a REX without effect", DECODE_64, 3, { 0x40, 0x89, 0x07 },
	  DECODE_STORE, R(0), 0 },
	{ "gs: addr32 mov %eax,(%edi)", DECODE_64, 4, { 0x65, 0x67, 0x89, 0x07 },
	  DECODE_STORE, R(0), 0 },
	{ "15 bytes, the maximum length", DECODE_64, 15, { 0x3e, 0x3e, 0x3e, 0x3e, 0xc7, 0x84,
	  0x24, 1, 2, 3, 4, 5, 6, 7, 8 }, DECODE_STORE, 0x08070605, 0 },
	{ "32-bit: 0x44 is no prefix", DECODE_32, 2, { 0x89, 0x07 }, DECODE_STORE, R(0), 0 },
	{ "32-bit: mov %eax,0xfee000b0", DECODE_32, 5, { 0xa3, 0xb0, 0, 0xe0, 0xfe },
	  DECODE_STORE, R(0), 0 },
	{ "32-bit: addr16 mov %eax,0xfff0", DECODE_32, 4, { 0x67, 0xa3, 0xf0, 0xff },
	  DECODE_STORE, R(0), 0 },
	{ "32-bit: mov %eax,0xfee00300", DECODE_32, 6, { 0x89, 5, 0, 3, 0xe0, 0xfe },
	  DECODE_STORE, R(0), 0 },
	{ "32-bit: addr16 mov %ecx,0x12(%bx,%si)", DECODE_32, 4, { 0x67, 0x89, 0x48, 0x12 },
	  DECODE_STORE, R(1), 0 },
	{ "16-bit: data32 mov %eax,0x1234", DECODE_16, 4, { 0x66, 0xa3, 0x34, 0x12 },
	  DECODE_STORE, R(0), 0 },
	{ "16-bit: data32 addr32 mov %eax,(%edi)", DECODE_16, 4, { 0x66, 0x67, 0x89, 0x07 },
	  DECODE_STORE, R(0), 0 },
	{ "16-bit: data32 mov %eax,0x1234(no base)", DECODE_16, 5, { 0x66, 0x89, 0x06, 0x34, 0x12 },
	  DECODE_STORE, R(0), 0 },
	{ "16-bit: data32 mov %edx,(%bp)", DECODE_16, 4, { 0x66, 0x89, 0x56, 0 },
	  DECODE_STORE, R(2), 0 },
	{ "16-bit: data32 mov %edx,0x1234(%bp)", DECODE_16, 5, { 0x66, 0x89, 0x96, 0x34, 0x12 },
	  DECODE_STORE, R(2), 0 },
	{ "16-bit: data32 movl $5,(%si)", DECODE_16, 7, { 0x66, 0xc7, 0x04, 5, 0, 0, 0 },
	  DECODE_STORE, 5, 0 },
	{ "16-bit: addr32 data32 movl, SIB", DECODE_16, 13,
	  { 0x67, 0x66, 0xc7, 0x84, 0x24, 1, 2, 3, 4, 9, 0, 0 }, DECODE_STORE, 9, 0 },
};

static void by_hand(void)
{
	u32 i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct row *r = &good[i];
		struct decoded d = { 0 };
		u8 *bytes;
		u32 n;

		unit_case("%s:", r->what);
		for (n = 0; n <= 15; n++) {
			bool fine;

			if (n > r->len && n < 15)
				continue;
			bytes = exact_copy(r->bytes, n);
			fine = decode_write(bytes, n, r->mode, insn_regs, &d);
			free(bytes);
			/* the bytes after the instruction do not matter */
			CHECK_EQ(fine, n >= r->len);
			if (!fine)
				continue;
			CHECK_EQ(d.len, r->len);
			CHECK_EQ(d.op, r->op);
			CHECK_EQ(d.value, r->value);
			if (r->op == DECODE_XCHG)
				CHECK_EQ(d.reg, r->reg);
		}
	}
}

/* An instruction that is not a known 32-bit write must be rejected, with any bytes after it. */
static void refused(void)
{
	static const struct { const char *what; enum decode_mode mode; u8 bytes[15]; } rows[] = {
		{ "mov to a register", DECODE_64, { 0x89, 0xc7 } },
		{ "movl to a register", DECODE_64, { 0xc7, 0xc0, 1 } },
		{ "xchg of registers", DECODE_64, { 0x87, 0xd8 } },
		{ "a load", DECODE_64, { 0x8b, 0x07 } },
		{ "a byte", DECODE_64, { 0x88, 0x07 } },
		{ "a byte constant", DECODE_64, { 0xc6, 0x07, 1 } },
		{ "16 bits", DECODE_64, { 0x66, 0x89, 0x07 } },
		{ "16 bits in 16-bit code", DECODE_16, { 0x89, 0x07 } },
		{ "16 bits in 32-bit code", DECODE_32, { 0x66, 0x89, 0x07 } },
		{ "64 bits", DECODE_64, { 0x48, 0x89, 0x07 } },
		{ "64 bits, REX.W with 0x66", DECODE_64, { 0x66, 0x48, 0x89, 0x07 } },
		{ "64-bit movabs", DECODE_64, { 0x48, 0xa3 } },
		{ "64-bit constant", DECODE_64, { 0x48, 0xc7, 0x07 } },
		{ "C7 /1", DECODE_64, { 0xc7, 0x0f } },
		{ "81 /0, add", DECODE_64, { 0x81, 0x07 } },
		{ "83 /6, xor", DECODE_64, { 0x83, 0x37 } },
		{ "83 /7, cmp", DECODE_64, { 0x83, 0x3f } },
		{ "81 /5, sub", DECODE_64, { 0x81, 0x2f } },
		{ "01, add", DECODE_64, { 0x01, 0x07 } },
		{ "31, xor", DECODE_64, { 0x31, 0x07 } },
		{ "a string store", DECODE_64, { 0xab } },
		{ "repeated", DECODE_64, { 0xf3, 0xab } },
		{ "two-byte opcode: movnti", DECODE_64, { 0x0f, 0xc3, 0x07 } },
		{ "a vector store", DECODE_64, { 0xc5, 0xf8, 0x11, 0x07 } },
		{ "REX in 32-bit code is inc", DECODE_32, { 0x44, 0x89, 0x07 } },
		{ "16 prefixes", DECODE_64, { 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e,
					      0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e } },
		{ "longer than 15 bytes", DECODE_64,
		  { 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0xc7, 0x84, 0x24, 1, 2, 3, 4, 5, 6, 7 } },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		u8 more[32] = { 0 };
		struct decoded d;
		u32 n;

		unit_case("%s:", rows[i].what);
		memcpy(more, rows[i].bytes, 15);
		for (n = 0; n <= sizeof(more); n++)
			CHECK(!decode_write(more, n, rows[i].mode, insn_regs, &d));
	}
}

static void anything(void)
{
	static const u8 likely[] = {
		0x89, 0xc7, 0x87, 0x09, 0x21, 0x81, 0x83, 0xa3,
		0x66, 0x67, 0x48, 0x44, 0x40, 0xf0, 0x65,
		0x3e, 0x04, 0x25, 0x05, 0x84,
	};
	u32 round, i;

	for (round = 0; round < 2000000; round++) {
		u8 bytes[15], *copy;
		struct decoded d, again;
		u32 n = rnd_below(16);
		enum decode_mode mode = rnd_below(3);

		for (i = 0; i < n; i++)
			bytes[i] = rnd() & 3 ? likely[rnd_below(sizeof(likely))] : rnd();
		copy = exact_copy(bytes, n);
		if (decode_write(copy, n, mode, insn_regs, &d)) {
			CHECK(d.len >= 2 && d.len <= n);
			CHECK(decode_write(copy, d.len, mode, insn_regs, &again));
			CHECK_EQ(again.len, d.len);
			CHECK_EQ(again.value, d.value);
			CHECK(d.op != DECODE_XCHG || d.reg < (mode == DECODE_64 ? 16 : 8));
			CHECK(!decode_write(copy, d.len - 1, mode, insn_regs, &again));
		}
		free(copy);
	}
}

UNIT_SUITE(decode) = {
	{ "decode: encodings by hand give the expected result, truncated ones are rejected",
	  by_hand },
	{ "decode: unknown instructions are rejected", refused },
	{ "decode: random bytes cause no read past the end", anything },
	{ 0 }
};
