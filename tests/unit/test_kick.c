// SPDX-License-Identifier: GPL-2.0-only
/* core/kick.c: a CPU never takes a command long before the NMI that announces the command. */
#include <pthread.h>
#include <time.h>
#include "fake.h"
#include "core/kick.h"
#include "unit.h"

static u32 sent, during;

static void note_ipi(u32 low, u32 apic_id)
{
	CHECK_EQ(low, 4u << 8 | 1u << 14);
	CHECK_EQ(apic_id, pcpu_of(1)->apic_id);
	during = pcpu_of(1)->kicks;
	sent++;
}

static void announced(void)
{
	struct pcpu *target = pcpu_of(1);

	fake_open(true, true);
	fake_ipi = note_ipi;
	sent = 0;
	target->ack = CMD_FLUSH | CMD_STOP;
	kick(target, CMD_FLUSH);
	CHECK_EQ(sent, 1);
	/* if the CPU looks for commands now, it sees that an NMI will follow */
	CHECK_EQ(during, 1);
	CHECK_EQ(target->kicks, 0);
	CHECK_EQ(target->ack, CMD_STOP);
	CHECK_EQ(target->stray_until, 0);
	/* the first NMI may be pending, and then announces both commands, or may have been lost */
	kick(target, CMD_INIT);
	CHECK_EQ(sent, 2);
	CHECK_EQ(target->kicks, 0);
	CHECK(target->stray_until != 0);
	CHECK_EQ(take_commands(target), CMD_FLUSH | CMD_INIT);
	CHECK_EQ(take_commands(target), 0);
	fake_ipi = fake_answer;
}

/* Two NMIs may have merged into one. No CPU waits for INIT and SIPI, so kick() sends another one */
static void sent_once_more(void)
{
	struct pcpu *target = pcpu_of(1);

	fake_open(true, true);
	fake_ipi = note_ipi;
	sent = during = 0;
	kick(target, CMD_INIT);
	CHECK_EQ(sent, 1);
	CHECK_EQ(target->stray_until, 0);
	kick(target, CMD_INIT);
	CHECK_EQ(sent, 2);
	/* a CPU that takes the command now waits for this NMI, and drops it as a stray NMI */
	CHECK_EQ(during, 1);
	CHECK_EQ(target->kicks, 0);
	CHECK(target->stray_until != 0);
	CHECK_EQ(take_commands(target), CMD_INIT);
	kick(target, CMD_INIT);
	CHECK_EQ(sent, 3);
	fake_ipi = fake_answer;
}

/* The sender is slow between the two halves of kick(): a host runs its CPU only later. */
static void *slow_sender(void *arg)
{
	const struct timespec pause = { .tv_sec = 1 };
	struct pcpu *target = arg;

	nanosleep(&pause, NULL);
	__atomic_store_n(&sent, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&target->kicks, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void waits_for_the_sender(void)
{
	struct pcpu *target = pcpu_of(1);
	pthread_t thread;

	fake_open(true, true);
	sent = 0;
	me()->boot.tsc_khz = 5000000;	/* no processor is faster: 2 s are still 2 s */
	target->kicks = 1;
	target->cmd = CMD_SIPI;
	pthread_create(&thread, NULL, slow_sender, target);
	CHECK_EQ(take_commands(target), CMD_SIPI);
	CHECK_EQ(load(&sent), 1);
	pthread_join(thread, NULL);
}

/* There is no command to take, so the sender does not wait. */
static void waits_for_nobody_else(void)
{
	struct pcpu *target = pcpu_of(1);

	fake_open(true, true);
	target->kicks = 1;
	CHECK_EQ(take_commands(target), 0);
	CHECK_EQ(target->kicks, 1);
}

/* Never acknowledges: wait_ack() sends the NMI again, and ends at its deadline. */
static void sent_again(void)
{
	struct pcpu *target = pcpu_of(1);

	fake_open(true, true);
	fake_ipi = note_ipi;
	sent = during = 0;
	me()->boot.tsc_khz = 1000;	/* 2 s of its clock pass at once */
	target->ack = 0;
	target->cmd = CMD_BECOME;
	CHECK(!wait_ack(target, target, CMD_BECOME, rdtsc() - 500000));
	CHECK(sent >= 1);
	/* the CPU that takes the command now waits for this NMI, which so cannot reach a cell */
	CHECK_EQ(during, 1);
	CHECK_EQ(target->kicks, 0);
	CHECK(target->stray_until != 0);

	sent = 0;
	target->stray_until = 0;
	CHECK_EQ(take_commands(target), CMD_BECOME);
	CHECK(!wait_ack(target, target, CMD_BECOME, rdtsc() - 500000));
	CHECK_EQ(sent, 0);
	CHECK_EQ(target->stray_until, 0);
	fake_ipi = fake_answer;
}

/* This CPU is held up for 3 s. Meanwhile the other one answers. */
static u64 three_seconds(void)
{
	fake_held_up = NULL;
	pcpu_of(1)->ack |= CMD_BECOME;
	return 3000ull * me()->boot.tsc_khz;
}

static void answered_meanwhile(void)
{
	struct pcpu *target = pcpu_of(1);
	u64 start;

	fake_open(true, true);
	fake_time();
	target->ack = 0;
	start = rdtsc();
	fake_held_up = three_seconds;
	CHECK(wait_ack(target, target, CMD_BECOME, start));
}

UNIT_SUITE(kick) = {
	{ "kick: a command waits for its NMI", announced },
	{ "kick: the same command sends another NMI while it is pending", sent_once_more },
	{ "kick: a command waits for an NMI not yet sent", waits_for_the_sender },
	{ "kick: an NMI is sent again only for a command that waits", sent_again },
	{ "kick: an answer counts if the CPU that waits is held up", answered_meanwhile },
	{ "kick: without a command there is no wait", waits_for_nobody_else },
	{ 0 }
};
