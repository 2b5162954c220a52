/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of vmx_caps.c and vmx_linux.c for vmx.c. */
#ifndef QV_DRIVER_VMX_H
#define QV_DRIVER_VMX_H

struct qv_crossing;
struct qv_linux_state;

/* ---- vmx_caps.c ---- */
bool qv_vmx_present(void);
bool qv_vmx_allowed(void);			/* IA32_FEATURE_CONTROL of this CPU permits VMXON */
/* this CPU is not traced, and user interrupts are off */
bool qv_vmx_quiet(void);
u32 qv_vmx_features(void);			/* QV_FEATURE_* */
int qv_vmx_preflight(struct qv_reply *r);
/* fills in only those controls that must be 1 on this processor */
void qv_vmx_least(struct qv_mon_vmx *x);
void qv_vmx_fill(struct qv_mon_boot *b);
/* this CPU supports the features that qv_vmx_fill() recorded on the first CPU */
bool qv_vmx_alike(const struct qv_mon_boot *b);

/* ---- vmx_linux.c: on each CPU, interrupts off ---- */
/* Saves what a VM exit changes, besides what qv_crossing_save_linux() saves */
void qv_vmx_save_linux(struct qv_linux_state *s);
/* Restores what a VM exit does not load */
void qv_vmx_load_linux(const struct qv_linux_state *s);
void qv_vmx_restore_capability(void);
/* Sends this CPU the NMI that arrived for Linux in the monitor and was not injected */
void qv_vmx_nmi_again(const struct qv_crossing *c);

#endif
