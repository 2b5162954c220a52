/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel 82574L, which QEMU calls e1000e: its registers and its two rings of frames. Pure: accesses
 * only the registers and the memory that it is given (e1000e.c). It trusts no word of a descriptor
 * that the function has written: each is read once, then checked.
 */
#ifndef QUEST_E1000E_H
#define QUEST_E1000E_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define E1000E_VENDOR		0x8086
#define E1000E_DEVICE		0x10D3
#define E1000E_REGISTERS	0x20000		/* length in bytes of BAR 0 */

#define E1000E_ADDRESS		6		/* length in bytes of an Ethernet address */
#define E1000E_FRAME_MIN	14		/* a header without data */
#define E1000E_FRAME_MAX	1514		/* without the checksum at its end */
#define E1000E_BUFFER		2048

/* Numbers of descriptors: powers of two, since the rings are multiples of 128 bytes */
#define E1000E_RX		64
#define E1000E_TX		32

/* Descriptors in the legacy format: Intel 82574 datasheet, 7.1.4 and 7.2.4. */
struct e1000e_rx {
	uint64_t address;
	uint16_t length, checksum;
	uint8_t status, errors;
	uint16_t special;
};

struct e1000e_tx {
	uint64_t address;
	uint16_t length;
	uint8_t checksum_offset, command, status, checksum_start;
	uint16_t special;
};

/* The memory that the function reads and writes by DMA: whole pages. */
struct e1000e_memory {
	struct e1000e_rx rx[E1000E_RX];
	struct e1000e_tx tx[E1000E_TX];
	uint8_t pad[4096 - sizeof(struct e1000e_rx) * (E1000E_RX + E1000E_TX)];
	uint8_t rx_buffer[E1000E_RX][E1000E_BUFFER];
	uint8_t tx_buffer[E1000E_TX][E1000E_BUFFER];
};

/* Numbers of frames and bytes since the start. */
struct e1000e_counts {
	uint64_t rx, rx_bytes, tx, tx_bytes;
	uint64_t rx_bad;	/* frames with errors, in parts, or of a length that cannot be */
	uint64_t tx_full;	/* frames that were not sent, since the ring was full */
};

struct e1000e {
	volatile uint32_t *registers;
	volatile struct e1000e_memory *memory;
	uint64_t bus;			/* address of `memory` for the function */
	void (*pause_us)(uint64_t us);
	uint8_t address[E1000E_ADDRESS];
	uint32_t rx_next;		/* the descriptor to look at next */
	/* the next one to fill, and the oldest that the function may still read */
	uint32_t tx_next, tx_oldest;
	struct e1000e_counts counts;
};

/*
 * Resets the function, reads its address, and starts both rings. The caller has filled in
 * registers, memory, bus and pause_us. The function is a bus master. Interrupts stay masked.
 * Returns NULL, or why it cannot be used.
 */
const char *e1000e_start(struct e1000e *n);

/*
 * Returns the length of the oldest received frame, and where it is; 0: no frame is there. Gives bad
 * frames back before, at most a ring full of them. e1000e_release() gives this frame back. The
 * function could still change it: copy it first.
 */
size_t e1000e_receive(struct e1000e *n, const volatile uint8_t **frame);
void e1000e_release(struct e1000e *n);

/*
 * Returns room for a frame, of E1000E_FRAME_MAX bytes; NULL: the ring is full. e1000e_send() sends
 * its first `length` bytes.
 */
volatile uint8_t *e1000e_room(struct e1000e *n);
void e1000e_send(struct e1000e *n, size_t length);

/*
 * Receives frames for `address`, too. `entry` is 1 to 14: its place in the function's list, whose
 * first one is the function's own address.
 */
void e1000e_listen(struct e1000e *n, unsigned int entry, const uint8_t address[E1000E_ADDRESS]);

/* Forgets the causes of interrupts so far. Whatever came before it is in the rings. */
void e1000e_acknowledge(struct e1000e *n);

/* Masks all its interrupts, or enables those for received frames and changes of the link. */
void e1000e_mask(struct e1000e *n, bool masked);

/* Returns whether the link is up. */
bool e1000e_link(const struct e1000e *n);

#endif
