/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The longest times that messages between two cells take, and that a program takes to move, known
 * before anything runs: equations 4.1 to 4.8 of Ye Li's dissertation on Quest-V, and bounds that
 * hold at any priority. Documentation/explanation/quest-scheduling.md ("Messages between cells")
 * has the argument. tools/qv/analyze.py is the same in Python, and tests show that both agree.
 *
 * Times are integers in any unit (in Quest: TSC cycles). A time that exceeds 64 bits is
 * BOUNDS_NEVER, and so is everything that is computed from it.
 */
#ifndef QUEST_IPC_BOUNDS_H
#define QUEST_IPC_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include "../sched/admission.h"

#define BOUNDS_NEVER	UINT64_MAX

/*
 * Costs per byte are in units of 2^-32 of the unit of time. So a cost needs no frequency, a demand
 * needs no division, and 4 KiB are exact to 2^-20.
 */
#define BOUNDS_COST_UNIT	(1ull << 32)

/* How long a VCPU takes at most until it has served a demand x = k * C + r, 0 < r <= C. */
enum bounds_rule {
	/*
	 * The papers': floor(x / C) * T + x mod C + (T - C). It holds only for the VCPU of the
	 * highest priority.
	 */
	BOUNDS_PAPER,
	/* k * T + (T - C) + R(r): holds with the VCPUs of the cell. R is the response time. */
	BOUNDS_RESPONSE,
	/* k * T + 2 * (T - C) + r: holds whichever VCPUs the cell admits now or later. */
	BOUNDS_ADMITTED,
	BOUNDS_RULES,
};

/* One end of a channel: a thread, which has a Main VCPU for itself. */
struct bounds_end {
	/* All VCPUs of its cell, and the index of its own, which has C and T. */
	const struct admission_entry *set;
	unsigned int n, me;
	uint64_t cost;		/* of a byte, delta, in units of 2^-32 */
	/* time from a bell until the thread is runnable, added to each wait; 0: the thread polls */
	uint64_t wake;
	/*
	 * The thread may block so often in a period that the chunks of its budget fill their queue
	 * (SPORADIC_MAX) and are merged. Each wait is C longer then. Ignored by BOUNDS_PAPER.
	 */
	bool merged;
};

/* An exchange of messages between the ends. */
struct bounds_message {
	uint64_t bytes;		/* N, of the request */
	uint64_t reply;		/* M, of the reply */
	uint64_t slot;		/* B, of the channel's slot, above 0 */
	uint64_t service;	/* K, the time that the receiver computes for each slot */
};

/* Returns the CPU time that `end` needs for `bytes`: bytes * delta, rounded up. */
uint64_t bounds_demand(const struct bounds_end *end, uint64_t bytes);

/* Returns floor(x / C) * T + x mod C, the form of the terms of equations 4.1, 4.5, 4.6 and 4.8. */
uint64_t bounds_spread(const struct bounds_end *end, uint64_t demand);

/* Return S(N), the time to send, and R(N, M) of equation 4.1, to receive, serve and reply. */
uint64_t bounds_send(const struct bounds_end *sender, uint64_t bytes);
uint64_t bounds_serve(const struct bounds_end *receiver, const struct bounds_message *m);

/*
 * Returns the longest time from the arrival of a demand until it is served. With BOUNDS_PAPER this
 * is equation 4.5 and 4.6, and 4.8 for a program that the destination copies itself. With
 * BOUNDS_RESPONSE it is BOUNDS_NEVER for a VCPU that does not always get its C within T.
 */
uint64_t bounds_wait(enum bounds_rule rule, const struct bounds_end *end, uint64_t demand);

/*
 * Returns the longest round trip: equation 4.2, or 4.3 if a message needs several slots. If the
 * reply needs more slots than the request, which the equation leaves out, its slots count.
 */
uint64_t bounds_round_trip(enum bounds_rule rule, const struct bounds_end *sender,
			   const struct bounds_end *receiver, const struct bounds_message *m);

/* Returns the longest time to send a request without a reply: equation 4.4. */
uint64_t bounds_one_way(enum bounds_rule rule, const struct bounds_end *sender,
			const struct bounds_end *receiver, const struct bounds_message *m);

/*
 * Returns the longest time that a program takes to move by messages: equation 4.7. `pack` and
 * `unpack` are the CPU times to produce the messages and to restore the program, and `transfer` is
 * the result of bounds_one_way() or bounds_round_trip().
 */
uint64_t bounds_migration(enum bounds_rule rule, const struct bounds_end *source, uint64_t pack,
			  uint64_t transfer, const struct bounds_end *destination,
			  uint64_t unpack);

#endif
