/* SPDX-License-Identifier: GPL-2.0-only */
/* The operations of a VCPU's server, for all types. For sched/ only. */
#ifndef QUEST_SERVER_H
#define QUEST_SERVER_H

#include "sched.h"

struct server {
	void (*init)(struct vcpu *v, uint64_t at);
	/* Takes over changed parameters of the VCPU. No new budget begins before `at`. */
	void (*set)(struct vcpu *v, uint64_t at);
	uint64_t (*eligible)(const struct vcpu *v);
	uint64_t (*left)(const struct vcpu *v);
	uint64_t (*period)(const struct vcpu *v);
	/* Returns when all CPU time that the VCPU has used will be replenished. */
	uint64_t (*settled)(const struct vcpu *v);
	/* Returns how much of the used budget is not replenished at `now`. */
	uint64_t (*outstanding)(const struct vcpu *v, uint64_t now);
	/*
	 * Records that an entity becomes runnable to work for a VCPU with `period`. `active`:
	 * another entity was runnable already.
	 */
	void (*wake)(struct vcpu *v, uint64_t period, bool active, uint64_t now);
	void (*dispatch)(struct vcpu *v, uint64_t now);
	/* Charges CPU time. Returns the overrun. */
	uint64_t (*charge)(struct vcpu *v, uint64_t delta, uint64_t now);
	void (*block)(struct vcpu *v, uint64_t now);
	void (*shift)(struct vcpu *v, int64_t by);
};

/* The servers, indexed by enum vcpu_type. */
extern const struct server servers[];

/*
 * Returns the priority as a number; smaller is higher. It orders by period, type (I/O first) and
 * id.
 */
uint64_t vcpu_key(const struct vcpu *v, int id);

static inline const struct server *server_of(const struct vcpu *v)
{
	return &servers[v->params.type];
}

#endif
