// SPDX-License-Identifier: GPL-2.0-only
/* The table of parts, and the verbs for all of them. */
#include "part.h"

/* parts/NAME.c defines part_NAME (dma: iommu/cell.c). All steps use the order of this table */
extern const struct part part_memory, part_pci, part_ports, part_channels, part_dma;
static const struct part *const parts[] = {
	&part_memory, &part_pci, &part_ports, &part_channels, &part_dma,
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

u64 parts_try(enum part_try verb, struct pcpu *cpu, const struct instance *inst,
	      const struct qv_mon_create *q)
{
	u64 error = QV_ME_OK;
	u32 i;

	for (i = 0; i < PARTS && !error; i++)
		if (parts[i]->try[verb])
			error = parts[i]->try[verb](cpu, inst, q);
	return error;
}

void parts_act(enum part_act verb, struct pcpu *cpu, struct cell_slot *slot,
	       const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < PARTS; i++)
		if (parts[i]->act[verb])
			parts[i]->act[verb](cpu, slot, q);
}

u64 parts_tables(const struct qv_mon_create *q)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i < PARTS; i++)
		if (parts[i]->tables)
			pages += parts[i]->tables(q);
	return pages;
}

bool parts_clear(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < PARTS; i++)
		if (parts[i]->clear && parts[i]->clear(cpu, slot, q))
			return true;
	return false;
}
