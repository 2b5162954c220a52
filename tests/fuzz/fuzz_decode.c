// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include "fuzz.h"
#include "insn.h"
#include "unit.h"

/* The first byte is the mode. The rest is an instruction. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct decoded d, again;
	enum decode_mode mode;
	u8 *part;

	if (!len)
		return 0;
	mode = data[0] % 3;
	if (!decode_write(data + 1, len - 1, mode, insn_regs, &d))
		return 0;
	CHECK(d.len >= 2 && d.len <= len - 1 && d.len <= DECODE_MAX);
	CHECK(d.op != DECODE_XCHG || d.reg < (mode == DECODE_64 ? 16 : 8));
	part = exact_copy(data + 1, d.len);
	CHECK(decode_write(part, d.len, mode, insn_regs, &again));
	CHECK(again.len == d.len && again.value == d.value && again.op == d.op);
	free(part);
	part = exact_copy(data + 1, d.len - 1);
	CHECK(!decode_write(part, d.len - 1, mode, insn_regs, &again));
	free(part);
	return 0;
}
