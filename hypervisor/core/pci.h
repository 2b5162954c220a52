/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI functions of cells. cell/pci.c: a cell's own accesses. manage/parts/pci.c: giving and taking
 * back. front/pci.c, front/pci_guard.c: Linux's accesses.
 */
#ifndef QV_PCI_H
#define QV_PCI_H

#include "abi/create.h"
#include "pci_filter.h"

#define CONFIG_ADDRESS	0xcf8	/* ports */
#define CONFIG_DATA	0xcfc
#define CONFIG_ENABLE	(1u << 31)	/* in CONFIG_ADDRESS */
/* Registers of a function's config space */
#define CFG_COMMAND	0x04
#define CFG_CLASS	0x08
#define CFG_HEADER	0x0c
#define CFG_BARS	0x10
#define CFG_ROM		0x30
#define CFG_CAPS	0x34
#define STATUS_CAPS	(1u << 20)	/* in CFG_COMMAND */
#define CAP_MSI		0x05
#define CAP_MSIX	0x11
#define CAP_SRIOV	0x0010	/* in extended config space */
#define PCI_CAPS_MAX	48	/* 256 bytes have room for 48 capabilities */
#define PCI_RULES	(12 * QV_MAX_DEVICES)

struct instance;
struct pcpu;

struct pci_table {		/* MSI-X; physical = guest-physical addresses */
	u64 start, end;		/* physical addresses of the table's first entry and of its end */
	u64 pages, pages_len;	/* range that the cell may only read; 0: there is no table */
	u32 remap;		/* as in struct pci_rule */
};

/* part of the cell's instance: data for the exits that its devices cause */
struct pci_cell {
	u32 num_rules, made;	/* .num_rules of them are in force, .made are there */
	struct pci_rule rules[PCI_RULES];
	struct pci_table tables[QV_MAX_DEVICES];
};

/* device.c: maps a device's page by gmem_map(); one aligned dword of it */
volatile void *device_map(struct pcpu *cpu, u64 pa);
u32 device_read(struct pcpu *cpu, u64 pa);
void device_write(struct pcpu *cpu, u64 pa, u32 value);

/* front/pci.c */
/* Returns the function with this number if a running or stopped cell has it, else NULL */
const struct qv_mon_device *pci_given(u32 bdf);
/* Carries out Linux's write to ECAM: ecam_has(). False: unknown instruction */
bool pci_config_store(struct pcpu *cpu, u64 gpa);

/* front/config.c */
u32 port_in(u32 port, u32 size);			/* @size: 1, 2, 4 bytes */
void port_out(u32 port, u32 size, u32 value);
/*
 * Without ECAM this writes 0xCF8. The caller holds the config lock, and config_data() restores the
 * value that Linux wrote.
 */
void config_select(u32 bdf, u32 reg);
/* one dword of a function's config space, by ECAM or, without it, by ports */
u32 pci_config_get(struct pcpu *cpu, u32 bdf, u32 reg);
void pci_config_set(struct pcpu *cpu, u32 bdf, u32 reg, u32 value);
/* The place of the last capability @id (0: any) that begins at @reg or before; 0: none */
u32 pci_cap(struct pcpu *cpu, u32 bdf, u32 id, u32 reg);
/* The place of the first extended capability @id; 0: none */
u32 pci_extended(struct pcpu *cpu, u32 bdf, u32 id);

/*
 * front/pci_guard.c: true if Linux may write @value under @mask to a function that no cell has.
 * @reg: offset of a dword.
 */
bool pci_guard(struct pcpu *cpu, u32 bdf, u32 reg, u32 value, u32 mask);

/* front/ioapic.c: the front end's accesses; false: not an IOAPIC's page, or not understood */
bool ioapic_page(u64 gpa);
bool ioapic_access(struct pcpu *cpu, u64 gpa, bool write);
void ioapic_sweep(struct pcpu *cpu);	/* mask entries that would reach CPUs taken from Linux */
/* masks the pin of the function, or with @on lets it interrupt the CPU @apic_id */
void ioapic_route(struct pcpu *cpu, const struct qv_mon_device *d, bool on, u32 apic_id);

#endif
