// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "manage/calls.h"
#include "core/apic.h"
#include "manage/manage.h"
#include "tables/nested.h"
#include "fake_vendor.h"
#include "steps.h"
#include "steps_cell.h"
#include "unit.h"

#define VICTIM		(100 * (u64)QV_HUGE)	/* the page that forged blocks list as memory */
#define NMI_IPI		4u
#define RINGER		3u	/* the boot CPU of the cell */
#define RING_STEPS	150u	/* steps between a look of the cell at a target and its bell */

static struct qv_mon_create request;
static struct steps *run;
static struct {
	bool there[FAKE_CPUS];		/* the CPU runs in the cell's instance */
	bool nmi[FAKE_CPUS];		/* an NMI is pending for the CPU */
	u32 age[FAKE_CPUS];		/* number of steps since the NMI was sent */
	/* HAS_ bits: the CPU may have a translation to these */
	u32 cached[FAKE_CPUS];
	bool shared;			/* Linux has not yet given the channel back */
	u64 bell;			/* the target that a CPU of the cell has loaded */
	u32 bell_age;			/* number of steps since then */
	bool bells_off;			/* Linux wants no bells from now on */
	u32 last_taken;			/* step */
	bool late;			/* the actor has not yet sent the IPIs of .verdict */
	struct icr_verdict verdict;
	bool acting, inside;
} now;

const char *steps_act_name(enum steps_act act)
{
	static const char *const names[ACTS] = {
		"nothing", "INIT", "SIPI", "INIT and SIPI",
		"NMI", "late INIT", "late SIPI", "late NMI",
		"read", "write", "calls", "bells of Linux", "a bell of the cell",
	};

	return names[act];
}

/* ---- the translations that each CPU may have ---- */

static bool runs_linux(u32 i)
{
	return !now.there[i] && pcpu_of(i)->phase == CPU_RUNNING;
}

static void entry(u32 i)
{
	if (pcpu_of(i)->flush)
		now.cached[i] = 0;
	pcpu_of(i)->flush = false;
}

/* ---- NMIs ---- */

static void send_late(void)
{
	u32 i;

	if (!now.late)
		return;
	now.late = false;
	now.acting = true;
	for (i = 0; i < FAKE_CPUS; i++) {		/* does the rest of icr_write() */
		if (!(now.verdict.targets >> i & 1))
			continue;
		if (now.verdict.action == ICR_SEND) {
			apic_send(now.verdict.low, pcpu_of(i)->apic_id);
			continue;
		}
		pcpu_of(i)->sipi = now.verdict.vector;
		kick(pcpu_of(i), now.verdict.action == ICR_INIT ? CMD_INIT : CMD_SIPI);
	}
	now.acting = false;
}

static void take_there(u32 i)
{
	if (fake_cell_nmi(pcpu_in(QV_VA_MANAGE, request.cpus[0] == i ? 0 : 1))) {
		now.there[i] = false;
		now.cached[i] = 0;
	}
}

static bool is_mute(u32 i)
{
	return run->mute && i == run->mute && run->calls >= run->mute_from;
}

/* This CPU of the cell is in the monitor, to ring, and nothing interrupts it there. */
static bool rings(u32 i)
{
	return i == RINGER && now.bell_age;
}

static void take(u32 i)
{
	/* A CPU accesses its own block. The manager's mapping does not matter. */
	bool open = me()->directory[QV_VA_MANAGE >> 21 & 511] & PT_P;

	now.nmi[i] = false;
	now.last_taken = run->count;
	if (i == STEPS_ACTOR)
		send_late();			/* the CPU is now between two exits */
	if (!open)
		mapping_set(QV_VA_MANAGE, STEPS_BLOCK);
	if (now.there[i])
		take_there(i);
	else
		now.there[i] = fake_front_nmi(pcpu_of(i));
	if (!now.there[i])
		entry(i);
	if (!open)
		mapping_set(QV_VA_MANAGE, 0);
}

static void deliver(u32 lag)
{
	u32 i;

	for (i = 1; i < FAKE_CPUS; i++)
		if (now.nmi[i] && !is_mute(i) && !rings(i) && now.age[i]++ >= lag)
			take(i);
}

static void on_ipi(u32 low, u32 apic_id)
{
	u32 i = apic_id / 2;

	if (!(low >> 8 & 7) && (u8)low == LINUX_BELL)
		CHECK(!(me()->manager.away >> i & 1) && !now.bells_off);
	if (!(low >> 8 & 7) && (u8)low == CELL_BELL) {
		CHECK(!(me()->icr.own_cpus >> i & 1));
		return;
	}
	if (now.acting) {
		unit_case("%s at step %u, lag %u: IPI %#x to CPU %u:", steps_act_name(run->act),
			  run->at, run->lag, low, i);
		CHECK(!now.there[i]);	/* no IPI from Linux may reach a cell's CPU */
	}
	if ((low >> 8 & 7) != NMI_IPI)
		return;
	if (!now.nmi[i])
		now.age[i] = 0;
	now.nmi[i] = true;
}

/* ---- acts of the other CPU of Linux ---- */

static void icr(u32 mode, bool late)
{
	/* ICR value: an interrupt to all other CPUs */
	u32 low = 3u << 18 | 1u << 14 | mode << 8 | 0x9a;

	if (!late) {
		icr_write(pcpu_of(STEPS_ACTOR), low);
		return;
	}
	now.verdict = icr_filter(&me()->icr, low, 0, STEPS_ACTOR);
	now.late = true;
}

static void touch(bool write)
{
	static const u64 places[] = {
		STEPS_BLOCK, STEPS_BLOCK + 0x100000, 11 * (u64)QV_HUGE, 40 * (u64)QV_HUGE,
		50 * (u64)QV_HUGE, STEPS_SHARED, STEPS_SHARED + QV_PAGE, STEPS_BAR,
	};
	u32 i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		fake_memory_exit(pcpu_of(STEPS_ACTOR), places[i], write);
}

/* ---- bells ---- */

/* Linux moves its bells to another CPU, and rings. No call may change the records meanwhile */
static void linux_bells(void)
{
	u32 cpu;

	for (cpu = 1; cpu < FAKE_CPUS; cpu++) {
		bool own = me()->icr.own_cpus >> cpu & 1;
		u64 to = STEPS_SHARED | (u64)cpu << 56 | LINUX_BELL;
		u64 result = hypercall(pcpu_of(STEPS_ACTOR), QV_HC_BELL, to);

		CHECK(result == QV_ME_BELL || (own && result == QV_ME_OK));
		CHECK(!now.shared || !own || result == QV_ME_OK);
	}
	hypercall(pcpu_of(STEPS_ACTOR), QV_HC_RING, STEPS_SHARED);
}

static struct bells *bells(void)
{
	return (struct bells *)&fake_instance(STEPS_BLOCK)->bells;
}

/* Does what cell_ring() in cell/channels.c does, in two parts */
static void cell_loads_target(void)
{
	if (!now.there[RINGER] || now.bell_age)
		return;
	bells()->uses[0]++;
	now.bell = bells()->target[1][1];
	now.bell_age = 1;
}

static void cell_rings(void)
{
	if (!now.bell_age || now.bell_age++ <= RING_STEPS)
		return;
	now.bell_age = 0;
	if (now.bell)
		apic_send(1 << 14 | (u8)now.bell, now.bell >> 32);
	bells()->uses[0]++;
}

static void calls(void)
{
	u64 nr;

	/* outside of a call the actor's own call would succeed */
	for (nr = QV_HC_LEAVE; me()->locks[LOCK_MANAGER] && nr <= QV_HC_LOCK; nr++)
		CHECK_EQ(hypercall(pcpu_of(STEPS_ACTOR), nr,
				   nr == QV_HC_CREATE ? REQUEST_PAGE * (u64)QV_HUGE : 1),
			 QV_ME_BUSY);
}

static void act(void)
{
	now.acting = true;
	fake_as(STEPS_ACTOR);
	switch (run->act) {
	case ACT_NOTHING: case ACTS:
		break;
	case ACT_INIT: case ACT_LATE_INIT:
		icr(5, run->act == ACT_LATE_INIT);
		break;
	case ACT_SIPI: case ACT_LATE_SIPI:
		icr(6, run->act == ACT_LATE_SIPI);
		break;
	case ACT_INIT_SIPI:
		icr(5, false);
		deliver(0);
		icr(6, false);
		break;
	case ACT_NMI: case ACT_LATE_NMI:
		icr(0, false);
		icr(4, run->act == ACT_LATE_NMI);
		break;
	case ACT_CALLS:
		calls();
		break;
	case ACT_READ: case ACT_WRITE:
		touch(run->act == ACT_WRITE);
		break;
	case ACT_LINUX_BELLS:
		linux_bells();
		break;
	case ACT_CELL_BELL:
		cell_loads_target();
		break;
	}
	fake_as(0);
	now.acting = false;
}

/* Linux writes a forged instance, which owns everything, to each page that Linux may write. */
static void forge(u32 visible)
{
	struct instance *forged = (struct instance *)fake_instance(STEPS_BLOCK);
	bool there = visible & 1;

	if (there && !run->forged) {
		forged->id = 1;
		forged->req.num_cpus = 1;
		forged->req.cpus[0] = STEPS_ACTOR;
		forged->req.num_runs = 1;
		forged->req.runs[0] = (struct qv_mon_run){ VICTIM, 9 };
	}
	run->forged = there;
}

/* ---- invariants between any two steps ---- */

/* Returns what no CPU of the front end may have a translation to. */
static u32 secret(void)
{
	u32 state = me()->manager.cells[1].state, i;

	if (state == QV_MON_RUNNING && !now.shared) {
		now.shared = true;
		steps_write();
	}
	for (i = 0; i < FAKE_CPUS; i++)
		if (now.there[i])
			return HAS_ALL;
	return steps_secret() | (now.shared ? HAS_SECTION : 0);
}

static void check_cpus(void)
{
	u64 own = me()->icr.own_cpus, away = me()->manager.away;
	u32 i;

	CHECK(!(own & away));
	CHECK(!me()->manager.cells[1].state || !(own & me()->manager.cells[1].cpus));
	CHECK(!((own | away) >> FAKE_CPUS));
	for (i = 1; i < FAKE_CPUS; i++) {
		CHECK(!now.there[i] || away >> i & 1);
		/* a CPU that will be caught may still run, since nothing is built yet */
		CHECK(own >> i & 1 || !runs_linux(i) ||
		      !(steps_mapping(QV_VA_MANAGE) || me()->manager.cells[1].state));
	}
}

static void check(u32 visible)
{
	u32 pages = secret(), i;

	unit_case("%s at step %u, lag %u, mute %u from %u, now call %u, step %u:",
		  steps_act_name(run->act), run->at, run->lag, run->mute, run->mute_from,
		  run->calls, run->count);
	check_cpus();
	CHECK(!(visible & pages));
	steps_seen(visible);
	for (i = 1; i < FAKE_CPUS; i++)
		CHECK(now.there[i] || !(now.cached[i] & pages));
}

/* While no CPU takes an NMI, all rounds of wait_ack() are the same. There are some 1000 places. */
static bool waits(const void *pc)
{
	static struct { const void *pc; bool waits; } known[4096];
	u32 i = (u64)pc % 4093;
	Dl_info info;

	while (known[i].pc && known[i].pc != pc)
		i = (i + 1) % 4096;
	if (!known[i].pc) {
		known[i].waits = dladdr(pc, &info) && info.dli_sname &&
				 !strcmp(info.dli_sname, "wait_ack");
		known[i].pc = pc;
	}
	return known[i].waits;
}

static void step(const void *pc)
{
	static u32 rounds;
	u32 visible, i;

	cell_rings();
	deliver(run->lag);
	if (!waits(pc))
		rounds = 0;
	else if (++rounds > 12 && now.last_taken + 12 < run->count)
		return;
	if (now.there[RINGER]) {
		run->there_from = run->there_from ? run->there_from : run->count;
		run->there_to = run->count;
	}
	visible = steps_linux_has();
	for (i = 1; i < FAKE_CPUS; i++)
		if (runs_linux(i))
			now.cached[i] |= visible;
	forge(visible);
	/* a CPU that needs the lock of records waits while the manager has it */
	if (run->act == ACT_LINUX_BELLS && run->at == run->count &&
	    load(&me()->locks[LOCK_CHANNELS]))
		run->at++;
	if (run->count++ == run->at)
		act();
	check(steps_linux_has());
}

u64 steps_blocks;

void steps_count_block(void);
void steps_count_block(void)
{
	steps_blocks++;
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	if (!run || now.inside)
		return;
	now.inside = true;
	step(__builtin_return_address(0));
	now.inside = false;
}

/* ---- the life of a cell ---- */

static u64 linux_calls(u64 nr, u64 argument)
{
	u64 result;
	u32 i;

	run->calls++;
	now.cached[0] |= steps_linux_has();
	result = hypercall(pcpu_of(0), nr, argument);
	entry(0);
	now.inside = true;
	for (i = 0; i < 3; i++)
		deliver(0);
	if (!run->mute)
		send_late();
	deliver(0);
	run->count++;
	check(steps_linux_has());
	CHECK(!(now.cached[0] & secret()));
	now.inside = false;
	return result;
}

/* All CPUs of Linux run Linux. */
static void all_run(void)
{
	u32 i;

	now.inside = true;
	for (i = 1; i < FAKE_CPUS; i++) {
		if (pcpu_of(i)->phase == CPU_WAIT_SIPI)
			icr_write(pcpu_of(0),
				  (u64)pcpu_of(i)->apic_id << 32 | 6u << 8 | 1u << 14 | 0x9a);
		deliver(0);
		CHECK_EQ(pcpu_of(i)->phase, CPU_RUNNING);
		now.cached[i] = steps_linux_has();
	}
	now.inside = false;
}

/* Reclaims the cell with a CPU that is mute for a while. Repeats the call until it succeeds. */
static void until_reclaimed(void)
{
	u64 result;
	u32 i;

	for (i = 0; i < 8; i++) {
		result = linux_calls(QV_HC_RECLAIM, 1);
		CHECK(result <= 1 || (run->mute && result == QV_ME_CPU_LOST));
		if (!result)
			return;
	}
	CHECK(run->mute);
	run->mute = 0;
	now.inside = true;
	deliver(0);
	now.inside = false;
	while ((result = linux_calls(QV_HC_RECLAIM, 1)) == 1)
		;
	CHECK_EQ(result, 0);
}

/* Linux has bells for a while. After the last call no bell may come */
static void bells_on_and_off(void)
{
	if (run->act == ACT_LINUX_BELLS)
		return;
	CHECK_EQ(linux_calls(QV_HC_BELL, STEPS_SHARED | 2ull << 56 | LINUX_BELL), 0);
	CHECK_EQ(linux_calls(QV_HC_BELL, STEPS_SHARED), 0);
	now.bells_off = true;
}

static void live(void)
{
	u64 result = linux_calls(QV_HC_CREATE, REQUEST_PAGE * (u64)QV_HUGE);

	CHECK(result == 1 || (run->mute && result == QV_ME_CPU_STUCK));
	if (result != 1)
		return;
	result = linux_calls(QV_HC_START, 1);
	CHECK(!result || (run->mute && result == QV_ME_CPU_STUCK));
	if (me()->manager.cells[1].state == QV_MON_RUNNING) {
		bells_on_and_off();
		result = linux_calls(QV_HC_STOP, 1);
		CHECK(!result || (run->mute && result == QV_ME_CPU_LOST));
	}
	until_reclaimed();
}

/* Linux gives its channel back, when no cell has it */
static void give_channel(void)
{
	u64 result;

	if (!now.shared)
		return;
	now.shared = false;
	while ((result = linux_calls(QV_HC_CHANNEL, STEPS_SHARED)) == 1)
		;
	CHECK_EQ(result, 0);
}

u32 steps_life(struct steps *s)
{
	u32 mute = s->mute;

	memset(&now, 0, sizeof(now));
	run = s;
	s->count = s->calls = 0;
	s->forged = false;
	fake_ipi = on_ipi;
	s->mute = 0;
	all_run();
	s->mute = mute;
	live();
	s->mute = 0;
	give_channel();
	now.inside = true;
	send_late();
	for (mute = 0; mute < 4; mute++)
		deliver(0);
	CHECK_EQ(me()->icr.own_cpus, (1u << FAKE_CPUS) - 1);
	CHECK_EQ(me()->manager.away, 0);
	CHECK_EQ(me()->manager.cells[1].state, QV_MON_NONE);
	CHECK_EQ(me()->locks[LOCK_MANAGER], 0);
	CHECK_EQ(steps_linux_has(), HAS_ALL);
	CHECK_EQ(*(u64 *)(fake_ram + VICTIM), 0x7777777777777777ull);
	s->mute = mute;
	run = NULL;
	fake_ipi = fake_answer;
	return s->count;
}

void steps_open(bool patient)
{
	fake_open(true, true);
	if (patient)
		/* a high frequency, so that no CPU seems late on a busy host */
		me()->boot.tsc_khz = 100u << 20;
	else
		fake_time();
	memset(fake_ram + VICTIM, 0x77, QV_HUGE);
	steps_request(&request);
}
