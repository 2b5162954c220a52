/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Describes the machine that Quest runs on. It is read once at boot, since each CPUID in a cell may
 * cause an exit.
 */
#ifndef QUEST_MACHINE_H
#define QUEST_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/boot.h>

#define MACHINE_TEXT	49

struct machine {
	struct boot_info boot;
	/* the machine has no info page, so Quest is not in a cell */
	bool alone;
	bool x2apic;
	bool tsc_deadline;
	bool invariant_tsc;
	bool no_execute;		/* page table entries have an NX bit */
	uint32_t tsc_khz;
	uint32_t family, model, stepping;
	uint32_t features_ecx, features_edx, features_ebx7, features_ecx7, features_ecx_ext,
		features_edx_ext;
	uint64_t boot_tsc;		/* TSC at the start of the kernel */
	char vendor[13];
	char brand[MACHINE_TEXT];
	char hypervisor[13];		/* name of the hypervisor; "" if CPUID reports none */
	uint32_t hypervisor_leaf;	/* highest CPUID leaf of the range from 0x40000000 on */
};

extern struct machine machine;

/* Fills in the fields that CPUID reports. */
void machine_identify(void);

/* Calls `each` with the name of every feature that the CPU has. */
void machine_features(void (*each)(const char *name));

#endif
