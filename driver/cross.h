/* SPDX-License-Identifier: GPL-2.0-only */
/* How Linux comes under the monitor and out again. Functions are called with qv_lock held. */
#ifndef QV_DRIVER_CROSS_H
#define QV_DRIVER_CROSS_H

#include <linux/types.h>
#include <qv/monitor.h>

/* ---- enable.c ---- */
int qv_enable(struct qv_reply *r, bool strict);
int qv_disable(struct qv_reply *r);

/* ---- preflight.c ---- */
/* Why enable would fail; 0 if nothing known prevents it */
int qv_preflight(struct qv_reply *r);

/* ---- outside.c: CPUs that are offline at enable ---- */
void qv_outside_gather(void);	/* brings online all that Linux lets come */
void qv_outside_return(void);	/* brings online again those that gather() had brought */
void qv_outside_park(void);	/* sends offline those that these two have brought */
u32 qv_outside_count(void);	/* CPUs that are not online */

/* ---- monitor_mem.c: qv_takeover.monitor_mem ---- */
int qv_monitor_mem_make(struct qv_reply *r);	/* after an error, too, there may be memory to free */
void qv_monitor_mem_free(void);
struct qv_mon_boot *qv_monitor_mem_boot(void);	/* before the monitor runs: hidden from Linux afterwards */

/* ---- rendezvous.c ---- */
/* Brings all CPUs under the monitor, or none. *@lost: a CPU did not come back, so nothing may be freed */
int qv_rendezvous_enter(struct qv_reply *r, bool *lost);
int qv_rendezvous_leave(struct qv_reply *r);	/* after an error some CPUs may have left: call it again */
bool qv_rendezvous_pending(void);	/* a CPU that missed the deadline may still arrive */
bool qv_rendezvous_whole(void);	/* every CPU is under the monitor: hypercalls may be made */

/* ---- nmi.c ---- */
int qv_nmi_register(void);		/* an errno of Linux's */
void qv_nmi_reset(void);		/* a new monitor counts from zero */
void qv_nmi_unregister(void);

/* ---- firmware.c ---- */
struct qv_firmware { u64 ecam_pa, ecam_len; u32 num_ioapics; };
extern struct qv_firmware qv_firmware;	/* as in qv_mon_boot; valid while enabled */
void qv_firmware_read(struct qv_mon_boot *b);
u32 qv_firmware_cpus(void);		/* CPUs that may run, as the MADT lists them; 0: there is no MADT */
bool qv_irqs_remapped(void);		/* Linux's interrupts go through an IOMMU's table */

/* ---- crossing.c: one CPU ---- */
struct qv_crossing {
	struct qv_linux_state *state;	/* in the CPU's area (monitor.h) */
	u64 area_pa, area_va;		/* the area: physical, and where the monitor sees it */
	u64 cr3, cr4, entry;		/* of the monitor */
	u64 gdt, idt;			/* the monitor's, where it sees them */
	const struct qv_mon_boot *boot;	/* as filled on the first CPU */
	bool spoil;			/* for tests: do a step that the processor refuses */
	char step[72];			/* out: what the processor refused; empty: nothing */
	u32 number;			/* out: VM-instruction error that came with it; 0: none */
};
struct qv_crossing qv_crossing_over(u32 index);	/* of this CPU, into the monitor */
struct qv_crossing qv_crossing_back(u32 index);	/* and out of it */
void qv_crossing_save_linux(struct qv_linux_state *s);	/* the registers of this CPU, interrupts off */

/* ---- virt.c: the processor's virtualization; svm.c, vmx.c and their trampolines alone know a vendor ---- */
struct qv_virt {
	const char *name, *feature, *kvm;	/* as people call it, as the CPU does, the module that would hold it */
	const char *no_virt_remedy;
	u32 vendor;			/* as in qv_status_info and qv_image_header */
	const u8 *image, *image_end;	/* the monitor; empty: this module was built without it */
	bool (*present)(void);
	u32 (*features)(void);		/* QV_FEATURE_*; only where it is present */
	int (*preflight)(struct qv_reply *r);	/* it is present: what of it is missing, or switched off? */
	bool (*in_use)(void);		/* on this CPU, by another hypervisor */
	void (*fill)(struct qv_mon_boot *b);	/* what the monitor must know of it */
	/* On a CPU with interrupts off: all that the processor may refuse; false: c->step says what */
	bool (*ready)(struct qv_crossing *c);
	void (*unready)(struct qv_crossing *c);		/* as before ready() */
	u64 (*enter)(struct qv_crossing *c);		/* 0: as a guest; else enum qv_mon_error, and as before ready() */
	u64 (*leave)(struct qv_crossing *c);		/* 0, or the monitor's refusal */
	u64 (*hypercall)(u64 nr, u64 a, u64 b);		/* QV_ME_CALL as well when it raised a fault */
};
extern const struct qv_virt qv_svm, qv_vmx;
extern const struct qv_virt *qv_virt;		/* this processor's; NULL: of a maker we do not know */

void qv_virt_choose(void);			/* when the module is loaded */
u32 qv_virt_vendor(void);			/* as in qv_status_info */
u32 qv_virt_features(void);			/* QV_FEATURE_* */
const struct qv_image_header *qv_virt_image(void);	/* NULL: this module was built without it */
int qv_virt_preflight(struct qv_reply *r);
int qv_virt_refuse_in_use(struct qv_reply *r);

#endif
