// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/pci.h>

#define NUM_FUNCTIONS	0x10000u	/* 256 buses, 32 devices, 8 functions */
#define VENDOR		0x00
#define DEVICE		0x02
#define HEADER		0x0E
#define HEADER_MANY	0x80		/* the device has more than one function */
#define BAR(n)		(0x10 + 4 * (n))
#define BAR_PORTS	1u
#define BAR_WIDE	4u
#define NO_VENDOR	0xFFFFu
#define NUM_BARS	6

/* Fills in the memory BARs of a function below 4 GiB, as the firmware chose them. */
static void read_bars(struct qv_info_device *d)
{
	unsigned int n = 0, bar;
	uint32_t low;

	for (bar = 0; bar < NUM_BARS && n < QV_INFO_MAX_BARS; bar++) {
		low = pci_port_read(d->bdf, BAR(bar), 4);
		if (low & BAR_PORTS || !(low & ~0xFu))
			continue;
		if (low & BAR_WIDE && pci_port_read(d->bdf, BAR(++bar), 4))
			continue;
		d->bars[n++] = (struct qv_info_bar){
			.base = low & ~0xFu, .size = PCI_SEARCHED_SIZE,
			.index = low & BAR_WIDE ? bar - 1 : bar,
		};
	}
}

bool pci_search(uint16_t vendor, uint16_t device, struct qv_info_device *found)
{
	uint32_t bdf, step;

	for (bdf = 0; bdf < NUM_FUNCTIONS; bdf += step) {
		uint32_t id = pci_port_read(bdf, VENDOR, 2);

		step = bdf % 8 || (id != NO_VENDOR &&
				   pci_port_read(bdf, HEADER, 1) & HEADER_MANY) ? 1 : 8;
		if (id != vendor || pci_port_read(bdf, DEVICE, 2) != device)
			continue;
		*found = (struct qv_info_device){ .bdf = bdf, .vendor = vendor, .device = device,
						  .flags = QV_INFO_DEVICE_MASTER };
		read_bars(found);
		return true;
	}
	return false;
}
