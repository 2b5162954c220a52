// SPDX-License-Identifier: GPL-2.0-only
/* manage/cpus.c: CPUs that move between Linux and cells, and the flushes for them. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/apic.h"
#include "core/kick.h"
#include "manage/manage.h"
#include "fake_vendor.h"
#include "request_model.h"
#include "unit.h"
#include "world.h"

#define M2	(u64)QV_HUGE

static void stuck_cpus(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 cpu;

	world_open(&w);
	world_simple_request(&q);
	for (cpu = 1; cpu < FAKE_CPUS; cpu++) {
		unit_case("create, CPU %u:", cpu);
		fake_stuck = 1ull << 2 * cpu;
		CHECK_EQ(world_create(&w, &q), QV_ME_CPU_STUCK);
		world_check(&w);
		fake_stuck = 0;
		fake_answer(0x4400, 2 * cpu);		/* the CPU answers late */
		CHECK_EQ(pcpu_of(cpu)->cmd, 0);
	}
	CHECK_EQ(me()->icr.x2, 0);
	q.x2apic = 1;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(me()->icr.x2, 1 << 1 | 1 << 3);
	unit_case("start, CPU 2:");
	fake_stuck = 1 << 4;
	CHECK_EQ(world_start(&w, 1), QV_ME_CPU_STUCK);
	world_check(&w);
	fake_stuck = 0;
	fake_answer(0x4400, 4);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	unit_case("stop, the cell's second CPU:");
	fake_stuck = 1 << 2;
	CHECK_EQ(world_stop(&w, 1), QV_ME_CPU_LOST);
	world_check(&w);
	CHECK_EQ(world_stop(&w, 1), QV_ME_STATE);
	CHECK_EQ(me()->manager.away, 1 << 1 | 1 << 3);
	/* the first CPU is back; the second may still access the memory that is left */
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_CPU_LOST);
	CHECK_EQ(me()->manager.away, 1 << 1);
	CHECK_EQ(me()->icr.own_cpus, 0xd);
	CHECK_EQ(me()->manager.cells[1].cpus, 1 << 1);
	CHECK_EQ(me()->icr.x2, 1 << 1);		/* the lost CPU is in x2APIC mode still */
	CHECK(my_status()->cpus[1].lost && !my_status()->cpus[3].lost);
	fake_stuck = 0;
	mapping_set(QV_VA_MANAGE, q.block_pa);
	fake_answer(0x4400, 2);					/* the CPU answers late */
	mapping_set(QV_VA_MANAGE, 0);
	for (cpu = 0; cpu < 5; cpu++)
		CHECK_EQ(world_reclaim(&w, 1), 1);
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_OK);
	CHECK_EQ(me()->icr.x2, 0);
	CHECK(!my_status()->cpus[1].lost);
	world_check(&w);
}

/* A CPU that was late for start and never left Linux is not lost. */
static void never_sent(void)
{
	static struct qv_mon_create q;
	static struct world w;

	world_open(&w);
	world_simple_request(&q);
	CHECK_EQ(world_create(&w, &q), 1);
	fake_deaf = CMD_BECOME;
	CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_CPU_STUCK);
	fake_deaf = 0;
	w.state[1] = QV_MON_RUNNING;
	CHECK_EQ(me()->manager.away, 1 << 1);
	CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
	CHECK_EQ(me()->manager.away, 0);
	fake_as(1);
	front_nmi(pcpu_of(1));	/* the NMI announced a command that is already withdrawn */
	fake_as(0);
	CHECK_EQ(pcpu_of(1)->phase, CPU_WAIT_SIPI);
	while (world_reclaim(&w, 1) == 1)
		;
	world_check(&w);
}

/* Only a CPU that is caught and parked moves to a cell. */
static void not_caught(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 own;

	for (own = 0; own < 2; own++) {
		world_open(&w);
		world_simple_request(&q);
		CHECK_EQ(world_create(&w, &q), 1);
		if (own)
			me()->icr.own_cpus |= 1 << 1;
		else
			pcpu_of(1)->phase = CPU_RUNNING;
		CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_CPU_STUCK);
		CHECK_EQ(pcpu_in((u64)fake_ram + q.block_pa, 1)->ack, 0);
	}
}

static void linux_wants(u32 mode, u32 index)
{
	icr_write(pcpu_of(2), (u64)pcpu_of(index)->apic_id << 32 | mode << 8 | 1 << 14 | 0x9a);
}

/* A third CPU of Linux sends INIT and SIPI to the first as soon as the first is caught. */
static void start_when_caught(u32 low, u32 apic_id)
{
	struct pcpu *target = pcpu_of(apic_id / 2);
	u32 cmd = target->cmd;

	fake_answer(low, apic_id);
	if (!(cmd & CMD_CATCH))
		return;
	linux_wants(5, target->index);
	linux_wants(6, target->index);
	atomic_or(&target->cmd, CMD_SIPI);		/* this SIPI was sent before the catch */
	fake_answer(low, apic_id);
	CHECK_EQ(target->phase, CPU_WAIT_SIPI);
}

static void sipi_in_create(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 error;

	for (error = 0; error < 2; error++) {
		world_open(&w);
		world_simple_request(&q);
		q.num_devices = 0;
		fake_ipi = start_when_caught;
		if (error)
			/* the flush fails: all CPUs and all memory return to Linux */
			fake_stuck = 1 << 4;
		CHECK_EQ(world_create(&w, &q), error ? QV_ME_CPU_STUCK : 1);
		fake_stuck = 0;
		fake_ipi = fake_answer;
		CHECK_EQ(pcpu_of(1)->phase, CPU_WAIT_SIPI);
		linux_wants(6, 1);
		CHECK_EQ(pcpu_of(1)->phase, error ? CPU_RUNNING : CPU_WAIT_SIPI);
		if (!error)
			CHECK_EQ(world_start(&w, 1), QV_ME_OK);
		world_check(&w);
	}
}

static u32 flushes;

static void count_flushes(u32 low, u32 apic_id)
{
	flushes += (pcpu_of(apic_id / 2)->cmd & CMD_FLUSH) != 0;
	fake_answer(low, apic_id);
}

/* The CPUs of a cell that has not started flush their translations as Linux's CPUs do. */
static void flush_of_the_caught(void)
{
	static struct qv_mon_create q, other;
	static struct world w;

	world_open(&w);
	world_simple_request(&q);
	world_other_request(&other);
	CHECK_EQ(world_create(&w, &q), 1);
	flushes = 0;
	fake_ipi = count_flushes;
	CHECK_EQ(world_create(&w, &other), 2);
	CHECK_EQ(flushes, 3);
	flushes = 0;
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	CHECK_EQ(flushes, 3);
	flushes = 0;
	CHECK_EQ(world_start(&w, 2), QV_ME_OK);
	CHECK_EQ(flushes, 1);			/* the other CPUs run in the cell */
	fake_ipi = fake_answer;
}

/*
 * While a block is given back, a CPU of Linux does not answer. Linux then forges an instance in the
 * block.
 */
static void forged_block(void)
{
	static struct qv_mon_create q;
	static struct world w;
	struct instance *forged;
	u8 *victim;

	world_open(&w);
	world_simple_request(&q);
	victim = fake_ram + 100 * M2;
	memset(victim, 0x77, M2);
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
	while (w.given_back[1] < 5)
		CHECK_EQ(world_reclaim(&w, 1), 1);
	fake_stuck = 1 << 4;
	CHECK_EQ(world_reclaim(&w, 1), 0);
	world_check(&w);
	forged = (struct instance *)fake_instance(q.block_pa);
	forged->req.num_cpus = 1;
	forged->req.num_runs = 1;
	forged->req.runs[0] = (struct qv_mon_run){ 100 * M2, 9 };
	fake_stuck = 0;
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_INSTANCE);
	CHECK(victim[0] == 0x77 && !memcmp(victim, victim + 1, M2 - 1));
	CHECK_EQ(me()->icr.own_cpus, 0xf);
	world_check(&w);
}

static u32 early_flushes;

/* the call must catch CPUs 1 and 3 */
static void note_flush(u32 low, u32 apic_id)
{
	struct pcpu *target = pcpu_of(apic_id / 2);

	if (target->cmd & CMD_FLUSH && apic_id != 4 && target->phase != CPU_WAIT_SIPI)
		early_flushes++;
	fake_answer(low, apic_id);
}

/*
 * A flush may inject an NMI into Linux. A CPU caught in the NMI handler would get no further NMI.
 */
static void caught_before_a_flush(void)
{
	static struct qv_mon_create q;
	static struct world w;

	world_open(&w);
	world_simple_request(&q);
	early_flushes = 0;
	fake_ipi = note_flush;
	CHECK_EQ(world_create(&w, &q), 1);
	fake_ipi = fake_answer;
	CHECK_EQ(early_flushes, 0);
}

static u32 lost_nmis, sent_nmis;

/* The first NMIs to a CPU merge with Linux's NMIs, so the CPU does not see the command. */
static void lose(u32 low, u32 apic_id)
{
	sent_nmis++;
	if (lost_nmis)
		lost_nmis--;
	else
		fake_answer(low, apic_id);
}

/*
 * The manager sends the NMI for a command again until the CPU takes the command, or until the
 * deadline.
 */
static void lost_announcements(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 lost;

	for (lost = 1; lost < 4; lost++) {
		world_open(&w);
		fake_time();
		world_simple_request(&q);
		q.num_cpus = 1;
		unit_case("%u NMIs lost:", lost);
		CHECK_EQ(world_create(&w, &q), 1);
		fake_ipi = lose;
		sent_nmis = 0;
		/* the flush's NMIs are lost too; they are sent again 200 ms later */
		lost_nmis = lost + 3;
		CHECK_EQ(world_start(&w, 1), QV_ME_OK);
		sent_nmis = 0;
		lost_nmis = lost;
		CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
		CHECK_EQ(sent_nmis, lost + 1);
		sent_nmis = 0;
		lost_nmis = lost;
		CHECK_EQ(world_reclaim(&w, 1), 1);		/* the CPU has left the cell */
		CHECK_EQ(sent_nmis, lost + 1);
		fake_ipi = fake_answer;
		world_check(&w);
	}
	world_open(&w);
	fake_time();
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
	fake_ipi = lose;
	sent_nmis = 0;
	lost_nmis = ~0u;
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_CPU_LOST);
	CHECK_EQ(sent_nmis, 10);	/* NMIs sent within the deadline of two seconds */
	fake_ipi = fake_answer;
}

UNIT_SUITE(manager_cpus) = {
	{ "manager: CPUs that do not answer are reported", stuck_cpus },
	{ "manager: a CPU that never left is not lost", never_sent },
	{ "manager: only a caught CPU moves to a cell", not_caught },
	{ "manager: a SIPI does not start a caught CPU", sipi_in_create },
	{ "manager: a flush covers caught CPUs", flush_of_the_caught },
	{ "manager: a forged block is not read", forged_block },
	{ "manager: a CPU to be caught gets no NMI of a flush", caught_before_a_flush },
	{ "manager: lost NMIs are sent again", lost_announcements },
	{ 0 }
};
