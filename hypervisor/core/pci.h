/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI functions of cells. cell/pci.c: a cell's own accesses. manage/pci.c: giving and taking back.
 * front/pci.c, front/pci_guard.c: Linux's accesses.
 */
#ifndef QV_PCI_H
#define QV_PCI_H

#include <qv/monitor.h>
#include "pci_filter.h"

#define PCI_CAPS_MAX	48	/* in 256 bytes there is room for no more */
#define PCI_RULES	(12 * QV_MON_DEVICES)

struct instance;
struct pcpu;

struct pci_table {		/* MSI-X; physical = guest-physical addresses */
	u64 start, end;		/* of the entries */
	u64 pages, pages_len;	/* what the cell may only read; 0: there is no table */
};

struct pci_cell {		/* in the cell's instance: what its exits need */
	u32 num_rules, reserved;
	struct pci_rule rules[PCI_RULES];
	struct pci_table tables[QV_MON_DEVICES];
};

/* device.c: a device's page in this CPU's window; one aligned dword of it */
volatile void *device_window(struct pcpu *cpu, u64 pa);
u32 device_read(struct pcpu *cpu, u64 pa);
void device_write(struct pcpu *cpu, u64 pa, u32 value);

/* manage/pci.c: the manager. Checks of inst->req; 0 or enum qv_mon_error */
u64 pci_check(const struct instance *inst, u32 caller);
u64 pci_prepare(const struct instance *inst);
int pci_map_cell(struct pcpu *cpu, struct instance *cell);
bool pci_still_ours(const struct qv_mon_create *q);	/* two cells may have been created with one range */
/* After pci_take(true): Linux cannot move them any more. Are they where pci_check() found them? */
bool pci_still_there(struct pcpu *cpu, const struct qv_mon_create *q);
void pci_take(const struct qv_mon_create *q, bool take);	/* from, or back to, the front end */
void pci_begin(struct pcpu *cpu, const struct instance *cell);	/* before its CPUs start */
void pci_quiet(struct pcpu *cpu, const struct qv_mon_create *q);	/* after they have stopped */

/* front/pci.c */
/* The function of a running or stopped cell with this number; NULL: Linux's, or nobody's */
const struct qv_mon_device *pci_given(u32 bdf);
/* Linux's write to ECAM; false: not one that is known */
bool pci_config_page(u64 gpa);
bool pci_config_store(struct pcpu *cpu, u64 gpa);

/* front/config.c: one dword of a function's config space, by ECAM or, without it, by ports */
u32 pci_config_get(struct pcpu *cpu, u32 bdf, u32 reg);
void pci_config_set(struct pcpu *cpu, u32 bdf, u32 reg, u32 value);

/* front/pci_guard.c: may Linux write @value under @mask to a function that is no cell's? @reg: of a dword */
bool pci_guard(struct pcpu *cpu, u32 bdf, u32 reg, u32 value, u32 mask);

/* front/ioapic.c: the front end's accesses; false: not an IOAPIC's page, or not understood */
bool ioapic_page(u64 gpa);
bool ioapic_access(struct pcpu *cpu, u64 gpa, bool write);
void ioapic_sweep(struct pcpu *cpu);	/* mask what would reach CPUs that are not Linux's any more */
void ioapic_route(struct pcpu *cpu, const struct qv_mon_device *d, u32 apic_id);
void ioapic_mask(struct pcpu *cpu, const struct qv_mon_device *d);

/* ports.c */
void port_result(struct pcpu *cpu, u32 size, u32 value);	/* of an IN: al, ax or eax */
bool ports_never(const struct qv_mon_boot *boot, u32 first, u32 last);	/* no cell may have one of these */
void ports_front(void);			/* what of Linux's is looked at */
bool ports_log(u32 first, u32 last);	/* a write by Linux is logged */
/* What forbids Linux to write @size bytes of @value from @port on; NULL: nothing */
const struct qv_mon_guard *ports_guard(u32 port, u32 size, u32 value);
/* One of these ports is in the list of a cell, created or running, or in an I/O BAR of its devices */
bool ports_claimed(const struct instance *inst, u32 first, u32 last);
/* The cell's ports, listed and of I/O BARs, leave Linux or go back to it; a cell shares none with another */
void ports_take(const struct qv_mon_create *q, bool take);
/* @inst's guest is stopped at these ports, or no more. Its CPUs see it when they next exit */
void ports_stop(struct instance *inst, u32 first, u32 last, bool stop);

#endif
