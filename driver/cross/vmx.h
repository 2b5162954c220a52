/* SPDX-License-Identifier: GPL-2.0-only */
/* What vmx_caps.c tells vmx.c. */
#ifndef QV_DRIVER_VMX_H
#define QV_DRIVER_VMX_H

bool qv_vmx_present(void);
bool qv_vmx_allowed(void);			/* IA32_FEATURE_CONTROL of this CPU lets VMXON happen */
bool qv_vmx_quiet(void);			/* no trace of this CPU, and no user interrupts */
u32 qv_vmx_features(void);			/* QV_FEATURE_* */
int qv_vmx_preflight(struct qv_reply *r);
void qv_vmx_least(struct qv_mon_vmx *x);	/* controls: only what this processor insists on */
void qv_vmx_fill(struct qv_mon_boot *b);
bool qv_vmx_alike(const struct qv_mon_boot *b);	/* what qv_vmx_fill() noted on the first CPU holds on this one */

#endif
