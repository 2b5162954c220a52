/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VCPUs of the command line (vcpuword.h). They are the kernel's and stay; programs run on them by
 * name. A word with the name of a fixed VCPU (vcpu.h) changes its parameters, or (`none`) takes its
 * budget. Written once at boot.
 */
#ifndef QUEST_NAMEDVCPU_H
#define QUEST_NAMEDVCPU_H

#include <inmate/boot.h>

/* Creates them, behind the fixed ones. Prints for each its number, or why it is missing. */
void namedvcpus_init(const struct boot_info *boot);

/*
 * Returns the id of the VCPU that `word` ("vcpu=NAME") names; SCHED_NO_VCPU if no VCPU has that
 * name.
 */
int namedvcpu_find(const char *word);

/* Returns the i-th VCPU as such a word, for Tab; NULL if there are fewer. */
const char *namedvcpu_word(unsigned int i);

#endif
