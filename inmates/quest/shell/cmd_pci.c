// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/pci.h>
#include "shell.h"

static void list(void)
{
	const struct qv_info_device *d;
	unsigned int n, i;

	for (n = 0; (d = pci_nth(n)); n++) {
		print("%02x:%02x.%u %04x:%04x vector %u%s%s%s\n", d->bdf >> 8, d->bdf >> 3 & 31,
		      d->bdf & 7, d->vendor, d->device, d->vector,
		      d->flags & QV_INFO_DEVICE_MASTER ? " master" : "",
		      d->flags & QV_INFO_DEVICE_PROTECTED ? " protected" : "",
		      d->flags & QV_INFO_DEVICE_NO_MESSAGES ? " no-messages" : "");
		for (i = 0; i < QV_INFO_MAX_BARS; i++)
			if (d->bars[i].size)
				print("  bar %u: %s %lx, %lx\n", d->bars[i].index,
				      d->bars[i].ports ? "ports" : "memory",
				      d->bars[i].base, d->bars[i].size);
	}
	if (!n)
		print("this cell has no PCI functions\n");
}

int command_pci(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return SHELL_SHOW_USAGE;
	if (!cell_present()) {
		print("not in a cell\n");
		return SHELL_FAILED;
	}
	list();
	return 0;
}
