/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes accesses to a device page that the monitor traps. The nested fault gives the address. The
 * instruction gives its own length, the width and the value. Pure. Encodings: AMD APM vol. 3,
 * appendix A.
 */
#ifndef QV_DECODE_H
#define QV_DECODE_H

#include "abi/types.h"

#define DECODE_MAX	15	/* bytes of an x86 instruction at most */

enum decode_op { DECODE_STORE, DECODE_XCHG, DECODE_OR, DECODE_AND, DECODE_LOAD };

struct decoded {
	enum decode_op op;
	u32 len;		/* length of the instruction in bytes */
	u32 size;		/* bytes accessed: 1, 2 or 4 */
	u32 reg;		/* DECODE_XCHG, DECODE_LOAD: register that gets the value read */
	u32 value;		/* the operand, in its low .size bytes; DECODE_LOAD: none */
};

enum decode_mode { DECODE_16, DECODE_32, DECODE_64 };

/*
 * Decodes the instruction at @bytes. @regs are in encoding order (rax rcx rdx rbx rsp rbp rsi rdi
 * r8..r15). Returns false for an unknown instruction, or one longer than @num bytes.
 */
bool decode_access(const u8 *bytes, u32 num, enum decode_mode mode, const u64 *regs,
		   struct decoded *out);

#endif
