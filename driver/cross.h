/* SPDX-License-Identifier: GPL-2.0-only */
/* How Linux comes under the monitor and out again. Functions are called with qv_lock held. */
#ifndef QV_DRIVER_CROSS_H
#define QV_DRIVER_CROSS_H

#include <linux/types.h>
#include "abi/boot.h"
#include "abi/image.h"
#include "abi/linux_state.h"

/* ---- enable.c ---- */
int qv_enable(struct qv_reply *r, u32 flags);	/* QV_ENABLE_* */
int qv_disable(struct qv_reply *r);

/* ---- preflight.c ---- */
/* Why enable would fail; 0 if nothing known prevents it */
int qv_preflight(struct qv_reply *r);

/* ---- outside.c: CPUs that are offline at enable ---- */
void qv_outside_gather(void);	/* brings online each CPU that Linux permits */
void qv_outside_return(void);	/* brings online again the CPUs that gather() had brought */
/* sends offline the CPUs that the two functions above brought online */
void qv_outside_park(void);
/* @kept: CPU @cpu went offline, and is to come for disable as those that were offline at enable */
void qv_outside_keep(u32 cpu, bool kept);
u32 qv_outside_count(void);	/* CPUs that are not online */

/* ---- monitor_mem.c: qv_takeover.monitor_mem ---- */
/* even after an error there may be memory to free */
int qv_monitor_mem_make(struct qv_reply *r);
void qv_monitor_mem_free(void);
/* call only before the monitor runs: afterwards the memory is hidden from Linux */
struct qv_mon_boot *qv_monitor_mem_boot(void);

/* ---- takeover.c ---- */
/*
 * Brings all CPUs under the monitor, or none. *@lost: a CPU did not come back, so nothing may be
 * freed
 */
int qv_take_over(struct qv_reply *r, bool *lost);
/* after an error some CPUs may have left: call this function again */
int qv_give_back(struct qv_reply *r);
bool qv_takeover_pending(void);	/* a CPU that missed the deadline may still arrive */
bool qv_takeover_whole(void);	/* every CPU is under the monitor, so hypercalls are possible */

/* ---- nmi.c ---- */
int qv_nmi_register(void);		/* returns an errno */
/* forgets the NMIs counted so far, since a new monitor counts from zero */
void qv_nmi_reset(void);
void qv_nmi_unregister(void);

/* ---- ipi.c: direct IPIs; the calls about a CPU come without qv_lock ---- */
int qv_ipi_register(void);		/* returns an errno */
void qv_ipi_unregister(void);
int qv_ipi_cpu_comes(u32 cpu);		/* before its INIT; returns an errno */
void qv_ipi_cpu_went(u32 cpu);		/* it is offline, or did not come */

/* ---- firmware.c ---- */
struct qv_firmware { u64 ecam_pa, ecam_len; u32 num_ioapics; };
/* the same data as in qv_mon_boot; valid while QV is enabled */
extern struct qv_firmware qv_firmware;
void qv_firmware_read(struct qv_mon_boot *b);
/* CPUs that may run, as the MADT lists them; 0: there is no MADT */
u32 qv_firmware_cpus(void);
bool qv_irqs_remapped(void);		/* Linux's interrupts go through an IOMMU's table */

/* ---- amdvi.c ---- */
struct instance;
/* Lists the units of AMD-Vi. Returns why the monitor cannot take them, or NULL */
const char *qv_amdvi_read(struct qv_mon_boot *b);
/* Writes the list of devices into the page of @inst for it. Call after iommu_tables() */
void qv_amdvi_list(struct instance *inst);

/* ---- iommu.c ---- */
/* Fills in .iommus, or sets qv_iommu_obstacle: the reason why the IOMMU stays with Linux */
void qv_iommu_read(struct qv_mon_boot *b);
extern const char *qv_iommu_obstacle;
/* The IOMMU stays with Linux, for the reason @why */
void qv_iommu_drop(struct qv_mon_boot *b, const char *why);
/* Linux's tables must be trusted, for the reason @why: no unit nests them */
void qv_iommu_trust(struct qv_mon_boot *b, const char *why);
void qv_iommu_take(void);		/* call right after enable; sets qv_takeover.iommu */
int qv_iommu_give(struct qv_reply *r);	/* call right before disable */

/* ---- crossing.c: one CPU ---- */
struct qv_crossing {
	/* this CPU's struct qv_linux_state, in the CPU's area (abi/layout.h) */
	struct qv_linux_state *state;
	/* address of the CPU's area: physical, and virtual in the monitor */
	u64 area_pa, area_va;
	u64 cr3, cr4, entry;		/* the monitor's CR3, CR4 and entry point */
	u64 gdt, idt;			/* the monitor's GDT and IDT: virtual addresses there */
	const struct qv_mon_boot *boot;	/* boot data, as filled in on the first CPU */
	/* for tests: the CPU makes a step that the processor refuses */
	bool spoil;
	char step[72];			/* out: the step that the processor refused, or empty */
	u32 number;			/* out: the VM-instruction error of that step, or 0 */
};
struct qv_crossing qv_crossing_over(u32 index);	/* data for this CPU's way into the monitor */
struct qv_crossing qv_crossing_back(u32 index);	/* data for this CPU's way back to Linux */
/* the registers of this CPU, interrupts off */
void qv_crossing_save_linux(struct qv_linux_state *s);

/*
 * ---- virt.c: the processor's virtualization; svm.c, vmx.c and their trampolines alone know a
 * vendor ----
 */
struct qv_virt {
	/* product name, CPUID feature, KVM module that may be using it */
	const char *name, *feature, *kvm;
	const char *no_virt_remedy;
	u32 vendor;			/* the vendor, as in qv_status_info and qv_image_header */
	/* the image of the monitor; empty: this module was built without it */
	const u8 *image, *image_end;
	bool (*present)(void);
	/* returns QV_FEATURE_*; called only if virtualization is present */
	u32 (*features)(void);
	/* virtualization is present: refuses if a part is missing or disabled */
	int (*preflight)(struct qv_reply *r);
	/* true if another hypervisor uses virtualization on this CPU */
	bool (*in_use)(void);
	/* adds facts about the processor that the monitor must know */
	void (*fill)(struct qv_mon_boot *b);
	/*
	 * Does every step that the processor may refuse. Call on each CPU, with interrupts off.
	 * Returns false if the processor refused a step, which c->step names
	 */
	bool (*ready)(struct qv_crossing *c);
	void (*unready)(struct qv_crossing *c);		/* undoes ready() */
	/* Returns 0 as a guest. Otherwise undoes ready() and returns enum qv_mon_error */
	u64 (*cross)(struct qv_crossing *c);
	u64 (*cross_back)(struct qv_crossing *c);	/* returns 0, or the monitor's refusal */
	u64 (*hypercall)(u64 nr, u64 a, u64 b);		/* QV_ME_CALL if the instruction faulted */
};
extern const struct qv_virt qv_svm, qv_vmx;
/* the virtualization of this processor; NULL if its maker is unknown */
extern const struct qv_virt *qv_virt;

void qv_virt_choose(void);			/* called when the module is loaded */
u32 qv_virt_vendor(void);			/* the vendor, as in qv_status_info */
u32 qv_virt_features(void);			/* QV_FEATURE_* */
/* returns the image's head; NULL: this module was built without the image */
const struct qv_image_header *qv_virt_image(void);
int qv_virt_preflight(struct qv_reply *r);
int qv_virt_refuse_in_use(struct qv_reply *r);

#endif
