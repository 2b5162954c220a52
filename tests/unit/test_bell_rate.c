// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rate of bells (core/bell.h) over all that interrupts a cell: doorbell, ring and sample of
 * Linux, start, stop and failure of a peer, and rings of a cell; with two CPUs at once.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "cell/cell.h"
#include "channels_world.h"
#include "core/kick.h"
#include "fake.h"
#include "heard.h"
#include "manage/calls.h"
#include "unit.h"
#include "world.h"

#define RATE		7u
#define KHZ		10000003u	/* no multiple of RATE */
#define READ		5000u		/* cycles that a read of the fake clock takes */
#define FEW_READS	(4 * READ)
#define PEER_PA		(74ull * QV_HUGE)

static struct qv_mon_create q[2];
static struct world w;

/* ---- what cell a is interrupted by: each time ---- */

static u64 times[1000];
static u32 received;
static u32 receiver;			/* APIC id */

static void hear(u32 low, u32 apic_id)
{
	/* An NMI to a running cell is a sample here */
	if (apic_id == receiver && received < 1000)
		times[received++] = rdtsc();
	heard_ipi(low, apic_id);
}

/* Cell a shares a channel with Linux and another one with b */
static void open_both(void)
{
	u32 n;

	world_open(&w);
	fake_time();
	me()->boot.tsc_khz = KHZ;
	for (n = 0; n < 2; n++) {
		channels_request(&q[n], n, n ? "a" : "linux");
		q[n].bell_rate = RATE;
		q[n].debug = 1;
	}
	q[0].num_channels = 2;
	channels_describe(&q[0].channels[1], 0, "a", "b");
	q[0].channels[1].pa[0] = PEER_PA;
	q[0].channels[0].bell_vector = 0x50;
	q[0].channels[1].bell_vector = 0x51;
	channels_describe(&q[1].channels[0], 1, "a", "b");
	q[1].channels[0].pa[0] = PEER_PA;
	q[0].doorbell_vector = q[1].doorbell_vector = 0x20;
	for (n = 0; n < 2; n++) {
		CHECK_EQ(world_create(&w, &q[n]), n + 1);
		CHECK_EQ(world_start(&w, n + 1), 0);
	}
	receiver = pcpu_of(q[0].cpus[0])->apic_id;
	received = 0;
	fake_ipi = hear;
}

static u64 interrupt_by(u32 cpu, u64 nr)
{
	return hypercall(pcpu_of(cpu), nr, nr == QV_HC_RING ? CHANNEL_PA : 1);
}

/* Checks that no millisecond has more than RATE of the interrupts */
static void check_windows(void)
{
	u32 i;

	for (i = 0; i + RATE < received; i++)
		CHECK(times[i + RATE] - times[i] + FEW_READS >= KHZ);
}

/* ---- two CPUs of Linux ---- */

static u64 other_nr, other_result;
static u32 reads, act_at;		/* the other CPU acts at this read of the clock */

static u64 other_cpu(void)
{
	/* While a CPU holds the lock of records, another one waits */
	if (reads++ != act_at || me()->locks[LOCK_CHANNELS])
		return 0;
	other_result = interrupt_by(3, other_nr);
	return 0;
}

/* CPU 3 makes its whole call at each read of the clock of the other call */
static void race(u64 nr, u64 second)
{
	struct cell_slot *slot = &me()->manager.cells[1];
	u64 result;

	other_nr = second;
	for (act_at = 0; ; act_at++) {
		unit_case("calls %u and %u, read %u:", (u32)nr, (u32)second, act_at);
		slot->bell_next = 0;
		received = reads = 0;
		other_result = QV_ME_BUSY;
		fake_held_up = other_cpu;
		result = interrupt_by(0, nr);
		fake_held_up = NULL;
		CHECK_EQ(received, 1);
		CHECK_EQ((result == QV_ME_OK) + (other_result == QV_ME_OK), 1);
		if (reads <= act_at)
			break;
	}
	CHECK(act_at > 1);
}

static void races(void)
{
	open_both();
	race(QV_HC_DOORBELL, QV_HC_RING);
	race(QV_HC_RING, QV_HC_DOORBELL);
	race(QV_HC_SAMPLE, QV_HC_RING);
	race(QV_HC_RING, QV_HC_SAMPLE);
}

/* ---- all that Linux and the manager send, over any window ---- */

static void restart_peer(void)
{
	CHECK_EQ(world_stop(&w, 2), 0);
	channels_destroy(&w, 2);
	CHECK_EQ(world_create(&w, &q[1]), 2);
	CHECK_EQ(world_start(&w, 2), 0);
}

static void any_window(void)
{
	static const u64 calls[] = { QV_HC_DOORBELL, QV_HC_RING, QV_HC_SAMPLE };
	u32 sent[4] = { 0 }, step, i, pause;

	open_both();
	for (step = 0; step < 400; step++) {
		for (pause = rnd_below(300); pause; pause--)
			rdtsc();
		i = rnd_below(16);
		if (!i)
			restart_peer();
		else
			sent[i % 3] += !interrupt_by(rnd_below(2) * 3, calls[i % 3]);
		sent[3] += !i;
	}
	unit_case("all calls:");
	for (i = 0; i < 4; i++)
		CHECK(sent[i]);
	/* a hears of each stop and of each start */
	CHECK_EQ(received, sent[0] + sent[1] + sent[2] + 2 * sent[3]);
	check_windows();
}

/* The TSC of the CPU that came last was hours ahead: no CPU waits for that, and none sends */
static void clocks_differ(void)
{
	open_both();
	me()->manager.cells[1].bell_next = rdtsc() + (1ull << 50);
	CHECK_EQ(interrupt_by(0, QV_HC_DOORBELL), QV_ME_RATE);
	CHECK_EQ(interrupt_by(3, QV_HC_RING), QV_ME_RATE);
	restart_peer();
	CHECK_EQ(received, 0);
}

/* ---- a cell rings ---- */

static u32 targets;

static void open_cell(u32 channels)
{
	u32 i;

	fake_open(true, true);
	fake_time();
	fake_become_cell();
	me()->boot.tsc_khz = KHZ;
	me()->req.bell_rate = RATE;
	me()->req.num_channels = channels;
	for (i = 0; i < channels; i++) {
		me()->req.channels[i].page.ends = 2;
		me()->bells.target[i][1] = BELL(pcpu_of(2)->apic_id, 0, 2, 0x41 + i);
		me()->gmem_entries[(QV_VA_LIFE - QV_VA_GMEM) / QV_PAGE + i] =
			(CHANNEL_PA + i * QV_PAGE) | PT_P | PT_W;
		invlpg(QV_VA_LIFE + i * QV_PAGE);
	}
	targets = channels;
	receiver = pcpu_of(2)->apic_id;
	received = 0;
	fake_ipi = hear;
}

static bool rung(u32 cpu, u32 channel)
{
	struct pcpu *by = pcpu_of(cpu);

	by->regs[GPR_RDI] = ~0ull;
	CHECK(cell_bell(by, channel));
	if (by->regs[GPR_RDI])
		CHECK_EQ(by->regs[GPR_RDI], me()->bells.next);
	return !by->regs[GPR_RDI];
}

static bool other_rung;

static u64 other_rings(void)
{
	if (reads++ == act_at)
		other_rung = rung(1, 1);
	return 0;
}

static void two_cpus_of_a_cell(void)
{
	bool first;

	open_cell(2);
	for (act_at = 0; ; act_at++) {
		unit_case("read %u:", act_at);
		me()->bells.next = 0;
		received = reads = other_rung = 0;
		fake_held_up = other_rings;
		first = rung(0, 0);
		fake_held_up = NULL;
		CHECK_EQ(received, 1);
		CHECK(first || other_rung);
		if (reads <= act_at)
			break;
		CHECK(first != other_rung);
	}
	CHECK(act_at);
}

/* "Later" sends nothing, and names the TSC from which on the call passes */
static void later(void)
{
	u64 overruns, turn;
	u32 i;

	open_cell(3);
	CHECK(rung(0, 0));
	turn = me()->bells.next;
	CHECK(!rung(0, 0));
	CHECK(!rung(0, 1));			/* one rate over all channels */
	CHECK_EQ(me()->bells.next, turn);	/* a refusal does not move the turn */
	CHECK_EQ(received, 1);
	overruns = pcpu_of(0)->status->bell_overruns;
	CHECK_EQ(overruns, 2);
	CHECK_EQ(pcpu_of(0)->status->bells, 3);
	while (rdtsc() < turn)
		;
	CHECK(rung(0, 2));
	for (i = 0; i < 20000; i++)
		rung(i % 2, i % 3);
	CHECK(received > RATE);
	check_windows();
}

static u32 failed_at_first;

static void hear_failure(u32 low, u32 apic_id)
{
	u32 i;

	for (i = 0; !received && i < targets; i++)
		failed_at_first += ((const struct qv_chan_page *)(fake_ram + CHANNEL_PA +
				    i * QV_PAGE))->end[0].life == QV_CHAN_IS_FAILED;
	hear(low, apic_id);
}

/* A peer with many channels to one receiver fails: its bells keep to the rate, too */
static void failure(void)
{
	open_cell(QV_MAX_CHANNELS);
	memset(fake_ram + CHANNEL_PA, 0, QV_HUGE);
	fake_ipi = hear_failure;
	failed_at_first = 0;
	CHECK(rung(0, 0));
	received = 0;
	cell_channels_failed(pcpu_of(1));
	CHECK_EQ(received, QV_MAX_CHANNELS);
	CHECK_EQ(failed_at_first, QV_MAX_CHANNELS);
	check_windows();
	CHECK(!rung(0, 0));
}

UNIT_SUITE(bell_rate) = {
	{ "bell rate: two CPUs of Linux at once", races },
	{ "bell rate: any window over all that Linux and the manager send", any_window },
	{ "bell rate: clocks that differ", clocks_differ },
	{ "bell rate: two CPUs of a cell at once", two_cpus_of_a_cell },
	{ "bell rate: a cell that rings too soon is answered", later },
	{ "bell rate: a failed peer with many channels", failure },
	{ 0 }
};
