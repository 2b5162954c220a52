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
#include "unit.h"

#define M2		(u64)QV_HUGE
#define BLOCK		(10 * M2)
#define MEMORY		(11 * M2)	/* the cell's memory: two runs of one page each */
#define MEMORY2		(40 * M2)
#define VICTIM		(100 * M2)	/* the page that forged blocks list as memory */
#define HIDDEN		0x100000u	/* offset in a block, beyond its open part */
#define NMI_IPI		4u
#define CELL_CPUS	(1ull << 3 | 1ull << 1)

static const u64 watched[] = { BLOCK, MEMORY, MEMORY2 };
#define WATCHED		(sizeof(watched) / sizeof(watched[0]))
#define ALL_WATCHED	((1u << WATCHED) - 1)

static struct qv_mon_create request;
static struct steps *run;
static struct {
	bool there[FAKE_CPUS];		/* the CPU runs in the cell's instance */
	bool nmi[FAKE_CPUS];		/* an NMI is pending for the CPU */
	u32 age[FAKE_CPUS];		/* number of steps since the NMI was sent */
	/* bit mask of the watched pages that the CPU may have a translation to */
	u32 cached[FAKE_CPUS];
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
		"read", "write", "calls",
	};

	return names[act];
}

/* ---- the translations that each CPU may have ---- */

/* Returns the watched pages that Linux's tables map. */
static u32 mapped(void)
{
	u32 i, level, found = 0;

	for (i = 0; i < WATCHED; i++) {
		u64 pa = watched[i] + HIDDEN, e = *paging_find(&me()->nested, pa, 1, &level);

		if ((e & PT_P) && (e & PT_ADDR) == (pa & ~(level_size(level) - 1)))
			found |= 1u << i;
	}
	return found;
}

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

static void take(u32 i)
{
	/* A CPU accesses its own block. The mapping in the manager's window does not matter. */
	bool open = me()->directory[QV_VA_MANAGE >> 21 & 511] & PT_P;

	now.nmi[i] = false;
	now.last_taken = run->count;
	if (i == STEPS_ACTOR)
		send_late();			/* the CPU is now between two exits */
	if (!open)
		manage(QV_VA_MANAGE, BLOCK);
	if (now.there[i])
		take_there(i);
	else
		now.there[i] = fake_front_nmi(pcpu_of(i));
	if (!now.there[i])
		entry(i);
	if (!open)
		manage(QV_VA_MANAGE, 0);
}

static void deliver(u32 lag)
{
	u32 i;

	for (i = 1; i < FAKE_CPUS; i++)
		if (now.nmi[i] && !is_mute(i) && now.age[i]++ >= lag)
			take(i);
}

static void on_ipi(u32 low, u32 apic_id)
{
	u32 i = apic_id / 2;

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
	static const u32 offsets[] = { 0, HIDDEN };
	u32 i, k;

	for (i = 0; i < WATCHED; i++)
		for (k = 0; k < 2; k++)
			fake_memory_exit(pcpu_of(STEPS_ACTOR), watched[i] + offsets[k], write);
}

static void calls(void)
{
	u64 nr;

	/* outside of a call the actor's own call would succeed */
	for (nr = QV_HC_LEAVE; me()->manager.busy && nr <= QV_HC_LOCK; nr++)
		CHECK_EQ(hypercall(pcpu_of(STEPS_ACTOR), nr,
				   nr == QV_HC_CREATE ? REQUEST_PAGE * M2 : 1), QV_ME_BUSY);
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
	}
	fake_as(0);
	now.acting = false;
}

/* Linux writes a forged instance, which owns everything, to each page that Linux may write. */
static void forge(u32 visible)
{
	struct instance *forged = (struct instance *)fake_instance(BLOCK);
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

static u64 window(u64 va)
{
	u64 entry = me()->directory[va >> 21 & 511];

	return entry & PT_P ? entry & PT_ADDR & -M2 : 0;
}

static u32 bit_of(u64 pa)
{
	u32 i;

	for (i = 0; i < WATCHED; i++)
		if (watched[i] == pa)
			return 1u << i;
	return 0;
}

/* Returns the pages that no CPU of the front end may have a translation to. */
static u32 secret(void)
{
	const struct cell_slot *slot = &me()->manager.cells[1];
	u32 pages = bit_of(window(QV_VA_MANAGE)) | bit_of(window(QV_VA_SCRUB)), i;

	CHECK(!window(QV_VA_MANAGE) || window(QV_VA_MANAGE) == BLOCK);
	CHECK(!window(QV_VA_SCRUB) || bit_of(window(QV_VA_SCRUB)));
	if (slot->state)
		pages |= 1;
	if (slot->state == QV_MON_RUNNING || slot->state == QV_MON_STOPPED)
		pages |= ALL_WATCHED & ~1u & ~((2u << slot->reclaimed) - 1);
	for (i = 0; i < FAKE_CPUS; i++)
		if (now.there[i])
			pages = ALL_WATCHED;
	return pages;
}

static void check_cpus(void)
{
	u64 own = me()->icr.own, away = me()->manager.away;
	u32 i;

	CHECK(!(own & away));
	CHECK(!me()->manager.cells[1].state || !(own & me()->manager.cells[1].cpus));
	CHECK(!((own | away) >> FAKE_CPUS));
	for (i = 1; i < FAKE_CPUS; i++) {
		CHECK(!now.there[i] || away >> i & 1);
		/* a CPU that will be caught may still run, since nothing is built yet */
		CHECK(own >> i & 1 || !runs_linux(i) ||
		      !(window(QV_VA_MANAGE) || me()->manager.cells[1].state));
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
	for (i = 1; i < FAKE_CPUS; i++)
		CHECK(now.there[i] || !(now.cached[i] & pages));
}

/* While no CPU takes an NMI, all rounds of wait_ack() are the same. */
static bool waits(const void *pc)
{
	static struct { const void *pc; bool waits; } known[512];
	u32 i = (u64)pc % 509;
	Dl_info info;

	while (known[i].pc && known[i].pc != pc)
		i = (i + 1) % 512;
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

	deliver(run->lag);
	if (!waits(pc))
		rounds = 0;
	else if (++rounds > 12 && now.last_taken + 12 < run->count)
		return;
	visible = mapped();
	for (i = 1; i < FAKE_CPUS; i++)
		if (runs_linux(i))
			now.cached[i] |= visible;
	forge(visible);
	if (run->count++ == run->at)
		act();
	check(mapped());
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
	now.cached[0] |= mapped();
	result = hypercall(pcpu_of(0), nr, argument);
	entry(0);
	now.inside = true;
	for (i = 0; i < 3; i++)
		deliver(0);
	if (!run->mute)
		send_late();
	deliver(0);
	run->count++;
	check(mapped());
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
		now.cached[i] = mapped();
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

static void live(void)
{
	u64 result = linux_calls(QV_HC_CREATE, REQUEST_PAGE * M2);

	CHECK(result == 1 || (run->mute && result == QV_ME_CPU_STUCK));
	if (result != 1)
		return;
	result = linux_calls(QV_HC_START, 1);
	CHECK(!result || (run->mute && result == QV_ME_CPU_STUCK));
	if (me()->manager.cells[1].state == QV_MON_RUNNING) {
		result = linux_calls(QV_HC_STOP, 1);
		CHECK(!result || (run->mute && result == QV_ME_CPU_LOST));
	}
	until_reclaimed();
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
	now.inside = true;
	send_late();
	for (mute = 0; mute < 4; mute++)
		deliver(0);
	CHECK_EQ(me()->icr.own, (1u << FAKE_CPUS) - 1);
	CHECK_EQ(me()->manager.away, 0);
	CHECK_EQ(me()->manager.cells[1].state, QV_MON_NONE);
	CHECK_EQ(me()->manager.busy, 0);
	CHECK_EQ(mapped(), ALL_WATCHED);
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
	memset(fake_ram + VICTIM, 0x77, M2);
	request = (struct qv_mon_create){
		.block_pa = BLOCK, .window_pa = 0x180000, .num_cpus = 2, .cpus = { 3, 1 },
		.num_runs = 2, .runs = { { MEMORY, 1 }, { MEMORY2, 1 } }, .entry.eip = 0x100000,
		.doorbell_vector = 0x20, .bell_rate = 10, .lock = QV_LOCK_MAY,
	};
	memcpy(fake_ram + REQUEST_PAGE * M2, &request, sizeof(request));
}
