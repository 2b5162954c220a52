// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the virtualization of this processor, and makes hypercalls. All differences between
 * vendors are in their struct qv_virt: svm.c with trampoline_svm.S, vmx.c with trampoline_vmx.S.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <asm/processor.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/image.h"
#include "qv.h"
#include "again.h"
#include "cross.h"

static const struct {
	char maker[13];			/* the vendor's name, as in CPUID leaf 0 */
	const struct qv_virt *virt;
} virt_makers[] = {
	{ "AuthenticAMD", &qv_svm },
	{ "HygonGenuine", &qv_svm },
	{ "GenuineIntel", &qv_vmx },
	{ "CentaurHauls", &qv_vmx },
	{ "  Shanghai  ", &qv_vmx },
};

const struct qv_virt *qv_virt;
/* read when the module is loaded: the monitor may hide them later */
static u32 virt_features;
static bool virt_present;

static void virt_name_maker(char maker[13])
{
	struct qv_regs r = qv_cpuid(0);

	memcpy(maker, &r.ebx, 4);
	memcpy(maker + 4, &r.edx, 4);
	memcpy(maker + 8, &r.ecx, 4);
	maker[12] = 0;
}

void qv_virt_choose(void)
{
	char maker[13];
	u32 i;

	virt_name_maker(maker);
	for (i = 0; i < ARRAY_SIZE(virt_makers); i++)
		if (!memcmp(maker, virt_makers[i].maker, sizeof(maker)))
			qv_virt = virt_makers[i].virt;
	virt_present = qv_virt && qv_virt->present();
	virt_features = virt_present ? qv_virt->features() : 0;
	if (virt_present && qv_cpuid(1).ecx & CPUID_X2APIC)
		virt_features |= QV_FEATURE_X2APIC;
}

u32 qv_virt_features(void)
{
	return virt_features;
}

u32 qv_virt_vendor(void)
{
	return virt_present ? qv_virt->vendor : 0;
}

const struct qv_image_header *qv_virt_image(void)
{
	if (!qv_virt || qv_virt->image_end - qv_virt->image < sizeof(struct qv_image_header))
		return NULL;
	return (const void *)qv_virt->image;
}

int qv_virt_refuse_in_use(struct qv_reply *r)
{
	char remedy[64];

	scnprintf(remedy, sizeof(remedy), "stop its virtual machines, then: rmmod %s",
		  qv_virt->kvm);
	return qv_refuse(r, QV_E_VIRT_IN_USE, remedy,
			 "another hypervisor has %s switched on: %s is loaded", qv_virt->feature,
			 qv_virt->kvm);
}

int qv_virt_preflight(struct qv_reply *r)
{
	char maker[13];
	int error;

	virt_name_maker(maker);
	if (!qv_virt)
		return qv_refuse(r, QV_E_NO_VIRT, "use a machine with AMD-V or Intel VT-x",
				 "this processor's maker (%s) "
				 "is not one whose virtualization QV knows",
				 maker);
	if (!virt_present)
		return qv_refuse(r, QV_E_NO_VIRT, qv_virt->no_virt_remedy,
				 "this processor does not offer %s (%s)", qv_virt->feature,
				 qv_virt->name);
	error = qv_virt->preflight(r);
	if (error)
		return error;
	/* Checks this CPU only, since an IPI may hang; qv_take_over() checks all */
	return qv_virt->in_use() ? qv_virt_refuse_in_use(r) : 0;
}

u64 qv_hypercall(u64 nr, u64 a)
{
	return qv_virt->hypercall(nr, a, 0);
}

u64 qv_manage_by(u64 (*try)(void *with), void *with)
{
	u64 begin = ktime_get_ns(), end = begin + QV_DEADLINE_MS * NSEC_PER_MSEC, result;

	for (;;) {
		result = try(with);
		if (!call_again(result, begin, end))
			return result;
		usleep_range(20, 50);
		begin = ktime_get_ns();
	}
}

struct virt_call {
	u64 nr, a;
};

static u64 virt_try(void *with)
{
	const struct virt_call *call = with;

	return qv_hypercall(call->nr, call->a);
}

u64 qv_manage(u64 nr, u64 a)
{
	struct virt_call call = { nr, a };

	return qv_manage_by(virt_try, &call);
}

/* For tests: the monitor faults while it handles this call, and answers with #GP; see QV_FAULT_* */
static int virt_ask_for_fault(const char *text, const struct kernel_param *param)
{
	u64 kind;
	int error = kstrtou64(text, 0, &kind);

	if (error || !qv_takeover.enabled)
		return error ?: -ENODEV;
	qv_virt->hypercall(QV_HC_FAULT, kind, 0);
	return 0;
}

static const struct kernel_param_ops test_fault = { .set = virt_ask_for_fault };
module_param_cb(test_fault, &test_fault, NULL, 0200);
MODULE_PARM_DESC(test_fault,
		 "for tests, with test_hooks=1: "
		 "the monitor makes a fault of its own, of this kind");
