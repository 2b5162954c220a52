/* SPDX-License-Identifier: GPL-2.0-only */
/* A PCI function of the fake machine. */
#ifndef PCI_WORLD_H
#define PCI_WORLD_H

#include "core/instance.h"

/*
 * Makes a function with MSI at 0x40, MSI-X at 0x60 with its table at BAR 0 + 0x1800, and ports in
 * BAR 2.
 */
void pci_world_function(u32 bdf, u64 bar);
/* Returns it as a request lists it. */
struct qv_mon_device pci_world_device(u32 bdf, u64 bar);

#endif
