// SPDX-License-Identifier: GPL-2.0-only
/* What of the driver knows AMD-V: features, obstacles, the switch. APM vol. 2, 15.4. */
#include <asm/processor.h>
#include <asm/asm.h>
#include <linux/module.h>
#include "qv.h"

#define CPUID_SVM		(1u << 2)	/* 80000001 ecx */
#define CPUID_PAGE1G		(1u << 26)	/* 80000001 edx */
#define MSR_VM_CR		0xc0010114
#define VM_CR_SVMDIS		(1u << 4)
#define MSR_SYSCFG		0xc0010010
#define SYSCFG_SME		(1u << 23)
#define MSR_EFER_		0xc0000080
#define EFER_SVME_		(1ull << 12)

u32 qv_virt_features(u32 *vendor)
{
	struct qv_regs r;
	u32 features = 0;

	*vendor = 0;
	if (qv_cpuid(0x80000000).eax < 0x8000000a || !(qv_cpuid(0x80000001).ecx & CPUID_SVM))
		return 0;
	*vendor = 1;
	r = qv_cpuid(0x8000000a);
	features |= r.edx & 1 << 0 ? QV_FEATURE_NPT : 0;
	features |= r.edx & 1 << 3 ? QV_FEATURE_NRIPS : 0;
	features |= r.edx & 1 << 7 ? QV_FEATURE_DECODE : 0;
	features |= r.edx & 1 << 6 ? QV_FEATURE_FLUSH_ASID : 0;
	features |= r.edx & 1 << 20 ? QV_FEATURE_SPEC_CTRL : 0;
	features |= qv_cpuid(0x80000008).ebx & 1 << 3 ? QV_FEATURE_INVLPGB : 0;
	features |= qv_cpuid(0x80000001).edx & CPUID_PAGE1G ? QV_FEATURE_PAGE1G : 0;
	return features;
}

static int refuse_vendor(struct qv_reply *r)
{
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		return qv_refuse(r, QV_E_NO_SVM, "use a machine with AMD-V; VT-x is not supported yet",
				 "this processor is Intel's, and this version of QV knows AMD-V only");
	return qv_refuse(r, QV_E_NO_SVM,
			 "switch SVM (AMD-V) on in the firmware setup, or use a machine that has it",
			 "this processor does not offer SVM (AMD-V)");
}

int qv_virt_preflight(struct qv_reply *r)
{
	u32 vendor, features = qv_virt_features(&vendor);

	if (!vendor)
		return refuse_vendor(r);
	if (qv_rdmsr(MSR_VM_CR) & VM_CR_SVMDIS)
		return qv_refuse(r, QV_E_SVM_DISABLED,
				 "switch SVM on in the firmware setup and start the machine again",
				 "the firmware has disabled SVM");
	if (!(features & QV_FEATURE_NPT))
		return qv_refuse(r, QV_E_NO_NPT, "use a processor with nested paging (any since 2008)",
				 "this processor has SVM but no nested paging");
	if (cpu_feature_enabled(X86_FEATURE_SME) && (qv_rdmsr(MSR_SYSCFG) & SYSCFG_SME))
		return qv_refuse(r, QV_E_UNSUPPORTED, "switch memory encryption (SME) off in the firmware setup",
				 "memory encryption (SME) is active");
	/* Here this CPU speaks for all: asking the others could take for ever. Enable asks them */
	return qv_virt_in_use() ? qv_virt_refuse_in_use(r) : 0;
}

int qv_virt_refuse_in_use(struct qv_reply *r)
{
	return qv_refuse(r, QV_E_VIRT_IN_USE, "stop its virtual machines, then: rmmod kvm_amd",
			 "another hypervisor has SVM switched on: kvm_amd is loaded");
}

bool qv_virt_in_use(void)
{
	return qv_rdmsr(MSR_EFER_) & EFER_SVME_;
}

void qv_virt_on(void)
{
	qv_wrmsr(MSR_EFER_, qv_rdmsr(MSR_EFER_) | EFER_SVME_);
}

void qv_virt_off(void)
{
	qv_wrmsr(MSR_EFER_, qv_rdmsr(MSR_EFER_) & ~EFER_SVME_);
}

/* For tests: the monitor faults while it serves this call, and answers with #GP; see QV_FAULT_* */
static int ask_for_fault(const char *text, const struct kernel_param *param)
{
	u64 nr = QV_HC_FAULT, kind;
	int error = kstrtou64(text, 0, &kind);

	if (error || !qv_takeover.enabled)
		return error ?: -ENODEV;
	asm volatile("1: vmmcall\n2:\n" _ASM_EXTABLE(1b, 2b) : "+a"(nr) : "D"(kind), "S"(0ull) : "memory");
	return 0;
}

static const struct kernel_param_ops test_fault = { .set = ask_for_fault };
module_param_cb(test_fault, &test_fault, NULL, 0200);
MODULE_PARM_DESC(test_fault, "for tests, with test_hooks=1: the monitor makes a fault of its own, of this kind");

u64 qv_hypercall(u64 nr, u64 a)
{
	u64 result;

	asm volatile("vmmcall" : "=a"(result) : "a"(nr), "D"(a) : "memory");
	return result;
}
