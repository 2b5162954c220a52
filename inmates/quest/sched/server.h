/* SPDX-License-Identifier: GPL-2.0-only */
/* What the scheduler asks of a VCPU's server, whichever it is. For sched/ only. */
#ifndef QUEST_SERVER_H
#define QUEST_SERVER_H

#include "sched.h"

struct server {
	void (*init)(struct vcpu *v, uint64_t at);
	/* Its parameters have changed; nothing of the new budget before `at`. */
	void (*set)(struct vcpu *v, uint64_t at);
	uint64_t (*eligible)(const struct vcpu *v);
	uint64_t (*left)(const struct vcpu *v);
	uint64_t (*period)(const struct vcpu *v);
	/* When what it has used will have come back. */
	uint64_t (*settled)(const struct vcpu *v);
	/* How much of its budget that is. */
	uint64_t (*outstanding)(const struct vcpu *v, uint64_t now);
	/* The first of its entities wants the CPU (`active`: another did already), for one with `period`. */
	void (*wake)(struct vcpu *v, uint64_t period, bool active, uint64_t now);
	void (*dispatch)(struct vcpu *v, uint64_t now);
	/* Returns the overrun. */
	uint64_t (*charge)(struct vcpu *v, uint64_t delta, uint64_t now);
	void (*block)(struct vcpu *v, uint64_t now);
	void (*shift)(struct vcpu *v, int64_t by);
};

/* By enum vcpu_type. */
extern const struct server servers[];

/* Priority: the period; then I/O VCPUs; then the id. */
uint64_t vcpu_key(const struct vcpu *v, int id);

static inline const struct server *server_of(const struct vcpu *v)
{
	return &servers[v->params.type];
}

#endif
