// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which VT-x controls this processor supports, and which of them QV needs: a table of controls,
 * checked against the capability MSRs. SDM vol. 3, appendix A (capabilities), 25.6 to 25.8
 * (controls).
 */
#include "abi/boot.h"
#include "qv.h"
#include "vmx.h"

#define MSR_FEATURE_CONTROL	0x3a
#define FEATURE_LOCKED		(1u << 0)
#define FEATURE_VMXON		(1u << 2)	/* VMXON is permitted outside SMX operation */
#define MSR_VMX_BASIC		0x480
#define BASIC_TRUE_CONTROLS	(1ull << 55)
/* MSR numbers: CR0 FIXED1, CR4 FIXED0 and CR4 FIXED1 follow this one */
#define MSR_VMX_CR0_FIXED0	0x486
#define MSR_VMX_PROC2		0x48b
#define MSR_VMX_EPT_VPID	0x48c
#define MSR_TME_ACTIVATE	0x982
#define CPUID_7_TME		(1u << 13)	/* 7 ecx */
#define CPUID_VMX		(1u << 5)	/* 1 ecx */
#define CPUID_7_PT		(1u << 25)	/* 7 ebx */
#define MSR_RTIT_CTL		0x570
#define RTIT_TRACE_EN		(1u << 0)
#define CR4_UINTR_		(1ull << 25)

enum { PIN, PROC, PROC2, EXIT, ENTRY, WORDS };

static const struct word {
	const char *name;
	/*
	 * capability MSR: its low half has the bits that must be 1, its high half those that may be
	 * 1
	 */
	u32 msr;
	u32 reserved;		/* bits of the controls that must be 1 and have no meaning */
} words[WORDS] = {
	[PIN]	= { "pin-based",		0x48d, 0x16 },
	[PROC]	= { "processor-based",		0x48e, 0x04006172 },
	[PROC2]	= { "secondary",		0x48b, 0 },
	[EXIT]	= { "VM-exit",			0x48f, 0x36dff },
	[ENTRY]	= { "VM-entry",			0x490, 0x11ff },
};

/*
 * EVERY: on for every guest; SOME: on for some guests, or at times; OFFERED: on if the processor
 * supports it
 */
enum need { EVERY, SOME, OFFERED };

static const struct control {
	u8 word, bit;
	enum need need;
	const char *name;	/* name of the control, as in the SDM */
} controls[] = {
	{ PIN, 3, EVERY, "NMI exiting" },
	{ PIN, 5, EVERY, "virtual NMIs" },
	{ PROC, 11, SOME, "RDPMC exiting" },
	{ PROC, 22, SOME, "NMI-window exiting" },
	{ PROC, 25, EVERY, "use I/O bitmaps" },
	{ PROC, 28, EVERY, "use MSR bitmaps" },
	{ PROC, 31, EVERY, "activate secondary controls" },
	{ PROC2, 1, EVERY, "enable EPT" },
	{ PROC2, 3, OFFERED, "enable RDTSCP" },
	{ PROC2, 5, EVERY, "enable VPID" },
	{ PROC2, 6, SOME, "WBINVD exiting" },
	{ PROC2, 7, EVERY, "unrestricted guest" },
	{ PROC2, 12, OFFERED, "enable INVPCID" },
	{ PROC2, 20, OFFERED, "enable XSAVES/XRSTORS" },
	{ PROC2, 26, OFFERED, "enable user wait and pause" },
	{ EXIT, 2, EVERY, "save debug controls" },
	{ EXIT, 9, EVERY, "host address-space size" },
	{ EXIT, 18, EVERY, "save IA32_PAT" },
	{ EXIT, 19, EVERY, "load IA32_PAT" },
	{ EXIT, 20, EVERY, "save IA32_EFER" },
	{ EXIT, 21, EVERY, "load IA32_EFER" },
	{ ENTRY, 2, EVERY, "load debug controls" },
	{ ENTRY, 9, SOME, "IA-32e mode guest" },
	{ ENTRY, 14, EVERY, "load IA32_PAT" },
	{ ENTRY, 15, EVERY, "load IA32_EFER" },
};

#define EPT_LEVELS_5	7
#define EPT_PAGE1G	17

/* bits of MSR_VMX_EPT_VPID */
static const struct { u32 bit; const char *name; } ept_needs[] = {
	{ 6, "EPT with 4 levels" },
	{ 14, "EPT tables in write-back memory" },
	{ 16, "EPT pages of 2 MiB" },
	{ 20, "INVEPT" },
	{ 26, "INVEPT of all contexts" },
	{ 32, "INVVPID" },
	{ 42, "INVVPID of all contexts" },
};

bool qv_vmx_present(void)
{
	return qv_cpuid(1).ecx & CPUID_VMX;
}

bool qv_vmx_allowed(void)
{
	return (~qv_rdmsr(MSR_FEATURE_CONTROL) & (FEATURE_LOCKED | FEATURE_VMXON)) == 0;
}

/* The MSRs of secondary controls exist only if this returns true */
static bool has_secondary(void)
{
	return qv_rdmsr(MSR_VMX_BASIC) & BASIC_TRUE_CONTROLS && qv_rdmsr(words[PROC].msr) >> 63;
}

static u64 ept_caps(void)
{
	u32 either = 1u << 1 | 1u << 5;		/* EPT, VPID */

	if (!has_secondary() || !(qv_rdmsr(MSR_VMX_PROC2) >> 32 & either))
		return 0;
	return qv_rdmsr(MSR_VMX_EPT_VPID);
}

static bool may_set(u32 word, u32 bit)
{
	return qv_rdmsr(words[word].msr) >> (32 + bit) & 1;
}

u32 qv_vmx_features(void)
{
	u32 features = 0;
	u64 ept = ept_caps();

	if (!ept)
		return 0;
	features |= may_set(PROC2, 1) ? QV_FEATURE_EPT : 0;
	features |= may_set(PROC2, 5) ? QV_FEATURE_VPID : 0;
	features |= may_set(PROC2, 7) ? QV_FEATURE_UNRESTRICTED : 0;
	features |= ept >> EPT_PAGE1G & 1 ? QV_FEATURE_PAGE1G : 0;
	return features;
}

static int lacks(struct qv_reply *r, u32 code, const char *what)
{
	return qv_refuse(r, code,
			 "use a processor that has it: Intel's since Westmere (2010); "
			 "in a virtual machine, have its hypervisor offer it",
			 "this processor's VT-x lacks: %s", what);
}

/* Returns the first control that is missing, or NULL */
static const struct control *missing_control(void)
{
	const struct control *c;

	for (c = controls; c < controls + ARRAY_SIZE(controls); c++)
		if (c->need != OFFERED && !may_set(c->word, c->bit))
			return c;
	return NULL;
}

static const char *missing_in_ept(void)
{
	u64 have = ept_caps();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ept_needs); i++)
		if (!(have >> ept_needs[i].bit & 1))
			return ept_needs[i].name;
	return NULL;
}

static int check_controls(struct qv_reply *r)
{
	const struct control *lacking = missing_control();
	u32 i, must[WORDS], known[WORDS];

	if (lacking)
		return lacks(r, lacking->word == PROC2 && lacking->bit == 1 ? QV_E_NO_NESTED :
			     QV_E_UNSUPPORTED, lacking->name);
	for (i = 0; i < WORDS; i++) {
		must[i] = qv_rdmsr(words[i].msr);
		known[i] = words[i].reserved;
	}
	for (i = 0; i < ARRAY_SIZE(controls); i++)
		known[controls[i].word] |= controls[i].need == SOME ? 0 : 1u << controls[i].bit;
	for (i = 0; i < WORDS; i++)
		if (must[i] & ~known[i])
			return qv_refuse(r, QV_E_UNSUPPORTED,
					 "use another processor; in a virtual machine, "
					 "another hypervisor",
					 "this processor's VT-x insists on %s controls "
					 "that QV does not want: %#x",
					 words[i].name, must[i] & ~known[i]);
	return 0;
}

/* Intel PT writes to physical addresses, which EPT does not translate, and VMXON may stop it */
static bool tracing(void)
{
	return qv_cpuid(0).eax >= 7 && qv_cpuid(7).ebx & CPUID_7_PT &&
	       qv_rdmsr(MSR_RTIT_CTL) & RTIT_TRACE_EN;
}

/*
 * With key ids the upper address bits select a key, so each page has many addresses. SDM vol. 4:
 * IA32_TME_ACTIVATE
 */
static bool key_ids(void)
{
	return qv_cpuid(0).eax >= 7 && qv_cpuid(7).ecx & CPUID_7_TME &&
	       qv_rdmsr(MSR_TME_ACTIVATE) >> 32 & 0xf;
}

bool qv_vmx_quiet(void)
{
	return !tracing() && !(qv_cr4() & CR4_UINTR_);
}

static int check_registers(struct qv_reply *r)
{
	u64 cr0 = qv_cr0();

	if (key_ids())
		return qv_refuse(r, QV_E_UNSUPPORTED,
				 "switch multi-key memory encryption (MKTME) off "
				 "in the firmware setup",
				 "memory is encrypted with several keys: "
				 "each page has many addresses");

	if (qv_cr4() & CR4_UINTR_)
		return qv_refuse(r, QV_E_UNSUPPORTED, "boot a kernel that does not use them",
				 "Linux uses user interrupts (CR4.UINTR), "
				 "which no monitor can filter");
	if (tracing())
		return qv_refuse(r, QV_E_UNSUPPORTED,
				 "end what traces: perf record -e intel_pt, and the like",
				 "this CPU is being traced (Intel PT)");
	if (~cr0 & qv_rdmsr(MSR_VMX_CR0_FIXED0) || cr0 & ~qv_rdmsr(MSR_VMX_CR0_FIXED0 + 1))
		return qv_refuse(r, QV_E_UNSUPPORTED,
				 "report this with the processor's model (/proc/cpuinfo)",
				 "Linux runs with a CR0 (%#llx) "
				 "that this processor's VT-x does not allow",
				 cr0);
	return 0;
}

static int check_firmware(struct qv_reply *r)
{
	u64 control = qv_rdmsr(MSR_FEATURE_CONTROL);

	if (!(control & FEATURE_LOCKED))
		return qv_refuse(r, QV_E_VIRT_DISABLED,
				 "switch VT-x on in the firmware setup, or boot "
				 "a kernel that does what Debian's do (CONFIG_IA32_FEAT_CTL)",
				 "neither firmware nor Linux has said whether VT-x may be used "
				 "(IA32_FEATURE_CONTROL is not locked)");
	if (!(control & FEATURE_VMXON))
		return qv_refuse(r, QV_E_VIRT_DISABLED,
				 "switch VT-x (Intel Virtualization Technology) on "
				 "in the firmware setup, then switch the machine off and on",
				 "the firmware has disabled VT-x, "
				 "and locked that (IA32_FEATURE_CONTROL is %#llx)",
				 control);
	return 0;
}

int qv_vmx_preflight(struct qv_reply *r)
{
	int error = check_firmware(r);

	if (error)
		return error;
	if (!has_secondary())
		return lacks(r, QV_E_NO_NESTED, "true controls and secondary controls");
	error = check_controls(r);
	if (error)
		return error;
	if (missing_in_ept())
		return lacks(r, QV_E_NO_NESTED, missing_in_ept());
	return check_registers(r);
}

static u32 word_of(u32 word)
{
	u32 i, value = qv_rdmsr(words[word].msr);

	for (i = 0; i < ARRAY_SIZE(controls); i++)
		if (controls[i].word == word && controls[i].need != SOME &&
		    may_set(word, controls[i].bit))
			value |= 1u << controls[i].bit;
	return value;
}

void qv_vmx_least(struct qv_mon_vmx *x)
{
	*x = (struct qv_mon_vmx){
		.revision = qv_rdmsr(MSR_VMX_BASIC) & 0x7fffffff,
		.pin = qv_rdmsr(words[PIN].msr), .proc = qv_rdmsr(words[PROC].msr),
		.proc2 = qv_rdmsr(words[PROC2].msr),
		.exit = qv_rdmsr(words[EXIT].msr), .entry = qv_rdmsr(words[ENTRY].msr),
	};
}

static void fill_words(struct qv_mon_vmx *x)
{
	qv_vmx_least(x);
	x->pin = word_of(PIN);
	x->proc = word_of(PROC);
	x->proc2 = word_of(PROC2);
	x->exit = word_of(EXIT);
	x->entry = word_of(ENTRY);
}

static u32 levels(u32 phys_bits)
{
	return phys_bits > 48 && ept_caps() >> EPT_LEVELS_5 & 1 ? 5 : 4;
}

static u32 page1g(void)
{
	return ept_caps() >> EPT_PAGE1G & 1;
}

void qv_vmx_fill(struct qv_mon_boot *b)
{
	fill_words(&b->vmx);
	b->ept = 1;
	b->nested_levels = levels(b->phys_bits);
	b->page1g = page1g();
}

bool qv_vmx_alike(const struct qv_mon_boot *b)
{
	struct qv_mon_vmx x;

	if (!has_secondary() || missing_control() || missing_in_ept())
		return false;
	fill_words(&x);
	return !memcmp(&x, &b->vmx, sizeof(x)) && levels(b->phys_bits) == b->nested_levels &&
	       page1g() >= b->page1g;
}
