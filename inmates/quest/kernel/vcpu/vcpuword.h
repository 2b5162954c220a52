/* SPDX-License-Identifier: GPL-2.0-only */
/* A VCPU in one word of the command line, as qvctl writes what `vcpus:` lists: vcpu=NAME,main|io,C,T or vcpu=NAME,none. Pure. */
#ifndef QUEST_VCPUWORD_H
#define QUEST_VCPUWORD_H

#include <stddef.h>
#include <stdint.h>
#include "../../sched/sched.h"

#define VCPUWORD_KEY		"vcpu="
#define VCPUWORD_MAX		64			/* bytes with the NUL; no right one is longer */
#define VCPUWORD_US_MAX		600000000		/* the longest C or T */

struct vcpu_wish {
	char name[SCHED_NAME];
	enum vcpu_type type;
	int io_class;					/* of an I/O VCPU: enum iovcpu_class */
	uint64_t budget_us, period_us;			/* C and T, 1 to VCPUWORD_US_MAX; nothing else is sure of them. BACKGROUND_VCPU: 0 */
};

/* What `word` (a string that begins with VCPUWORD_KEY) asks for. NULL; or what is wrong with it and would be right. */
const char *vcpuword_read(const char *word, struct vcpu_wish *wish);

#endif
