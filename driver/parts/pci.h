/* SPDX-License-Identifier: GPL-2.0-only */
/* PCI functions of a cell: pci.c takes and gives them, with the help of the other files. */
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
	u32 dma;			/* enum qv_dma, without QV_DMA_BEST and QV_DMA_HEIR */
	struct qv_mon_device monitor;
	bool refused;			/* it waits, and could not inherit; that is in the log */
};

/* True if the cell waits for the function: the cell that has it has all but .pdev and .monitor */
static inline bool qv_pci_waits(const struct qv_pci_given *g)
{
	return g->monitor.flags & QV_MON_DEVICE_HEIR;
}

/* ---- pci_bind.c: the PCI driver of this module ---- */
int qv_pci_bind(struct pci_dev *pdev);		/* returns an errno */
void qv_pci_unbind(struct pci_dev *pdev);
bool qv_pci_is_bound(const struct pci_dev *pdev);
void qv_pci_unload(void);

/* ---- pci_check.c ---- */
/* Decides whether @cell may have @pdev. @heir: it waits for it */
int qv_pci_check_function(struct qv_reply *r, const struct qv_cell *cell,
			  const struct pci_dev *pdev, bool heir);
/* Refuses with "PCI function ADDRESS @why" */
int qv_pci_refuse(struct qv_reply *r, const struct pci_dev *pdev, const char *remedy,
		  const char *why);

/* ---- pci.c ---- */
/* Counts DMA, or a message, of the function @bdf that was blocked, if a cell has the function */
void qv_pci_count_blocked(u32 bdf);
/* Returns the name of the cell that has the function, or NULL */
const char *qv_pci_holder(u32 bdf);

/* ---- pci_heir.c ---- */
/* Returns the function with this number that a cell has, and its cell; or NULL */
struct qv_pci_given *qv_pci_held(u32 bdf, struct qv_cell **cell);
/* Returns true if a running cell waits for a function that @cell has */
bool qv_pci_has_heir(const struct qv_cell *cell);
/* Functions of cells that have stopped move to running cells that wait for them */
void qv_pci_inherit(void);

/* ---- pci_dma.c ---- */
/* Decides whether @cell may have @pdev with the setting *@dma, and chooses for QV_DMA_BEST */
int qv_pci_choose_dma(struct qv_reply *r, const struct qv_cell *cell, struct pci_dev *pdev,
		      u32 *dma);
/* Logs that the function can reach all memory, if it can. @how it came to @cell: a participle */
void qv_pci_log_unsafe(const struct qv_cell *cell, const struct qv_pci_given *g, const char *how);

#endif
