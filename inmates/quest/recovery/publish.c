// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../kernel/machine.h"
#include "component.h"
#include "detector.h"
#include "outage.h"
#include "publish.h"
#include "replica.h"

_Static_assert(QV_RECOVERY_GPA + sizeof(struct qv_recovery) <= QV_COMM_GPA + 0x1000 &&
	       sizeof(struct qv_recovery) <= QV_RECOVERY_LEN, "the block is in the comm page");
_Static_assert(sizeof(struct qv_comm) <= QV_RECOVERY_GPA - QV_COMM_GPA, "it follows the keys");
_Static_assert(COMPONENTS_MAX <= QV_RECOVERY_COMPONENTS && DETECTORS <= QV_RECOVERY_DETECTORS &&
	       OUTAGES == QV_RECOVERY_OUTAGES && COMPONENT_NAME == QV_RECOVERY_NAME &&
	       ARCHIVE_NAME == QV_RECOVERY_PROGRAM && REPLICAS_MAX == QV_RECOVERY_REPLICAS &&
	       VOTE_CELLS == 3 && VOTE_PAGES == 16, "all fit in the block");
_Static_assert((int)COMPONENT_RUNS == (int)QV_COMPONENT_RUNS &&
	       (int)COMPONENT_ENDED == (int)QV_COMPONENT_ENDED &&
	       (int)COMPONENT_MOVED == (int)QV_COMPONENT_MOVED &&
	       (int)COMPONENT_LOST == (int)QV_COMPONENT_LOST &&
	       (int)COMPONENT_STANDBY == (int)QV_COMPONENT_STANDBY,
	       "the states are those of the block");
_Static_assert((int)STRATEGY_INSTEAD == (int)QV_STRATEGY_INSTEAD &&
	       (int)STRATEGY_ROLLBACK == (int)QV_STRATEGY_ROLLBACK &&
	       (int)STRATEGY_CELL == (int)QV_STRATEGY_CELL &&
	       (int)STRATEGY_GIVE_UP == (int)QV_STRATEGY_GIVE_UP &&
	       (int)STRATEGY_TAKEOVER == (int)QV_STRATEGY_TAKEOVER,
	       "so are the strategies");

static void publish_component(struct qv_component *to, const struct component *c)
{
	memcpy(to->name, c->rule->name, sizeof(to->name));
	memcpy(to->program, c->program, sizeof(to->program));
	to->state = (uint32_t)c->state;
	to->pid = (uint32_t)c->pid;
	to->starts = c->starts;
	to->faults = c->faults;
	to->longest = c->longest;
}

static void publish_detector(struct qv_detector *to, const struct detector *d, uint64_t bound)
{
	(void)copy_string(to->name, d->name, sizeof(to->name));
	to->bound = bound;
	to->latest = d->latest;
	to->looks = d->looks;
	to->cycles = d->cycles;
	to->found = (uint32_t)d->found;
}

static void publish_outage(struct qv_outage *to, const struct outage *o)
{
	to->component = o->component;
	to->detector = (uint16_t)o->detector;
	to->strategy = (uint16_t)o->strategy;
	to->value = o->value;
	to->fault = o->fault;
	to->detected = o->detected;
	to->stopped = o->stopped;
	to->started = o->started;
	to->alive = o->alive;
}

static void publish_replica(struct qv_replica *to, unsigned int n)
{
	const struct replica_counts *c = replica_counts(n);
	unsigned int i;

	to->component = n;
	to->page = c->page;
	to->votes = c->votes;
	memcpy(to->outvoted, c->outvoted, sizeof(to->outvoted));
	memcpy(to->late, c->late, sizeof(to->late));
	for (i = 0; i < VOTE_OTHERS; i++)
		(void)copy_string(to->cells[i], replica_cell(n, i + 1), sizeof(to->cells[i]));
}

static void publish_replicas(struct qv_recovery *block)
{
	unsigned int n, replicas = 0;

	for (n = 0; n < num_components; n++)
		if (replica_used(n))
			publish_replica(&block->replicas[replicas++], n);
	block->num_replicas = replicas;
}

void recovery_publish(uint64_t bound)
{
	struct qv_recovery *block = (struct qv_recovery *)QV_RECOVERY_GPA;
	int i, end = outage_count();
	unsigned int n;

	if (!cell_present())
		return;
	((volatile struct qv_recovery *)block)->seq++;
	barrier();		/* the odd number is stored before a change: x86 keeps the order */
	block->version = QV_RECOVERY_VERSION;
	block->boot = machine.boot_tsc;
	for (n = 0; n < num_components; n++)
		publish_component(&block->components[n], &components[n]);
	block->num_components = num_components;
	for (n = 0; n < DETECTORS; n++)
		publish_detector(&block->detectors[n], &detectors[n], bound);
	block->num_detectors = DETECTORS;
	for (i = end > OUTAGES ? end - OUTAGES : 0; i < end; i++)
		publish_outage(&block->outages[i % OUTAGES], outage_at(i));
	block->num_outages = (uint32_t)end;
	publish_replicas(block);
	barrier();
	((volatile struct qv_recovery *)block)->seq++;
}
