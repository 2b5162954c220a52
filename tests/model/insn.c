// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "insn.h"
#include "unit.h"

#define REG(n)	(0xabcd000000000000ull | 0x11223300ull | (n))
const u64 insn_regs[16] = {
	REG(0), REG(1), REG(2), REG(3), REG(4), REG(5), REG(6), REG(7),
	REG(8), REG(9), REG(10), REG(11), REG(12), REG(13), REG(14), REG(15),
};

bool insn_parse(const char *line, enum decode_mode mode, u64 *address, struct insn *insn)
{
	char *end;
	u32 n;

	memset(insn, 0, sizeof(*insn));
	insn->mode = mode;
	*address = strtoull(line, &end, 16);
	if (end == line || *end != ':' || end[1] != '\t')
		return false;
	for (line = end + 2; insn->len < 16; line += n) {
		unsigned int byte;

		if (sscanf(line, "%2x%n", &byte, &n) != 1 || n != 2 || line[2] != ' ')
			break;
		insn->bytes[insn->len++] = byte;
		n = 3;
	}
	line = strchr(line, '\t');
	if (!insn->len || !line)
		return false;
	snprintf(insn->text, sizeof(insn->text), "%.*s", (int)strcspn(line + 1, "\n#"), line + 1);
	return true;
}

static int reg32(const char *name)
{
	static const char *const names[] = {
		"%eax", "%ecx", "%edx", "%ebx", "%esp", "%ebp", "%esi", "%edi", "%r8d", "%r9d",
		"%r10d", "%r11d", "%r12d", "%r13d", "%r14d", "%r15d",
	};
	int i;

	for (i = 0; i < 16; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static const struct { const char *name; enum decode_op op; bool sized; } ops[] = {
	{ "mov", DECODE_STORE, false }, { "movl", DECODE_STORE, true },
	{ "movabs", DECODE_STORE, false }, { "xchg", DECODE_XCHG, false },
	{ "or", DECODE_OR, false }, { "orl", DECODE_OR, true },
	{ "and", DECODE_AND, false }, { "andl", DECODE_AND, true },
};

static bool is_prefix(const char *word)
{
	static const char *const prefixes[] = {
		"lock", "cs", "ds", "es", "ss", "fs", "gs", "addr32", "addr16",
		"data32",
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strcmp(word, prefixes[i]))
			return true;
	return false;
}

/*
 * objdump prints a REX without effect as a separate word. A REX counts only right before the
 * opcode.
 */
static bool is_rex(const char *word)
{
	return !strncmp(word, "rex", 3);
}

bool insn_expected(const struct insn *insn, struct decoded *want)
{
	char text[INSN_TEXT], *word, *source, *target, *save;
	size_t i;

	strcpy(text, insn->text);
	for (word = strtok_r(text, " ", &save); word && is_prefix(word);)
		word = strtok_r(NULL, " ", &save);
	if (word && is_rex(word))
		word = strtok_r(NULL, " ", &save);
	source = strtok_r(NULL, " ", &save);
	if (!word || !source)
		return false;
	/*
	 * The first comma outside parentheses separates the operands: the source is never memory.
	 */
	target = strchr(source, ',');
	if (*source == '(' || !target)
		return false;
	*target++ = 0;
	if (*target == '%' && target[3] != ':')
		return false;			/* the target is a register */
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		int reg = reg32(source);

		if (strcmp(word, ops[i].name))
			continue;
		*want = (struct decoded){ .op = ops[i].op, .len = insn->len };
		if (*source == '$' && ops[i].sized) {
			want->value = strtoull(source + 1, NULL, 0);
			return true;
		}
		if (reg < 0 || ops[i].sized)
			return false;
		want->value = (u32)insn_regs[reg];
		want->reg = reg;
		return true;
	}
	return false;
}

static void check_beginnings(const struct insn *insn)
{
	u32 n;

	for (n = 0; n < insn->len; n++) {
		u8 *part = exact_copy(insn->bytes, n);
		struct decoded d;

		CHECK(!decode_write(part, n, insn->mode, insn_regs, &d));
		free(part);
	}
}

void insn_check(const struct insn *insn)
{
	static const char *const modes[] = { "16-bit", "32-bit", "64-bit" };
	u8 *bytes = exact_copy(insn->bytes, insn->len);
	struct decoded want, got = { 0 };
	bool fine = decode_write(bytes, insn->len, insn->mode, insn_regs, &got);

	unit_case("%s `%s` (%u bytes, %02x %02x %02x...):", modes[insn->mode], insn->text,
		  insn->len, insn->bytes[0], insn->bytes[1], insn->bytes[2]);
	if (!insn_expected(insn, &want)) {
		CHECK(!fine);
	} else if (CHECK(fine)) {
		CHECK_EQ(got.len, want.len);
		CHECK_EQ(got.op, want.op);
		CHECK_EQ(got.value, want.value);
		if (want.op == DECODE_XCHG)
			CHECK_EQ(got.reg, want.reg);
		check_beginnings(insn);
	}
	free(bytes);
}
