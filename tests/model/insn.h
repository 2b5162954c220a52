/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares the output of a disassembler with that of decode_write(). */
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

/* Accepts 32-bit writes only, as xapic_decode() does */
static inline bool decode_write(const u8 *bytes, u32 num, enum decode_mode mode, const u64 *regs,
				struct decoded *d)
{
	return decode_access(bytes, num, mode, regs, d) && d->size == 4 && d->op != DECODE_LOAD;
}

/* Register values for the decoder. All of them differ. */
extern const u64 insn_regs[16];

/*
 * Parses a line of `objdump -d -w -z`. Returns false if it is no instruction. @*address: its
 * address, as objdump prints it.
 */
bool insn_parse(const char *line, enum decode_mode mode, u64 *address, struct insn *insn);

/* True if it is a 32-bit mov, xchg, or, and of a register or constant to memory. *@want: effect. */
bool insn_expected(const struct insn *insn, struct decoded *want);

/* Checks that decode_write() agrees, and that it rejects every truncated form. */
void insn_check(const struct insn *insn);

#endif
