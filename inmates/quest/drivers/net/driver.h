/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drivers of network functions: a row of nic_drivers for each kind. A driver is pure: it accesses
 * only the registers and the memory that it is given. It trusts no word of a descriptor that the
 * function has written: each is read once, then checked.
 */
#ifndef QUEST_NET_DRIVER_H
#define QUEST_NET_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nic_rings;

#define NIC_ADDRESS	6		/* length in bytes of an Ethernet address */
#define NIC_FRAME_MIN	14		/* a header without data */
#define NIC_FRAME_MAX	1514		/* without the checksum at its end */
#define NIC_BUFFER	2048

/* Numbers of descriptors: powers of two, since the rings are multiples of 128 bytes */
#define NIC_RX		64
#define NIC_TX		32

/* Numbers of frames and bytes since the start. */
struct nic_counts {
	uint64_t rx, rx_bytes, tx, tx_bytes;
	uint64_t rx_bad;	/* frames with errors, in parts, or of a length that cannot be */
	uint64_t tx_full;	/* frames that were not sent, since the ring was full */
};

/* A function, and its two rings of frames */
struct nic {
	const struct nic_driver *driver;
	volatile uint32_t *registers;
	volatile void *memory;		/* of driver->memory bytes, for DMA: whole pages */
	uint64_t bus;			/* address of `memory` for the function */
	void (*pause_us)(uint64_t us);
	uint8_t address[NIC_ADDRESS];
	uint32_t rx_next;		/* the descriptor to look at next */
	/* the next one to fill, and the oldest that the function may still read */
	uint32_t tx_next, tx_oldest;
	bool msix;			/* it interrupts by MSI-X */
	bool in_parts;			/* the next descriptor continues a frame that is dropped */
	bool lost;			/* others have reset it: it must be started again */
	const char *wrong;		/* why the program that drives it must end (apart.h) */
	struct nic_counts counts;
};

struct nic_driver {
	uint16_t vendor, device;
	uint32_t registers;		/* length in bytes of BAR 0 */
	size_t memory;
	const struct nic_rings *rings;	/* for the functions of nicrings.h, if it uses them */
	bool msi, msix;			/* it can interrupt by MSI, by entry NIC_MSIX of MSI-X */
	/*
	 * Ends all DMA of the function, and masks its interrupts, until start(). Returns false if
	 * it does not end its reset.
	 */
	bool (*reset)(struct nic *n);
	/*
	 * Resets the function, reads its address, and starts both rings. The caller has filled in
	 * the fields up to pause_us. The function is a bus master. Interrupts stay masked. Returns
	 * NULL, or why it cannot be used.
	 */
	const char *(*start)(struct nic *n);
	/*
	 * Returns the length of the oldest received frame, and where it is; 0: no frame is there.
	 * Gives bad frames back before, at most a ring full of them. release() gives this frame
	 * back. The function could still change it: copy it first.
	 */
	size_t (*receive)(struct nic *n, const volatile uint8_t **frame);
	void (*release)(struct nic *n);
	/*
	 * Returns room for a frame, of NIC_FRAME_MAX bytes; NULL: the ring is full. send() sends
	 * its first `length` bytes.
	 */
	volatile uint8_t *(*room)(struct nic *n);
	void (*send)(struct nic *n, size_t length);
	/*
	 * Receives frames for `address`, too. `entry` is 1 to 14: its place in the function's list,
	 * whose first one is the function's own address. NULL: the function has one address.
	 */
	void (*listen)(struct nic *n, unsigned int entry, const uint8_t address[NIC_ADDRESS]);
	/* Forgets the causes of interrupts so far. Whatever came before it is in the rings. */
	void (*acknowledge)(struct nic *n);
	/* Masks all interrupts, or enables those for received frames and changes of the link. */
	void (*mask)(struct nic *n, bool masked);
	/* Returns whether the link is up. Starts the function again if others have reset it. */
	bool (*link)(struct nic *n);
};

#define NIC_MSIX	1

#endif
