/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A word of the command line that describes a VCPU. qvctl writes one for each entry of `vcpus:`:
 * vcpu=NAME,main|io,C,T or vcpu=NAME,none. Pure.
 */
#ifndef QUEST_VCPUWORD_H
#define QUEST_VCPUWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../sched/sched.h"

#define VCPUWORD_KEY		"vcpu="
/* length in bytes of the longest valid word, with the NUL */
#define VCPUWORD_MAX		64

struct vcpu_wish {
	char name[SCHED_NAME];
	enum vcpu_type type;
	/* classes of an I/O VCPU: enum iovcpu_class */
	int io_class;
	/* C and T, each from 1 to TIMEWORD_MAX_US, without further checks. BACKGROUND_VCPU: 0 */
	uint64_t budget_us, period_us;
};

/*
 * Reads `word`, a string that begins with VCPUWORD_KEY. Returns NULL, or a sentence that says how
 * to correct it.
 */
const char *vcpuword_read(const char *word, struct vcpu_wish *wish);

/* Returns whether a VCPU may have this name: 1 to 15 letters, digits, -, _ and dots. */
bool vcpuword_is_name(const char *text, size_t length);

#endif
