/* SPDX-License-Identifier: GPL-2.0-only */
/* What a disassembler says about an instruction, put beside what decode_write() says. */
#ifndef INSN_H
#define INSN_H

#include "core/decode.h"

#define INSN_TEXT	120

struct insn {
	enum decode_mode mode;
	u32 len;
	u8 bytes[16];
	char text[INSN_TEXT];		/* AT&T syntax, as objdump prints it */
};

/* Register values to decode with: each is recognizable */
extern const u64 insn_regs[16];

/*
 * A line of `objdump -d -w -z`; false when it is none. @*address: where it is said to be.
 */
bool insn_parse(const char *line, enum decode_mode mode, u64 *address, struct insn *insn);

/* Is it a 32-bit mov, xchg, or, and of a register or constant to memory? What does it do? */
bool insn_expected(const struct insn *insn, struct decoded *want);

/* decode_write() says the same; and refuses every beginning of it */
void insn_check(const struct insn *insn);

#endif
