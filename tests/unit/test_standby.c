// SPDX-License-Identifier: GPL-2.0-only
/* cell/fail.c, core/commands.c: a cell on standby fails and begins again. */
#include <string.h>
#include "abi/status.h"
#include "cell/cell.h"
#include "core/kick.h"
#include "fake.h"
#include "fake_vendor.h"
#include "unit.h"

#define HOUR_MS		3600000u

static u64 announced[FAKE_CPUS];	/* APIC ids of the CPUs that got an NMI, in order */
static u32 num_announced;

static void note_ipi(u32 low, u32 apic_id)
{
	if (num_announced < FAKE_CPUS)
		announced[num_announced] = apic_id;
	num_announced++;
}

/* A running cell with all CPUs of the fake machine */
static void open_cell(u32 standby)
{
	u32 i;

	fake_open(true, true);
	fake_become_cell();
	me()->req.standby = standby;
	me()->req.standby_ms = HOUR_MS;
	my_status()->state = QV_MON_RUNNING;
	for (i = 0; i < me()->boot.num_cpus; i++)
		pcpu_of(i)->phase = CPU_RUNNING;
	fake_ipi = note_ipi;
	num_announced = 0;
}

/* The CPU takes its NMI. Returns true if it begins again */
static bool takes(u32 i)
{
	fake_called = NULL;
	if (!setjmp(fake_back))
		cell_nmi(pcpu_of(i));
	return fake_called;		/* it has left for the start of the instance */
}

/* The work of arrive_cell() on the boot CPU */
static void runs_again(void)
{
	u32 i;

	for (i = 0; i < me()->boot.num_cpus; i++) {
		pcpu_of(i)->cmd = 0;
		pcpu_of(i)->phase = i ? CPU_WAIT_SIPI : CPU_RUNNING;
	}
	my_status()->state = QV_MON_RUNNING;
	num_announced = 0;
}

static void check_commands(u32 cmd)
{
	u32 i;

	CHECK_EQ(num_announced, me()->boot.num_cpus);
	CHECK_EQ(announced[me()->boot.num_cpus - 1], pcpu_of(0)->apic_id);
	for (i = 0; i < me()->boot.num_cpus; i++)
		CHECK_EQ(pcpu_of(i)->cmd, cmd);
}

/* CPU 1 fails, then CPU 2. One failure counts. All begin again, the boot CPU after the others */
static void begins_again(void)
{
	u32 i;

	open_cell(2);
	cell_fail(pcpu_of(1), QV_FAIL_PORT, 0x64);
	CHECK_EQ(my_status()->state, QV_MON_STOPPED);
	CHECK_EQ(my_status()->failures, 1);
	check_commands(CMD_BECOME);
	cell_fail(pcpu_of(2), QV_FAIL_MSR, 0x10);
	CHECK_EQ(my_status()->failures, 1);
	CHECK_EQ(my_status()->failure.reason, QV_FAIL_PORT);
	for (i = 1; i <= 2; i++)
		CHECK_EQ(pcpu_of(i)->phase, CPU_WAIT_SIPI);
	for (i = me()->boot.num_cpus; i-- > 0;) {
		CHECK(!(pcpu_of(i)->ack & CMD_BECOME));
		CHECK(takes(i));
		CHECK(pcpu_of(i)->ack & CMD_BECOME);
	}
	fake_ipi = fake_answer;
}

static u32 held_up;

/* While the boot CPU looks at its clock, the others take their commands, one at a time */
static u64 others_come(void)
{
	jmp_buf back;
	u32 i = ++held_up;

	memcpy(back, fake_back, sizeof(back));
	if (i < me()->boot.num_cpus)
		CHECK(takes(i));
	memcpy(fake_back, back, sizeof(back));
	return 0;
}

/* The boot CPU takes its NMI first: it does not begin before the others have left the inmate */
static void waits_for_others(void)
{
	u32 i;

	open_cell(1);
	cell_fail(pcpu_of(0), QV_FAIL_TRIPLE_FAULT, 0);
	for (i = 1; i < me()->boot.num_cpus; i++)
		CHECK_EQ(pcpu_of(i)->ack & CMD_BECOME, 0);
	fake_time();
	held_up = 0;
	fake_held_up = others_come;
	CHECK(takes(0));
	fake_held_up = NULL;
	CHECK(held_up >= me()->boot.num_cpus - 1);
	for (i = 1; i < me()->boot.num_cpus; i++)
		CHECK(pcpu_of(i)->ack & CMD_BECOME);
	fake_ipi = fake_answer;
}

/* A CPU that never answers delays the boot CPU by 2 s at most */
static void one_is_mute(void)
{
	u64 start;

	open_cell(1);
	cell_fail(pcpu_of(0), QV_FAIL_TRIPLE_FAULT, 0);
	fake_time();
	start = rdtsc();
	CHECK(takes(0));
	CHECK(rdtsc() - start <= 2100ull * me()->boot.tsc_khz);
	fake_ipi = fake_answer;
}

/* Linux stops the cell after a failure, before or after a CPU has taken the command */
static void is_stopped_meanwhile(void)
{
	u32 i;

	open_cell(1);
	cell_fail(pcpu_of(1), QV_FAIL_PORT, 0x64);
	CHECK(takes(1));
	for (i = 0; i < me()->boot.num_cpus; i++)
		kick(pcpu_of(i), CMD_STOP);
	for (i = me()->boot.num_cpus; i-- > 0;) {
		CHECK(!takes(i));
		CHECK_EQ(pcpu_of(i)->phase, CPU_STOPPED);
		CHECK(pcpu_of(i)->ack & CMD_STOP);
		CHECK(pcpu_of(i)->ack & CMD_BECOME);
	}
	CHECK_EQ(my_status()->state, QV_MON_STOPPED);
	/* the command comes after the stop */
	kick(pcpu_of(0), CMD_BECOME);
	CHECK(!takes(0));
	CHECK_EQ(pcpu_of(0)->phase, CPU_STOPPED);
	fake_ipi = fake_answer;
}

static void limit(void)
{
	u32 i;

	open_cell(3);
	for (i = 0; i < 3; i++) {
		cell_fail(pcpu_of(0), QV_FAIL_PORT, i);
		CHECK_EQ(my_status()->state, QV_MON_STOPPED);
		runs_again();
	}
	/* the first of the three was an hour ago */
	me()->cell.failed[0] -= (u64)HOUR_MS * me()->boot.tsc_khz;
	cell_fail(pcpu_of(0), QV_FAIL_PORT, 3);
	CHECK_EQ(my_status()->state, QV_MON_STOPPED);
	runs_again();
	cell_fail(pcpu_of(0), QV_FAIL_PORT, 4);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(my_status()->failures, 5);
	check_commands(CMD_STOP);
	CHECK_EQ(pcpu_of(0)->phase, CPU_STOPPED);
	fake_ipi = fake_answer;
}

/* Not after a fault of the monitor, and not without the key */
static void stays_failed(void)
{
	open_cell(3);
	cell_fail(pcpu_of(1), QV_FAIL_MONITOR, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK_EQ(my_status()->failures, 0);
	check_commands(CMD_STOP);
	/* no CPU would begin again, and nothing would say so */
	open_cell(3);
	cell_fail(pcpu_of(1), QV_FAIL_PORT, 0x64);
	cell_fail(pcpu_of(0), QV_FAIL_MONITOR, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	CHECK(!takes(0));
	open_cell(0);
	cell_fail(pcpu_of(1), QV_FAIL_PORT, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
	check_commands(CMD_STOP);
	fake_ipi = fake_answer;
}

/* The inmate says that it cannot continue. Only a cell on standby has this call */
static void fails_by_call(void)
{
	open_cell(1);
	pcpu_of(0)->regs[GPR_RAX] = QV_CALL_FAIL;
	cell_call(pcpu_of(0));
	CHECK_EQ(my_status()->state, QV_MON_STOPPED);
	CHECK_EQ(my_status()->failure.reason, QV_FAIL_PANIC);
	CHECK_EQ(pcpu_of(0)->phase, CPU_WAIT_SIPI);
	open_cell(0);
	pcpu_of(0)->regs[GPR_RAX] = QV_CALL_FAIL;
	cell_call(pcpu_of(0));
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	CHECK_EQ(pcpu_of(0)->phase, CPU_RUNNING);
	fake_ipi = fake_answer;
}

UNIT_SUITE(standby) = {
	{ "standby: all CPUs begin again after one failure", begins_again },
	{ "standby: the boot CPU waits for the others", waits_for_others },
	{ "standby: a CPU that does not answer is not awaited for long", one_is_mute },
	{ "standby: Linux stops a cell that begins again", is_stopped_meanwhile },
	{ "standby: a loop of failures ends", limit },
	{ "standby: the inmate fails by a call", fails_by_call },
	{ "standby: a fault of the monitor ends the cell", stays_failed },
	{ 0 }
};
