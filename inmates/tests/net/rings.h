/* SPDX-License-Identifier: GPL-2.0-only */
/* The channels of the world's cell: rings between it and other cells. */
#ifndef NET_RINGS_H
#define NET_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/end.h>

#define RING_SLOTS	16

/*
 * Adds a ring of frames called `name`, which this cell writes if `written`, else reads; `full` is
 * what happens when it is full. The ends of both cells run. Returns its number.
 */
unsigned int ring_make(const char *name, bool written, uint32_t full);

/* Returns the end of the other cell. */
struct qv_end *ring_other(unsigned int n);

/* The other cell dies; it starts again. */
void ring_die(unsigned int n);
void ring_restart(unsigned int n);

/* Returns the section of the other cell's end, which it may write, and its length in bytes. */
uint8_t *ring_section(unsigned int n, size_t *length);

#endif
