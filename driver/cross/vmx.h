/* SPDX-License-Identifier: GPL-2.0-only */
/* vmx_caps.c for vmx.c. */
#ifndef QV_DRIVER_VMX_H
#define QV_DRIVER_VMX_H

bool qv_vmx_present(void);
bool qv_vmx_allowed(void);			/* IA32_FEATURE_CONTROL of this CPU permits VMXON */
/* this CPU is not traced, and user interrupts are off */
bool qv_vmx_quiet(void);
u32 qv_vmx_features(void);			/* QV_FEATURE_* */
int qv_vmx_preflight(struct qv_reply *r);
/* only the controls that must be 1 on this processor */
void qv_vmx_least(struct qv_mon_vmx *x);
void qv_vmx_fill(struct qv_mon_boot *b);
/* this CPU supports what qv_vmx_fill() recorded on the first one */
bool qv_vmx_alike(const struct qv_mon_boot *b);

#endif
