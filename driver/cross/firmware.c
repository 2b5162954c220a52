// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the facts about the board that the monitor must know, mostly from ACPI: config space,
 * IOAPICs, CPUs, the ports that put the machine to sleep or eject devices, interrupt remapping.
 */
#include <linux/acpi.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "abi/boot.h"
#include "abi/log.h"
#include "abi/test_hooks.h"
#include "qv.h"
#include "cross.h"

struct qv_firmware qv_firmware;

/* Returns an ACPI table or NULL. The PCI Firmware Specification 3.0, 4.1.2 describes MCFG */
static const struct acpi_table_header *firmware_table(const char *name)
{
	struct acpi_table_header *found = NULL;

	return ACPI_SUCCESS(acpi_get_table((char *)name, 0, &found)) ? found : NULL;
}

static void read_mcfg(struct qv_mon_boot *b)
{
	const struct acpi_table_mcfg *mcfg = (const void *)firmware_table(ACPI_SIG_MCFG);
	const struct acpi_mcfg_allocation *a = (const void *)(mcfg + 1);

	if (!mcfg)
		return;
	for (; (void *)(a + 1) <= (void *)mcfg + mcfg->header.length; a++) {
		if (a->pci_segment || a->start_bus_number)
			continue;
		b->ecam_pa = a->address;
		b->ecam_len = (a->end_bus_number + 1ull) << 20;
		return;
	}
}

static void read_madt(struct qv_mon_boot *b)
{
	const struct acpi_table_madt *madt = (const void *)firmware_table(ACPI_SIG_MADT);
	const struct acpi_subtable_header *s = (const void *)(madt + 1);
	const void *end = madt ? (void *)madt + madt->header.length : NULL;

	for (; madt && (void *)(s + 1) <= end && s->length >= sizeof(*s);
	     s = (void *)s + s->length) {
		const struct acpi_madt_io_apic *io = (const void *)s;

		if (s->type == ACPI_MADT_TYPE_IO_APIC && b->num_ioapics < QV_MON_IOAPICS)
			b->ioapics[b->num_ioapics++] = io->address & PAGE_MASK;
	}
}

/* Sets *@id to the APIC id of a CPU that may run. Returns false if @s is not an entry for one */
static bool madt_enabled_cpu(const struct acpi_subtable_header *s, u32 *id)
{
	const struct acpi_madt_local_apic *a = (const void *)s;
	const struct acpi_madt_local_x2apic *x = (const void *)s;

	if (s->type == ACPI_MADT_TYPE_LOCAL_APIC && s->length >= sizeof(*a)) {
		*id = a->id;
		return a->lapic_flags & ACPI_MADT_ENABLED && a->id != 0xff;
	}
	if (s->type == ACPI_MADT_TYPE_LOCAL_X2APIC && s->length >= sizeof(*x)) {
		*id = x->local_apic_id;
		return x->lapic_flags & ACPI_MADT_ENABLED && *id != ~0u;
	}
	return false;
}

static bool madt_listed_before(const struct acpi_subtable_header *first,
			       const struct acpi_subtable_header *end, u32 id)
{
	u32 other;

	for (; first < end; first = (void *)first + first->length)
		if (madt_enabled_cpu(first, &other) && other == id)
			return true;
	return false;
}

u32 qv_firmware_cpus(void)
{
	const struct acpi_table_madt *madt = (const void *)firmware_table(ACPI_SIG_MADT);
	const struct acpi_subtable_header *first = (const void *)(madt + 1), *s = first;
	const void *end = madt ? (void *)madt + madt->header.length : NULL;
	u32 id, num = 0;

	for (; madt && (void *)(s + 1) <= end && s->length >= sizeof(*s); s = (void *)s + s->length)
		/* some firmware lists a CPU in both kinds of entry */
		num += madt_enabled_cpu(s, &id) && !madt_listed_before(first, s, id);
	return num;
}

static void add_ports(struct qv_mon_boot *b, u64 first, u32 len)
{
	if (!first || !len || first + len > 0x10000)
		return;
	if (b->num_firmware_ports == QV_MON_FIRMWARE_PORTS) {
		qv_log("driver", "no room to keep ports %#llx.. of the board from cells", first);
		return;
	}
	b->firmware_ports[b->num_firmware_ports].first = first;
	b->firmware_ports[b->num_firmware_ports++].last = first + len - 1;
}

/* .value of a guard with .mask 0: rejects every write that sets any of .bits */
#define GUARD_NEVER	1

static void add_guard(struct qv_mon_boot *b, struct qv_mon_guard g)
{
	if (b->num_guards == QV_MON_GUARDS)
		qv_log("driver", "no room to guard port %#x of the board", g.first);
	else
		b->guards[b->num_guards++] = g;
}

/*
 * ---- sleep: ACPI 6.5, 4.8.3.2.1 (PM1 control) and 4.8.3.7 (sleep control) have the same bits in a
 * byte ----
 */

#define SLP_EN		0x20
#define SLP_TYP		0x1c
#define SLP_TYP_SHIFT	2
#define NO_TYPE		0xff	/* a value that no write has as its SLP_TYP */

/*
 * Guards the byte of @a at @offset. A write that starts sleep is dropped. A write of the type @s5
 * passes, since it switches the machine off
 */
static void add_sleep(struct qv_mon_boot *b, const struct acpi_generic_address *a, u32 offset,
		      u32 len, u8 s5)
{
	if (!a->address)
		return;
	if (a->space_id != ACPI_ADR_SPACE_SYSTEM_IO || a->address + len > 0x10000) {
		qv_log("driver",
		       "the sleep register at %#llx is no I/O port: "
		       "a hostile Linux can put the machine to sleep",
		       a->address);
		return;
	}
	add_ports(b, a->address, len);
	add_guard(b, (struct qv_mon_guard){
		.first = a->address + offset, .last = a->address + offset, .bits = SLP_EN,
		.mask = SLP_TYP, .value = s5 << SLP_TYP_SHIFT, .what = QV_LOG_SLEEP,
	});
}

/* ---- around the PM registers: Intel's ICH and PCH, "Power Management I/O Registers" ---- */

#define PM_LEN	0x80	/* length in bytes; the range is aligned to its length */
#define SMI_EN		0x30

/*
 * Linux may disable sources of SMIs, but not enable a source that was disabled when QV was enabled
 */
static void add_smi_enable(struct qv_mon_boot *b, u32 port)
{
	struct pci_dev *bridge = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(31, 0));
	u32 i, off = 0;

	if (bridge && bridge->vendor == PCI_VENDOR_ID_INTEL &&
	    bridge->class >> 8 == PCI_CLASS_BRIDGE_ISA)
		off = ~inl(port);
	pci_dev_put(bridge);
	for (i = 0; i < 4; i++)
		if (off >> i * 8 & 0xff)
			add_guard(b, (struct qv_mon_guard){
				.first = port + i, .last = port + i, .bits = off >> i * 8,
				.value = GUARD_NEVER, .what = QV_LOG_SMI_ENABLE,
			});
}

static void add_pm_registers(struct qv_mon_boot *b, const struct acpi_table_fadt *f)
{
	const struct acpi_generic_address *a = &f->xpm1a_event_block;
	u64 first = a->address & ~(PM_LEN - 1ull);

	if (!a->address || a->space_id != ACPI_ADR_SPACE_SYSTEM_IO || first + PM_LEN > 0x10000)
		return;
	add_ports(b, first, PM_LEN);
	if (first == a->address)
		add_smi_enable(b, first + SMI_EN);
}

static void read_fadt(struct qv_mon_boot *b)
{
	/* Linux converts all versions of this table to the current form */
	const struct acpi_table_fadt *f = &acpi_gbl_FADT;
	u8 s5a, s5b;

	if (ACPI_FAILURE(acpi_get_sleep_type_data(ACPI_STATE_S5, &s5a, &s5b))) {
		qv_log("driver",
		       "ACPI names no way to switch off, "
		       "so Linux cannot do it by ACPI while QV is enabled");
		s5a = s5b = NO_TYPE;
	}
	add_sleep(b, &f->xpm1a_control_block, 1, 2, s5a);
	add_sleep(b, &f->xpm1b_control_block, 1, 2, s5b);
	add_sleep(b, &f->sleep_control, 0, 1, s5a);
	add_ports(b, f->smi_command, 2);
	add_pm_registers(b, f);
	if (f->reset_register.space_id == ACPI_ADR_SPACE_SYSTEM_IO)
		add_ports(b, f->reset_register.address, 1);
}

/*
 * ---- hotplug: QEMU's docs/specs/acpi_{cpu,mem,pci}_hotplug; its ACPI tables identify the
 * registers by _UID ----
 */

static const struct hotplug {
	const char *uid;
	/* offset and length of the registers that eject, and the bits that do so */
	u8 at, len, bits;
} hotplugs[] = {
	{ "CPU Hotplug resources", 0x4, 1, 0x18 },
	{ "Memory hotplug resources", 0x14, 1, 0x08 },
	{ "PCI Hotplug resources", 0x8, 4, 0xff },
};

struct hotplug_ports {
	struct qv_mon_boot *b;
	const struct hotplug *kind;
};

static acpi_status hotplug_ports(struct acpi_resource *r, void *context)
{
	struct hotplug_ports *h = context;
	u32 first;

	if (r->type != ACPI_RESOURCE_TYPE_IO)
		return AE_OK;
	first = r->data.io.minimum + h->kind->at;
	add_ports(h->b, r->data.io.minimum, r->data.io.address_length);
	add_guard(h->b, (struct qv_mon_guard){
		.first = first, .last = first + h->kind->len - 1, .bits = h->kind->bits,
		.value = GUARD_NEVER, .what = QV_LOG_EJECT,
	});
	return AE_OK;
}

static acpi_status hotplug_container(acpi_handle handle, u32 level, void *context, void **unused)
{
	struct hotplug_ports h = { .b = context };
	struct acpi_buffer uid = { ACPI_ALLOCATE_BUFFER, NULL };
	const union acpi_object *o;
	u32 i;

	if (ACPI_FAILURE(acpi_evaluate_object_typed(handle, "_UID", NULL, &uid, ACPI_TYPE_STRING)))
		return AE_OK;
	o = uid.pointer;
	for (i = 0; i < ARRAY_SIZE(hotplugs); i++)
		if (!strcmp(o->string.pointer, hotplugs[i].uid))
			h.kind = &hotplugs[i];
	if (h.kind)
		acpi_walk_resources(handle, "_CRS", hotplug_ports, &h);
	kfree(uid.pointer);
	return AE_OK;
}

/* ---- fw_cfg of QEMU's boards: docs/specs/fw_cfg; its DMA bypasses all nested tables ---- */

#define FW_CFG_DMA	4
#define FW_CFG_DMA_LEN	8

static acpi_status fw_cfg_ports(struct acpi_resource *r, void *context)
{
	struct qv_mon_boot *b = context;
	u32 first, len;

	if (r->type != ACPI_RESOURCE_TYPE_IO)
		return AE_OK;
	first = r->data.io.minimum;
	len = r->data.io.address_length;
	add_ports(b, first, len);
	if (len >= FW_CFG_DMA + FW_CFG_DMA_LEN)
		add_guard(b, (struct qv_mon_guard){
			.first = first + FW_CFG_DMA,
			.last = first + FW_CFG_DMA + FW_CFG_DMA_LEN - 1,
			.value = GUARD_NEVER, .what = QV_LOG_BOARD_DMA,
		});
	return AE_OK;
}

static acpi_status fw_cfg(acpi_handle handle, u32 level, void *context, void **unused)
{
	acpi_walk_resources(handle, "_CRS", fw_cfg_ports, context);
	return AE_OK;
}

static void read_namespace(struct qv_mon_boot *b)
{
	if (acpi_disabled) {
		qv_log("driver",
		       "ACPI is off: sleep and hotplug registers are not known, and not guarded");
		return;
	}
	read_fadt(b);
	acpi_get_devices("PNP0A06", hotplug_container, b, NULL);
	acpi_get_devices("QEMU0002", fw_cfg, b, NULL);
}

/* ---- interrupt remapping: detected by the names that Linux gives its interrupt chips ---- */

#define FIRST_IRQS	256		/* Linux's numbers of IOAPIC interrupts are below this */

bool qv_irqs_remapped(void)
{
	const struct irq_data *d;
	u32 i;

	for (i = 0; i < FIRST_IRQS; i++) {
		d = irq_get_irq_data(i);
		if (d && d->chip && d->chip->name && !strncmp(d->chip->name, "IR-", 3))
			return true;
	}
	return false;
}

void qv_firmware_read(struct qv_mon_boot *b)
{
	read_mcfg(b);
	read_madt(b);
	read_namespace(b);
	if (b->test_hooks & QV_TEST_NO_GUARDS)
		b->num_guards = 0;
	qv_firmware.ecam_pa = b->ecam_pa;
	qv_firmware.ecam_len = b->ecam_len;
	qv_firmware.num_ioapics = b->num_ioapics;
}
