// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "machine.h"

#define LEAF_EXTENDED	0x80000000
#define LEAF_BRAND	0x80000002
#define LEAF_POWER	0x80000007
#define LEAF_HYPERVISOR	0x40000000

#define ECX_X2APIC	(1u << 21)
#define ECX_DEADLINE	(1u << 24)
#define ECX_HYPERVISOR	(1u << 31)
#define EDX_NO_EXECUTE	(1u << 20)	/* leaf 0x80000001 */
#define EDX_INVARIANT	(1u << 8)	/* leaf 0x80000007 */

struct machine machine;

static const struct feature {
	const uint32_t *word;
	uint8_t bit;
	const char *name;
} features[] = {
	{ &machine.features_edx, 0, "fpu" },	{ &machine.features_edx, 4, "tsc" },
	{ &machine.features_edx, 5, "msr" },	{ &machine.features_edx, 6, "pae" },
	{ &machine.features_edx, 9, "apic" },	{ &machine.features_edx, 11, "sep" },
	{ &machine.features_edx, 12, "mtrr" },	{ &machine.features_edx, 13, "pge" },
	{ &machine.features_edx, 16, "pat" },	{ &machine.features_edx, 25, "sse" },
	{ &machine.features_edx, 26, "sse2" },	{ &machine.features_ecx, 0, "sse3" },
	{ &machine.features_ecx, 3, "monitor" }, { &machine.features_ecx, 5, "vmx" },
	{ &machine.features_ecx, 9, "ssse3" },	{ &machine.features_ecx, 13, "cx16" },
	{ &machine.features_ecx, 17, "pcid" },	{ &machine.features_ecx, 19, "sse4.1" },
	{ &machine.features_ecx, 20, "sse4.2" }, { &machine.features_ecx, 21, "x2apic" },
	{ &machine.features_ecx, 23, "popcnt" }, { &machine.features_ecx, 24, "tsc_deadline" },
	{ &machine.features_ecx, 25, "aes" },	{ &machine.features_ecx, 26, "xsave" },
	{ &machine.features_ecx, 28, "avx" },	{ &machine.features_ecx, 30, "rdrand" },
	{ &machine.features_ecx, 31, "hypervisor" },
	{ &machine.features_ebx7, 0, "fsgsbase" }, { &machine.features_ebx7, 5, "avx2" },
	{ &machine.features_ebx7, 7, "smep" },	{ &machine.features_ebx7, 16, "avx512f" },
	{ &machine.features_ebx7, 20, "smap" },	{ &machine.features_edx_ext, 11, "syscall" },
	{ &machine.features_edx_ext, 20, "nx" }, { &machine.features_edx_ext, 26, "1gb_pages" },
	{ &machine.features_edx_ext, 27, "rdtscp" }, { &machine.features_edx_ext, 29, "long_mode" },
	{ &machine.features_ecx_ext, 2, "svm" },
};

void machine_features(void (*each)(const char *name))
{
	unsigned int i;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (*features[i].word >> features[i].bit & 1)
			each(features[i].name);
}

/* Writes three registers to memory as 12 characters. */
static void spell(char *text, uint32_t a, uint32_t b, uint32_t c)
{
	memcpy(text, &a, 4);
	memcpy(text + 4, &b, 4);
	memcpy(text + 8, &c, 4);
	text[12] = 0;
}

static void read_version(void)
{
	struct cpuid_regs r = cpuid(1, 0);

	machine.stepping = r.eax & 0xF;
	machine.model = r.eax >> 4 & 0xF;
	machine.family = r.eax >> 8 & 0xF;
	if (machine.family == 6 || machine.family == 15)
		machine.model |= r.eax >> 12 & 0xF0;
	if (machine.family == 15)
		machine.family += r.eax >> 20 & 0xFF;
	machine.features_ecx = r.ecx;
	machine.features_edx = r.edx;
	machine.x2apic = r.ecx & ECX_X2APIC;
	machine.tsc_deadline = r.ecx & ECX_DEADLINE;
}

static void read_brand(uint32_t last)
{
	struct cpuid_regs r;
	char *from = machine.brand;
	uint32_t leaf;

	if (last < LEAF_BRAND + 2)
		return;
	for (leaf = 0; leaf < 3; leaf++) {
		r = cpuid(LEAF_BRAND + leaf, 0);
		memcpy(machine.brand + 16 * leaf, &r, 16);
	}
	machine.brand[MACHINE_TEXT - 1] = 0;
	while (*from == ' ')
		from++;
	memmove(machine.brand, from, strlen(from) + 1);
}

static void read_extended(void)
{
	uint32_t last = cpuid(LEAF_EXTENDED, 0).eax;
	struct cpuid_regs r;

	if (last > LEAF_EXTENDED) {
		r = cpuid(LEAF_EXTENDED + 1, 0);
		machine.features_ecx_ext = r.ecx;
		machine.features_edx_ext = r.edx;
		machine.no_execute = r.edx & EDX_NO_EXECUTE;
	}
	if (last >= LEAF_POWER)
		machine.invariant_tsc = cpuid(LEAF_POWER, 0).edx & EDX_INVARIANT;
	read_brand(last);
}

void machine_identify(void)
{
	struct cpuid_regs r = cpuid(0, 0);
	uint32_t last = r.eax;

	spell(machine.vendor, r.ebx, r.edx, r.ecx);
	read_version();
	if (last >= 7) {
		r = cpuid(7, 0);
		machine.features_ebx7 = r.ebx;
		machine.features_ecx7 = r.ecx;
	}
	read_extended();
	if (machine.features_ecx & ECX_HYPERVISOR) {
		r = cpuid(LEAF_HYPERVISOR, 0);
		machine.hypervisor_leaf = r.eax;
		spell(machine.hypervisor, r.ebx, r.ecx, r.edx);
	}
}
