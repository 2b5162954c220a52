/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VCPUs that the command line asks for (vcpuword.h). They are the kernel's and
 * stay; programs are run on them by name. A word with the name of a fixed VCPU
 * (vcpu.h) gives that one other parameters, or (`none`) no budget. Written once at boot.
 */
#ifndef QUEST_NAMEDVCPU_H
#define QUEST_NAMEDVCPU_H

#include <inmate/boot.h>

/* Create them, behind the fixed ones; a line for each says its number, or why it is not there. */
void namedvcpus_init(const struct boot_info *boot);

/* The id of the one that `word` ("vcpu=NAME") means; SCHED_NO_VCPU: none. */
int namedvcpu_find(const char *word);

/* The i-th as such a word, for Tab; NULL: no more. */
const char *namedvcpu_word(unsigned int i);

#endif
