/* SPDX-License-Identifier: GPL-2.0-only */
/* The description of the machine that the driver gives to the monitor. */
#ifndef QV_ABI_BOOT_H
#define QV_ABI_BOOT_H

#include "abi/iommu.h"
#include "abi/limits.h"
#include "abi/ports.h"
#include "abi/types.h"

/*
 * VT-x control words for this processor (SDM vol. 3, appendix A). Three kinds of bits are set: bits
 * that must be 1, bits that QV requires for every guest, and bits that enable instructions (RDTSCP,
 * INVPCID, XSAVES, TPAUSE...) that the processor has. The monitor sets further bits. The driver has
 * checked that the processor allows them.
 */
struct qv_mon_vmx {
	u32 revision;		/* revision number of VMCS and VMXON regions */
	u32 pin, proc, proc2, exit, entry;
};

/* The driver's data for the first instance. Linux is still trusted then. */
struct qv_mon_boot {
	u64 block_pa;
	u32 block_len;
	u32 num_cpus;
	/* from here to .vmx: common to all instances */
	u32 tsc_khz;
	u32 enter_ms;		/* time limit in ms for all CPUs to enter the monitor */
	u32 x2apic;
	/* the machine remaps interrupts, so IOAPIC entries have the remapped format */
	u32 remapped;
	u32 levels;		/* paging levels of Linux: 4 or 5 */
	u32 nested_levels;	/* paging levels of nested tables */
	/* nested tables have EPT's format: entries have a memory type, bit 2 allows execution */
	u32 ept;
	u32 page1g;		/* the processor has 1 GiB pages */
	u32 next_rip;		/* the processor saves the next RIP at exits */
	u32 decode;		/* the processor saves the instruction's bytes at nested faults */
	u32 invlpgb;		/* Linux may use broadcast TLB flushes */
	u32 spec_ctrl;		/* the guest's SPEC_CTRL is in its control block */
	u32 test_hooks;		/* QV_TEST_*, a module parameter; 0 except in tests */
	u32 phys_bits;
	u32 image_len;
	u32 text_len;
	struct qv_mon_vmx vmx;	/* VT-x only */
	/* from here on: of the first instance */
	u32 num_ram;
	u64 cr3;		/* CR3 of this instance */
	/* virtual and physical address of the driver's trampoline page (front end only) */
	u64 tramp_va, tramp_pa;
	/* where a CPU goes back to Linux: in that page (AMD-V), or in the driver's text (VT-x) */
	u64 tramp_leave;
	/* Linux's address of the block; on VT-x, tramp_leave gets addresses in terms of it */
	u64 block_va;
	struct { u64 start, end; } ram[QV_MON_RAM_RANGES];
	struct { u32 linux_cpu, apic_id; } cpus[QV_MAX_CPUS];
	/*
	 * From ACPI: the PCI config space of segment 0 (MCFG; ecam_len 0: none), the IOAPICs
	 * (MADT), and the ports of the board's power management and hotplug (FADT, DSDT). No cell
	 * may have these ports. The guards say which of their bytes Linux may not write freely
	 */
	/* physical address of bus 0's config space, even if the space begins at a later bus */
	u64 ecam_pa;
	u64 ecam_len;		/* length in bytes, from bus 0 to the end of the last bus */
	u32 num_ioapics;
	u32 num_firmware_ports;
	u64 ioapics[QV_MON_IOAPICS];	/* physical address of the IOAPIC's page */
	struct qv_mon_ports firmware_ports[QV_MON_FIRMWARE_PORTS];
	u32 num_guards;
	/* every processor has x2APIC mode, with the same APIC id as in xAPIC mode */
	u32 offers_x2apic;
	/*
	 * Linux's IPIs are direct from the start, and QV_HC_IPI may make them so again. Chosen at
	 * enable: later, Linux may be hostile
	 */
	u32 ipi_direct, reserved;
	struct qv_mon_guard guards[QV_MON_GUARDS];
	struct qv_mon_iommus iommus;
};
#define QV_BOOT_COMMON	__builtin_offsetof(struct qv_mon_boot, tsc_khz)
#define QV_BOOT_OWN	__builtin_offsetof(struct qv_mon_boot, num_ram)

#endif
