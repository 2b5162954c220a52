// SPDX-License-Identifier: GPL-2.0-only
/* decode.c compared with objdump: lengths, operands, and instructions that must be rejected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "insn.h"
#include "unit.h"

static const struct { enum decode_mode mode; const char *section, *option; } modes[] = {
	{ DECODE_16, "i16", "i8086" }, { DECODE_32, "i32", "i386" }, { DECODE_64, "i64", "x86-64" },
};

/*
 * Gives the instruction at every @step'th address to the decoder. Counts all instructions, and
 * those that the decoder accepts.
 */
static void compare(const char *command, enum decode_mode mode, u64 step, u32 *all, u32 *known)
{
	FILE *out = popen(command, "r");
	char line[256];

	if (!out)
		unit_give_up("objdump does not run");
	while (fgets(line, sizeof(line), out)) {
		struct decoded want;
		struct insn insn;
		u64 address;

		if (!insn_parse(line, mode, &address, &insn) || address % step)
			continue;
		++*all;
		*known += insn_expected(&insn, &want);
		insn_check(&insn);
	}
	unit_case("%s:", command);
	CHECK_EQ(pclose(out), 0);
}

/* insns.S, assembled by the Makefile */
static void assembled(void)
{
	static const u32 at_least[] = { 1000, 2000, 6000 };
	char command[1024];
	u32 i;

	for (i = 0; i < 3; i++) {
		u32 all = 0, known = 0;

		snprintf(command, sizeof(command), "objdump -d -w -z -j %s -M %s %s/insns.o",
			 modes[i].section, modes[i].option, out_folder());
		compare(command, modes[i].mode, 1, &all, &known);
		CHECK(known >= at_least[i] && all > known + known / 4);
	}
}

/* 16 random bytes, then one-byte instructions, so that objdump is in step again */
#define SLOT	32
#define SLOTS	60000

static void fill_slot(u8 *slot)
{
	static const u8 prefixes[] = {
		0x66, 0x67, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0xf0, 0xf2, 0xf3
	};
	static const u8 opcodes[] = { 0x89, 0x87, 0x09, 0x21, 0xc7, 0x81, 0x83, 0xa3 };
	u32 i, at = 0;

	for (i = 0; i < 16; i++)
		slot[i] = rnd();
	memset(slot + 16, 0x90, SLOT - 16);
	while (!(rnd() & 3) && at < 4)
		slot[at++] = prefixes[rnd_below(sizeof(prefixes))];
	if (!(rnd() & 3))
		slot[at++] = 0x66;
	if (!(rnd() & 1))
		slot[at++] = 0x40 | (rnd() & 15);
	if (rnd_below(16))
		slot[at++] = opcodes[rnd_below(sizeof(opcodes))];
	if (rnd() & 1)
		slot[at] = (slot[at] & 0xc7) | (rnd() & 1 ? 0 : rnd() & 1 ? 1 << 3 : 4 << 3);
}

static void random_bytes(void)
{
	char command[1024], name[512];
	u8 slot[SLOT];
	u32 i, k;

	for (i = 0; i < 3; i++) {
		u32 all = 0, known = 0;
		FILE *f;

		snprintf(name, sizeof(name), "%s/random-%s.bin", out_folder(), modes[i].section);
		f = fopen(name, "wb");
		if (!f)
			unit_give_up("cannot write");
		for (k = 0; k < SLOTS; k++) {
			fill_slot(slot);
			fwrite(slot, 1, SLOT, f);
		}
		fclose(f);
		snprintf(command, sizeof(command), "objdump -D -w -z -b binary -m %s -M %s %s",
			 i == 2 ? "i386:x86-64" : "i386", modes[i].option, name);
		compare(command, modes[i].mode, SLOT, &all, &known);
		CHECK_EQ(all, SLOTS);
		CHECK(known > SLOTS / 20);
		remove(name);
	}
}

UNIT_SUITE(objdump) = {
	{ "decode: every form in insns.S agrees with objdump", assembled },
	{ "decode: random bytes agree with objdump", random_bytes },
	{ 0 }
};
