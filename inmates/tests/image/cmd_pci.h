/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IMAGE_CMD_PCI_H
#define IMAGE_CMD_PCI_H

#include <inmate/pci.h>

/* Maps the function's config space and its memory BARs. Returns false if there is no memory. */
bool map_function(const struct qv_info_device *d);

#endif
