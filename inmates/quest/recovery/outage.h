/* SPDX-License-Identifier: GPL-2.0-only */
/* The last outages of components, with the times of their phases. Interrupts are off in calls. */
#ifndef QUEST_RECOVERY_OUTAGE_H
#define QUEST_RECOVERY_OUTAGE_H

#include "rule.h"

#define OUTAGES		16		/* so many are kept */

/* Times are TSC values; 0: that has not happened. */
struct outage {
	unsigned int component;
	enum detector_id detector;
	uint64_t value;			/* as the detector measured it */
	enum strategy_kind strategy;
	/*
	 * When it happened, as far as that is known (else as `detected`); was found; all that is
	 * affected had ended; ran again; the first heartbeat came, if the component has one.
	 */
	uint64_t fault, detected, stopped, started, alive;
};

/* Returns a new record in place of the oldest one; its number in `*number`. */
struct outage *outage_new(int *number);

/* Returns the record with that number; NULL: it does not exist, or has been replaced. */
struct outage *outage_at(int number);

/* Returns how many outages there were: the number of the next one. */
int outage_count(void);

#endif
