/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VCPUs of the command line (vcpuword.h). They belong to the kernel and are never destroyed. A
 * program can be started on such a VCPU by its name. A word with the name of a fixed VCPU (vcpu.h)
 * changes its parameters, or (`none`) takes its budget away. The data is written once, at boot.
 */
#ifndef QUEST_NAMEDVCPU_H
#define QUEST_NAMEDVCPU_H

#include <inmate/boot.h>

/*
 * Creates the named VCPUs, with ids after those of the fixed VCPUs. Prints the id of each VCPU, or
 * why it was not created.
 */
void namedvcpus_init(const struct boot_info *boot);

/*
 * Returns the id of the VCPU that `word` ("vcpu=NAME") names; SCHED_NO_VCPU if no VCPU has that
 * name.
 */
int namedvcpu_find(const char *word);

/* Returns the word of the i-th VCPU, for completion by Tab; NULL if there are fewer VCPUs. */
const char *namedvcpu_word(unsigned int i);

#endif
