/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Histograms of times in the latency page (qv/cell.h), which `qvctl latency` shows */
#ifndef INMATE_LATENCY_H
#define INMATE_LATENCY_H

#include <stdint.h>
#include <qv/cell.h>

/*
 * Returns the number of the histogram with this name, which it makes if necessary. Returns -1 if
 * there are QV_LATENCY_MAX others, if the name has more than 31 bytes, or if the inmate is not in a
 * cell. One CPU at a time may call it.
 */
int latency_open(const char *name);

/* Returns the number of the histogram with this name; -1: no histogram has it. */
int latency_find(const char *name);

/* Counts a time, in cycles of the TSC. Each histogram has one CPU that calls it. */
void latency_add(int histogram, uint64_t cycles);

/* The same for a time that has a deadline. A longer one counts as missed, too. */
void latency_add_by(int histogram, uint64_t cycles, uint64_t deadline);

/* Returns the bucket that counts this time. */
static inline unsigned int latency_bucket(uint64_t cycles)
{
	unsigned int bits = cycles ? 64 - (unsigned int)__builtin_clzll(cycles) : 0;

	if (bits <= QV_LATENCY_FIRST)
		return 0;
	bits -= QV_LATENCY_FIRST;
	return bits < QV_LATENCY_BUCKETS ? bits : QV_LATENCY_BUCKETS - 1;
}

#endif
