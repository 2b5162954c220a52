// SPDX-License-Identifier: GPL-2.0-only
/* What ACPI says of the machine that the monitor has to know: config space, IOAPICs, special ports. */
#include <linux/acpi.h>
#include "qv.h"

struct qv_firmware qv_firmware;

/* Tables of the ACPI specification; MCFG: PCI Firmware Specification 3.0, 4.1.2 */
static const struct acpi_table_header *table(const char *name)
{
	struct acpi_table_header *found = NULL;

	return ACPI_SUCCESS(acpi_get_table((char *)name, 0, &found)) ? found : NULL;
}

static void read_mcfg(struct qv_mon_boot *b)
{
	const struct acpi_table_mcfg *mcfg = (const void *)table(ACPI_SIG_MCFG);
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
	const struct acpi_table_madt *madt = (const void *)table(ACPI_SIG_MADT);
	const struct acpi_subtable_header *s = (const void *)(madt + 1);
	const void *end = madt ? (void *)madt + madt->header.length : NULL;

	for (; madt && (void *)(s + 1) <= end && s->length >= sizeof(*s); s = (void *)s + s->length) {
		const struct acpi_madt_io_apic *io = (const void *)s;

		if (s->type == ACPI_MADT_TYPE_IO_APIC && b->num_ioapics < QV_MON_IOAPICS)
			b->ioapics[b->num_ioapics++] = io->address & PAGE_MASK;
	}
}

static void add_ports(struct qv_mon_boot *b, u64 first, u32 len)
{
	if (!first || !len || first + len > 0x10000 || b->num_firmware_ports >= QV_MON_FIRMWARE_PORTS)
		return;
	b->firmware_ports[b->num_firmware_ports].first = first;
	b->firmware_ports[b->num_firmware_ports++].last = first + len - 1;
}

static void add_register(struct qv_mon_boot *b, const struct acpi_generic_address *a, u32 len)
{
	if (a->space_id == ACPI_ADR_SPACE_SYSTEM_IO)
		add_ports(b, a->address, len);
}

static void read_fadt(struct qv_mon_boot *b)
{
	const struct acpi_table_fadt *f = (const void *)table(ACPI_SIG_FADT);

	if (!f)
		return;
	add_ports(b, f->pm1a_control_block, f->pm1_control_length);
	add_ports(b, f->pm1b_control_block, f->pm1_control_length);
	add_ports(b, f->smi_command, 2);
	if (f->header.length >= offsetofend(struct acpi_table_fadt, xpm1b_control_block)) {
		add_register(b, &f->reset_register, 1);
		add_register(b, &f->xpm1a_control_block, f->pm1_control_length);
		add_register(b, &f->xpm1b_control_block, f->pm1_control_length);
	}
}

void qv_firmware_read(struct qv_mon_boot *b)
{
	read_mcfg(b);
	read_madt(b);
	read_fadt(b);
	qv_firmware.ecam_pa = b->ecam_pa;
	qv_firmware.ecam_len = b->ecam_len;
	qv_firmware.num_ioapics = b->num_ioapics;
}
