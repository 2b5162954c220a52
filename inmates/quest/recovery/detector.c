// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../drivers/channel.h"
#include "../kernel/dispatch.h"
#include "../kernel/lateness.h"
#include "../kernel/process/process.h"
#include "../user/include/quest/types.h"
#include "detector.h"
#include "replica.h"

#define FIRST_BEAT_US	100000		/* a program has so much more time for its first beat */

/* A component's program could not be started: the number of the error. */
static uint64_t measure_start(struct component *c, const struct process *p, uint64_t now)
{
	(void)p;
	(void)now;
	return (uint64_t)-c->start_error;
}

/* The signals of exceptions (kernel/fault.c), and so of programs that abort. */
static bool is_exception(int status)
{
	if (!WIFSIGNALED(status))
		return false;
	switch (WTERMSIG(status)) {
	case SIGSEGV: case SIGFPE: case SIGILL: case SIGTRAP: case SIGABRT:
		return true;
	default:
		return false;
	}
}

static uint64_t measure_exception(struct component *c, const struct process *p, uint64_t now)
{
	(void)c;
	(void)now;
	return p->ending && is_exception(p->status) ? (uint64_t)WTERMSIG(p->status) : 0;
}

/* 1 plus the status of waitpid(). */
static uint64_t measure_exit(struct component *c, const struct process *p, uint64_t now)
{
	(void)c;
	(void)now;
	return p->ending && !is_exception(p->status) ? 1 + (uint64_t)p->status : 0;
}

static uint64_t us_since(uint64_t then, uint64_t now)
{
	return now > then ? timer_to_us(now - then) : 0;
}

static uint64_t measure_beat(struct component *c, const struct process *p, uint64_t now)
{
	return us_since(p->beat.last ? p->beat.last : c->started + timer_from_us(FIRST_BEAT_US),
			now);
}

/* How late a thread ran on the component's VCPU at most, since the last look. */
static uint64_t measure_late(struct component *c, const struct process *p, uint64_t now)
{
	(void)p;
	(void)now;
	return timer_to_us(lateness_take(c->vcpu));
}

/* How long the component's VCPU has used no time. */
static uint64_t measure_stall(struct component *c, const struct process *p, uint64_t now)
{
	const struct vcpu_counts *n = &sched_vcpu(dispatch_sched(), c->vcpu)->counts;

	(void)p;
	if (c->used != n->used + n->background) {
		c->used = n->used + n->background;
		c->used_since = now;
	}
	return us_since(c->used_since, now);
}

static uint64_t measure_pages(struct component *c, const struct process *p, uint64_t now)
{
	(void)c;
	(void)now;
	return p->space.pages;
}

static uint64_t measure_files(struct component *c, const struct process *p, uint64_t now)
{
	uint64_t open = 0;
	int fd;

	(void)c;
	(void)now;
	for (fd = 0; fd < FILES_MAX; fd++)
		open += p->files[fd].kind != FILE_CLOSED;
	return open;
}

/* For how long the other cell has not served the component: recovery.c measures it at its look. */
static uint64_t measure_peer(struct component *c, const struct process *p, uint64_t now)
{
	(void)c;
	(void)p;
	(void)now;
	return 0;
}

/* How long another end of the component's channel does not run. */
static uint64_t measure_channel(struct component *c, const struct process *p, uint64_t now)
{
	const struct qv_info_channel *at = channel_at((unsigned int)c->channel);
	const struct qv_chan_page *page = channel_page((unsigned int)c->channel);
	const volatile struct qv_chan_page *live = (void *)(uintptr_t)at->address;
	bool gone = !page;
	unsigned int i;

	(void)p;
	for (i = 0; page && i < page->ends; i++)
		if (i != at->end && QV_CHAN_STATE(live->end[i].life) != QV_CHAN_IS_RUNNING)
			gone = true;
	if (!gone)
		c->peer_gone = 0;
	else if (!c->peer_gone)
		c->peer_gone = now;
	return gone ? us_since(c->peer_gone, now) : 0;
}

static unsigned int number_of(const struct component *c)
{
	return (unsigned int)(c - components);
}

/* The page that differs, from 1. It looks at the others for all detectors of replicas. */
static uint64_t measure_replica(struct component *c, const struct process *p, uint64_t now)
{
	(void)p;
	replica_look(number_of(c), now);
	return replica_outvoted(number_of(c));
}

static uint64_t measure_split(struct component *c, const struct process *p, uint64_t now)
{
	(void)p;
	(void)now;
	return replica_split(number_of(c));
}

static uint64_t measure_behind(struct component *c, const struct process *p, uint64_t now)
{
	(void)p;
	return timer_to_us(replica_behind(number_of(c), now));
}

struct detector detectors[DETECTORS] = {
	[DETECT_START] = { "start", DETECTOR_EVENT, measure_start, 0, 0, 0, 0 },
	[DETECT_EXCEPTION] = { "exception", DETECTOR_EVENT, measure_exception, 0, 0, 0, 0 },
	[DETECT_EXIT] = { "exit", DETECTOR_EVENT, measure_exit, 0, 0, 0, 0 },
	[DETECT_BEAT] = { "beat", DETECTOR_US, measure_beat, 0, 0, 0, 0 },
	[DETECT_LATE] = { "late", DETECTOR_US, measure_late, 0, 0, 0, 0 },
	[DETECT_STALL] = { "stall", DETECTOR_US, measure_stall, 0, 0, 0, 0 },
	[DETECT_PAGES] = { "pages", DETECTOR_NUMBER, measure_pages, 0, 0, 0, 0 },
	[DETECT_FILES] = { "files", DETECTOR_NUMBER, measure_files, 0, 0, 0, 0 },
	[DETECT_CHANNEL] = { "channel", DETECTOR_US, measure_channel, 0, 0, 0, 0 },
	[DETECT_PEER] = { "peer", DETECTOR_US, measure_peer, 0, 0, 0, 0 },
	[DETECT_REPLICA] = { "replica", DETECTOR_VOTE, measure_replica, 0, 0, 0, 0 },
	[DETECT_SPLIT] = { "split", DETECTOR_VOTE, measure_split, 0, 0, 0, 0 },
	[DETECT_BEHIND] = { "behind", DETECTOR_US, measure_behind, 0, 0, 0, 0 },
};

static bool is_watched(const struct component *c, enum detector_kind kind, uint64_t limit)
{
	if (kind == DETECTOR_VOTE)
		return c->rule->replica[0][0];
	return limit || kind == DETECTOR_EVENT;
}

int detector_look(struct component *c, const struct process *p, uint64_t *value)
{
	int d, last = p ? DETECTORS : DETECT_START + 1;
	uint64_t limit, now;

	for (d = 0; d < last; d++) {
		limit = c->rule->limit[d];
		if (!is_watched(c, detectors[d].kind, limit))
			continue;
		now = rdtsc();
		*value = detectors[d].measure(c, p, now);
		detectors[d].cycles += rdtsc() - now;
		detectors[d].looks++;
		if (*value > limit)
			return d;
	}
	return -1;
}
