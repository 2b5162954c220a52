/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VCPU as a word of the command line, as qvctl writes the entries of `vcpus:`:
 * vcpu=NAME,main|io,C,T or vcpu=NAME,none. Pure.
 */
#ifndef QUEST_VCPUWORD_H
#define QUEST_VCPUWORD_H

#include <stddef.h>
#include <stdint.h>
#include "../../sched/sched.h"

#define VCPUWORD_KEY		"vcpu="
#define VCPUWORD_MAX		64			/* bytes with the NUL, of a valid word */
#define VCPUWORD_US_MAX		600000000		/* the longest C or T */

struct vcpu_wish {
	char name[SCHED_NAME];
	enum vcpu_type type;
	int io_class;					/* of an I/O VCPU: enum iovcpu_class */
	/* C and T, each 1 to VCPUWORD_US_MAX, not checked further. BACKGROUND_VCPU: 0 */
	uint64_t budget_us, period_us;
};

/*
 * Reads `word`, a string that begins with VCPUWORD_KEY. Returns NULL, or a sentence that says how
 * to correct it.
 */
const char *vcpuword_read(const char *word, struct vcpu_wish *wish);

#endif
