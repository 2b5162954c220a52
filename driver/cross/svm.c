// SPDX-License-Identifier: GPL-2.0-only
/* AMD-V: its features, obstacles to its use, and EFER.SVME. APM vol. 2, 15.4. */
#include <asm/asm.h>
#include <asm/processor.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "abi/boot.h"
#include "abi/errors.h"
#include "abi/linux_state.h"
#include "qv.h"
#include "cross.h"

#define CPUID_SVM		(1u << 2)	/* 80000001 ecx */
#define CPUID_PAGE1G		(1u << 26)	/* 80000001 edx */
#define MSR_VM_CR		0xc0010114
#define VM_CR_SVMDIS		(1u << 4)
#define MSR_SYSCFG		0xc0010010
#define SYSCFG_SME		(1u << 23)
#define EFER_SVME_		(1ull << 12)

/* trampoline_svm.S */
extern char qv_svm_leave[];
u64 qv_svm_cross(void *state, u64 cr3, u64 entry, u64 pcpu, u64 cr4, u32 back);
extern const u8 qv_image_amd[], qv_image_amd_end[];

static bool svm_present(void)
{
	return qv_cpuid(0x80000000).eax >= 0x8000000a && qv_cpuid(0x80000001).ecx & CPUID_SVM;
}

static u32 svm_features(void)
{
	struct qv_regs r;
	u32 features = 0;

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

static int svm_preflight(struct qv_reply *r)
{
	if (qv_rdmsr(MSR_VM_CR) & VM_CR_SVMDIS)
		return qv_refuse(r, QV_E_VIRT_DISABLED,
				 "switch SVM on in the firmware setup and start the machine again",
				 "the firmware has disabled SVM");
	if (!(svm_features() & QV_FEATURE_NPT))
		return qv_refuse(r, QV_E_NO_NESTED,
				 "use a processor with nested paging (any since 2008)",
				 "this processor has SVM but no nested paging");
	if (cpu_feature_enabled(X86_FEATURE_SME) && (qv_rdmsr(MSR_SYSCFG) & SYSCFG_SME))
		return qv_refuse(r, QV_E_UNSUPPORTED,
				 "switch memory encryption (SME) off in the firmware setup",
				 "memory encryption (SME) is active");
	return 0;
}

static bool svm_in_use(void)
{
	return qv_rdmsr(QV_MSR_EFER) & EFER_SVME_;
}

static void svm_fill(struct qv_mon_boot *b)
{
	u32 have = svm_features();

	b->nested_levels = b->levels;
	b->next_rip = !!(have & QV_FEATURE_NRIPS);
	b->decode = !!(have & QV_FEATURE_DECODE);
	b->invlpgb = !!(have & QV_FEATURE_INVLPGB);
	b->spec_ctrl = !!(have & QV_FEATURE_SPEC_CTRL);
	b->page1g = !!(have & QV_FEATURE_PAGE1G);
	b->tramp_va = (u64)qv_svm_leave & PAGE_MASK;
	b->tramp_pa = (u64)vmalloc_to_pfn(qv_svm_leave) << PAGE_SHIFT;
	b->tramp_leave = (u64)qv_svm_leave;
}

/* svm_cross() sets EFER.SVME, so nothing is prepared here and the processor can refuse nothing */
static bool svm_ready(struct qv_crossing *c)
{
	return true;
}

static void svm_unready(struct qv_crossing *c)
{
}

static u64 svm_cross(struct qv_crossing *c)
{
	u64 error;

	BUILD_BUG_ON(offsetof(struct qv_linux_state, rsp) != 0x00 ||
		     offsetof(struct qv_linux_state, rip) != 0x08 ||
		     offsetof(struct qv_linux_state, rflags) != 0x10);
	qv_wrmsr(QV_MSR_EFER, qv_rdmsr(QV_MSR_EFER) | EFER_SVME_);
	error = qv_svm_cross(c->state, c->cr3, c->entry, c->area_va, c->cr4, 0);
	if (error)
		qv_wrmsr(QV_MSR_EFER, qv_rdmsr(QV_MSR_EFER) & ~EFER_SVME_);
	return error;
}

static u64 svm_cross_back(struct qv_crossing *c)
{
	u64 error = qv_svm_cross(NULL, 0, 0, 0, 0, 1);

	if (!error)
		qv_wrmsr(QV_MSR_EFER, qv_rdmsr(QV_MSR_EFER) & ~EFER_SVME_);
	return error;
}

static u64 svm_hypercall(u64 nr, u64 a, u64 b)
{
	asm volatile("1: vmmcall\n"
		     "	jmp 3f\n"
		     "2: mov %[none], %%eax\n"
		     "3:\n" _ASM_EXTABLE(1b, 2b)
		     : "+a"(nr) : "D"(a), "S"(b), [none] "i"(QV_ME_CALL) : "memory");
	return nr;
}

const struct qv_virt qv_svm = {
	.name = "AMD-V", .feature = "SVM", .kvm = "kvm_amd", .vendor = 1,
	.no_virt_remedy =
		"switch SVM (AMD-V) on in the firmware setup, or use a machine that has it",
	.image = qv_image_amd, .image_end = qv_image_amd_end,
	.present = svm_present, .features = svm_features, .preflight = svm_preflight,
	.in_use = svm_in_use, .fill = svm_fill, .ready = svm_ready, .unready = svm_unready,
	.cross = svm_cross, .cross_back = svm_cross_back, .hypercall = svm_hypercall,
};
