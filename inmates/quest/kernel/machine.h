/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine that Quest runs on, read once at boot: in a cell each CPUID may cost an exit. */
#ifndef QUEST_MACHINE_H
#define QUEST_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/boot.h>

#define MACHINE_TEXT	49

struct machine {
	struct boot_info boot;
	bool alone;			/* not in a cell */
	bool x2apic;
	bool tsc_deadline;
	bool invariant_tsc;
	bool no_execute;		/* page table entries have an NX bit */
	uint32_t tsc_khz;
	uint32_t family, model, stepping;
	uint32_t features_ecx, features_edx, features_ebx7, features_ecx7, features_ecx_ext,
		features_edx_ext;
	uint64_t boot_tsc;		/* TSC at start */
	char vendor[13];
	char brand[MACHINE_TEXT];
	char hypervisor[13];		/* "" if CPUID reports none */
	uint32_t hypervisor_leaf;	/* highest leaf from 0x40000000 on */
};

extern struct machine machine;

/* Fills in all that CPUID reports. */
void machine_identify(void);

/* Calls `each` with the name of every feature that the CPU has. */
void machine_features(void (*each)(const char *name));

#endif
