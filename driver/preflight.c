// SPDX-License-Identifier: GPL-2.0-only
/* Can this machine run QV now? Each obstacle is named, with its remedy. */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/cpumask.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include "qv.h"

#define MSR_VM_CR		0xc0010114
#define VM_CR_SVMDIS		(1u << 4)
#define MSR_EFER_		0xc0000080
#define EFER_SVME_		(1u << 12)

u32 qv_features(u32 *vendor)
{
	u32 features = 0, edx;

	*vendor = 0;
	if (qv_cpuid(0x80000000).eax < 0x8000000a || !(qv_cpuid(0x80000001).ecx & 1 << 2))
		return 0;
	*vendor = 1;
	edx = qv_cpuid(0x8000000a).edx;
	features |= edx & 1 << 0 ? QV_FEATURE_NPT : 0;
	features |= edx & 1 << 3 ? QV_FEATURE_NRIPS : 0;
	features |= edx & 1 << 7 ? QV_FEATURE_DECODE : 0;
	features |= edx & 1 << 6 ? QV_FEATURE_FLUSH_ASID : 0;
	features |= qv_cpuid(0x80000001).edx & 1 << 26 ? QV_FEATURE_PAGE1G : 0;
	return features;
}

int qv_refuse_svme(struct qv_reply *r)
{
	return qv_refuse(r, QV_E_VIRT_IN_USE, "stop its virtual machines, then: rmmod kvm_amd",
			 "another hypervisor has SVM switched on: kvm_amd is loaded");
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

int qv_preflight(struct qv_reply *r)
{
	u32 vendor, features = qv_features(&vendor);

	if (!vendor)
		return refuse_vendor(r);
	if (qv_rdmsr(MSR_VM_CR) & VM_CR_SVMDIS)
		return qv_refuse(r, QV_E_SVM_DISABLED,
				 "switch SVM on in the firmware setup and start the machine again",
				 "the firmware has disabled SVM");
	if (!(features & QV_FEATURE_NPT))
		return qv_refuse(r, QV_E_NO_NPT, "use a processor with nested paging (any since 2008)",
				 "this processor has SVM but no nested paging");
	if (num_online_cpus() > QV_MON_CPUS)
		return qv_refuse(r, QV_E_TOO_MANY, "boot with fewer CPUs (maxcpus=64)",
				 "%u CPUs are online; this version of QV handles %u",
				 num_online_cpus(), QV_MON_CPUS);
	if (cpu_feature_enabled(X86_FEATURE_SME) && (qv_rdmsr(0xc0010010) & 1 << 23))
		return qv_refuse(r, QV_E_UNSUPPORTED, "switch memory encryption (SME) off in the firmware setup",
				 "memory encryption (SME) is active");
	/* Here this CPU must speak for all: asking the others could take for ever. Enable asks them */
	if (qv_rdmsr(MSR_EFER_) & EFER_SVME_)
		return qv_refuse_svme(r);
	return 0;
}
