/* SPDX-License-Identifier: GPL-2.0-only */
/* PCI functions of a cell: pci.c takes and gives them, with the help of the other two files. */
#ifndef QV_PARTS_PCI_H
#define QV_PARTS_PCI_H

#include <linux/qv.h>
#include "abi/create.h"

struct pci_dev;
struct pci_saved_state;
struct qv_cell;

struct qv_pci_given {			/* a PCI function of a cell */
	struct pci_dev *pdev;
	struct pci_saved_state *saved;
	bool had_driver;
	char driver[QV_NAME_LEN];	/* the Linux driver that the function had before */
	u32 state;			/* QV_DEVICE_* */
	struct qv_mon_device monitor;
};

/* ---- pci_bind.c: the PCI driver of this module ---- */
int qv_pci_bind(struct pci_dev *pdev);		/* returns an errno */
void qv_pci_unbind(struct pci_dev *pdev);
bool qv_pci_is_bound(const struct pci_dev *pdev);
void qv_pci_unload(void);

/* ---- pci_check.c ---- */
/* Decides whether @cell may have @pdev with the setting @dma, an enum qv_dma */
int qv_pci_check_function(struct qv_reply *r, const struct qv_cell *cell,
			  const struct pci_dev *pdev, u32 dma);
/* Refuses with "PCI function ADDRESS @why" */
int qv_pci_refuse(struct qv_reply *r, const struct pci_dev *pdev, const char *remedy,
		  const char *why);

#endif
