// SPDX-License-Identifier: GPL-2.0-only
/* The part ports: I/O ports that a request lists. pci.c has the ports of devices' BARs. */
#include "core/ports.h"
#include "manage/part.h"
#include "manage/mapping.h"

static u64 check(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i;

	if (q->num_ports > QV_MAX_PORTS)
		return QV_ME_PORTS;
	for (i = 0; i < q->num_ports; i++)
		if (q->ports[i].last < q->ports[i].first)
			return QV_ME_PORTS;
	for (i = 0; i < q->num_ports; i++)
		if (ports_never(&inst->boot, q->ports[i].first, q->ports[i].last))
			return QV_ME_PORT_NEVER;
	for (i = 0; i < q->num_ports; i++)
		if (ports_claimed(inst, q->ports[i].first, q->ports[i].last))
			return QV_ME_PORT_TAKEN;
	return QV_ME_OK;
}

static void stop_all(struct instance *inst, const struct qv_mon_create *q, bool stop)
{
	u32 i;

	for (i = 0; i < q->num_ports; i++)
		ports_stop(inst, q->ports[i].first, q->ports[i].last, stop);
}

static u64 map(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	stop_all(managed(), q, false);
	return QV_ME_OK;
}

static void take(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	stop_all(me(), q, slot->taken);
}

const struct part part_ports = {
	.try[PART_CHECK] = check,
	.try[PART_MAP] = map,
	.try[PART_STILL_OURS] = check,
	.act[PART_TAKE] = take,
	.act[PART_UNTAKE] = take,
	.act[PART_GIVE] = take,
};
