/* SPDX-License-Identifier: GPL-2.0-only */
/* The RAM log and the counters of exits. */
#ifndef QV_LOG_H
#define QV_LOG_H

#include "abi/log.h"
#include "instance.h"

void log_event(const struct pcpu *cpu, u32 what, u64 a, u64 b);	/* @what: enum qv_mon_event */
/* The same, for an access that is refused: also counts it */
void log_denied(const struct pcpu *cpu, u32 what, u64 a, u64 b);
void count_exit(const struct pcpu *cpu, u32 reason);		/* @reason: enum qv_exit */
/* Adds the time since the exit, or since the last call of this, and updates the @longest */
void exit_account(struct pcpu *cpu, u64 *longest);

#endif
