/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of Linux's PCI functions and IOMMU groups as driver/parts/pci_dma.c uses. The functions
 * are in test_pci_dma.c.
 */
#ifndef UNIT_KERNEL_PCI_H
#define UNIT_KERNEL_PCI_H

#define PCI_EXP_TYPE_PCI_BRIDGE	7
#define IOMMU_RESV_DIRECT	0
#define IOMMU_RESV_MSI		3

struct pci_dev;
struct iommu_group;
struct pci_bus {
	struct pci_bus *parent;
	struct pci_dev *self;		/* the bridge to it */
};
struct pci_dev {
	struct device dev;
	struct pci_bus *bus;
	u32 bdf;
	bool conventional;		/* no PCI Express */
	int type;
	unsigned long *dma_alias_mask;
	struct iommu_group *group;
};
struct iommu_resv_region {
	struct list_head list;
	int type;
};

#define to_pci_dev(d)		container_of(d, struct pci_dev, dev)
#define dev_is_pci(d)		((void)(d), true)
#define pci_dev_id(p)		((p)->bdf)
#define pci_name(p)		((void)(p), "0000:00:05.0")
#define pci_is_pcie(p)		(!(p)->conventional)
#define pci_pcie_type(p)	((p)->type)
#define list_for_each_entry_safe(p, n, head, m)					\
	for (p = list_entry((head)->next, __typeof__(*p), m);			\
	     n = list_entry(p->m.next, __typeof__(*n), m), &p->m != (head); p = n)

struct iommu_group *iommu_group_get(struct device *dev);
void iommu_group_put(struct iommu_group *group);
int iommu_group_for_each_dev(struct iommu_group *group, void *ctx,
			     int (*what)(struct device *dev, void *ctx));
int iommu_get_group_resv_regions(struct iommu_group *group, struct list_head *regions);

#endif
