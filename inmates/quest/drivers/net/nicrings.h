/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two rings of a function of Intel, for drivers: the order in which descriptors are used, and
 * which received frames are good. The driver knows the format of descriptors. Registers of rings:
 * Intel 82574 datasheet, chapter 10; 82576EB datasheet 2.61, 8.14.
 */
#ifndef QUEST_NICRINGS_H
#define QUEST_NICRINGS_H

#include "driver.h"

#define RING_RX		0x2800		/* queue 0 */
#define RING_TX		0x3800
#define RING_LOW	0x00		/* registers of a ring: its address */
#define RING_HIGH	0x04
#define RING_LENGTH	0x08		/* in bytes */
#define RING_HEAD	0x10
#define RING_TAIL	0x18

/* The memory that a function reads and writes by DMA. A descriptor has 16 bytes. */
#define NIC_MEMORY(rx_descriptor, tx_descriptor) {						\
	rx_descriptor rx[NIC_RX];								\
	tx_descriptor tx[NIC_TX];								\
	uint8_t pad[4096 - sizeof(rx_descriptor) * NIC_RX - sizeof(tx_descriptor) * NIC_TX];	\
	uint8_t rx_buffer[NIC_RX][NIC_BUFFER];							\
	uint8_t tx_buffer[NIC_TX][NIC_BUFFER];							\
}

/* A received part of a frame, as the function describes it: each field was read once. */
struct nic_received {
	bool end;			/* the last part of a frame */
	bool bad;			/* it has an error */
	uint16_t length;
};

struct nic_rings {
	/* Gives descriptor `i` to the function, with its address, which could have changed. */
	void (*give)(struct nic *n, uint32_t i);
	/* Returns false if the function has not done descriptor `i`. */
	bool (*take)(struct nic *n, uint32_t i, struct nic_received *r);
	/* Fills in descriptor `i` for a frame of `length` bytes. */
	void (*fill)(struct nic *n, uint32_t i, size_t length);
	/* Returns whether the function has sent the frame of descriptor `i`. */
	bool (*is_sent)(const struct nic *n, uint32_t i);
};

static inline uint32_t nic_get(const struct nic *n, unsigned int reg)
{
	return n->registers[reg / 4];
}

static inline void nic_set(struct nic *n, unsigned int reg, uint32_t value)
{
	n->registers[reg / 4] = value;
}

/*
 * The processor neither reorders its own stores nor lets a later load pass an earlier one. So only
 * the compiler has to be kept from it.
 */
static inline void nic_ordered(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Return where the function finds the buffer of descriptor `i`. */
uint64_t nic_rx_bus(const struct nic *n, uint32_t i);
uint64_t nic_tx_bus(const struct nic *n, uint32_t i);

/* Tells the function where the ring RING_RX or RING_TX is. It is empty. */
void nic_place_ring(struct nic *n, unsigned int ring);

/* Gives all descriptors for received frames, whose ring the function does not use yet. */
void nic_give_all(struct nic *n);

/* Lets the function use both rings, from their first descriptors on. */
void nic_begin(struct nic *n);

/* The functions of struct nic_driver with these names */
size_t nic_receive(struct nic *n, const volatile uint8_t **frame);
void nic_release(struct nic *n);
volatile uint8_t *nic_room(struct nic *n);
void nic_send(struct nic *n, size_t length);

#endif
