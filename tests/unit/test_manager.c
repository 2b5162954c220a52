// SPDX-License-Identifier: GPL-2.0-only
/* manage/: cells come and go, and after every call everything belongs to whom it should. */
#include <string.h>
#include "core/apic.h"
#include "core/exits.h"
#include "manage/manage.h"
#include "fake_vendor.h"
#include "request_model.h"
#include "unit.h"
#include "world.h"

#define M2	(u64)QV_HUGE

static void simple_request(struct qv_mon_create *q)
{
	memset(q, 0, sizeof(*q));
	q->block_pa = 10 * M2;
	q->window_pa = 0x180000;
	q->num_cpus = 2;
	q->cpus[0] = 3;
	q->cpus[1] = 1;
	q->num_runs = 2;
	q->runs[0] = (struct qv_mon_run){ 11 * M2, 3 };
	q->runs[1] = (struct qv_mon_run){ 40 * M2, 2 };
	q->doorbell_vector = 0x20;
	q->bell_rate = 10;
	q->entry.eip = 0x100000;
}

static void other_request(struct qv_mon_create *q)
{
	simple_request(q);
	q->block_pa = 50 * M2;
	q->window_pa = 0x190000;
	q->num_cpus = 1;
	q->cpus[0] = 2;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ 60 * M2, 3 };
}

static void lives(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 life, step, pool = 0;

	world_open(&w);
	world_check(&w);
	simple_request(&q);
	for (life = 0; life < 20; life++) {
		u64 id = world_create(&w, &q);

		unit_case("life %u:", life);
		CHECK_EQ(id, 1);
		world_check(&w);
		CHECK_EQ(world_stop(&w, id), QV_ME_STATE);
		CHECK_EQ(world_start(&w, id), QV_ME_OK);
		world_check(&w);
		CHECK_EQ(world_start(&w, id), QV_ME_STATE);
		CHECK_EQ(world_reclaim(&w, id), QV_ME_STATE);	/* it runs */
		CHECK_EQ(world_call(QV_HC_LEAVE, 0), QV_ME_STATE);
		CHECK_EQ(world_call(QV_HC_DOORBELL, id), QV_ME_OK);
		CHECK_EQ(fake_wrmsr_value, 0x600004020ull);
		CHECK_EQ(world_stop(&w, id), QV_ME_OK);
		CHECK_EQ(world_call(QV_HC_DOORBELL, id), QV_ME_STATE);
		world_check(&w);
		for (step = 0; step < 5; step++) {
			CHECK_EQ(world_reclaim(&w, id), 1);
			world_check(&w);
		}
		CHECK_EQ(world_reclaim(&w, id), 0);
		world_check(&w);
		CHECK_EQ(world_reclaim(&w, id), QV_ME_INSTANCE);
		if (life)
			CHECK_EQ(me()->pool.next, pool);	/* nothing leaks */
		pool = me()->pool.next;
	}
	CHECK_EQ(world_call(QV_HC_LEAVE, 0), QV_ME_OK);
	CHECK_EQ(world_create(&w, &q), QV_ME_STATE);		/* none comes after that */
}

static void one_life(void)
{
	for (fake_ept = 0; fake_ept < 2; fake_ept++)
		for (fake_levels = 4; fake_levels <= 5; fake_levels++)
			lives();
}

static void calls_that_are_none(void)
{
	static struct world w;
	u64 i;

	world_open(&w);
	for (i = 0; i < 40; i++)
		CHECK_EQ(world_call(QV_HC_COUNT + i, 1), QV_ME_CALL);
	CHECK_EQ(world_call(~0ull, 1), QV_ME_CALL);
	CHECK_EQ(world_call(QV_HC_NOP, 1), QV_ME_OK);
	for (i = 0; i < 20; i++) {
		CHECK_EQ(world_call(QV_HC_START, i), QV_ME_INSTANCE);
		CHECK_EQ(world_call(QV_HC_STOP, i << 32 | 1), QV_ME_INSTANCE);
		CHECK_EQ(world_call(QV_HC_RECLAIM, -i), QV_ME_INSTANCE);
	}
	me()->busy = 1;
	CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_BUSY);
	CHECK_EQ(me()->busy, 1);
	me()->busy = 0;
	/* requests that are not in Linux's memory */
	CHECK_EQ(world_call(QV_HC_CREATE, FAKE_BLOCK + QV_OFF_INSTANCE), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, FAKE_BLOCK + M2 - 64), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, 0x200001), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, 0xfee00000), QV_ME_POINTER);	/* a device: reading it may do something */
	CHECK_EQ(world_call(QV_HC_CREATE, 0x9f000 - 64), QV_ME_POINTER);	/* RAM, but it ends too soon */
	CHECK_EQ(world_call(QV_HC_CREATE, FAKE_RAM - QV_PAGE), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, 1ull << 41), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, -8ull), QV_ME_POINTER);
	world_check(&w);
}

static void all_slots(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 i;

	world_open(&w);
	for (i = 1; i <= FAKE_CPUS - 1; i++) {
		simple_request(&q);
		q.block_pa = (40 + i) * M2;
		q.window_pa += i * 8 * QV_PAGE;
		q.num_cpus = 1;
		q.cpus[0] = i;
		q.num_runs = 1;
		q.runs[0] = (struct qv_mon_run){ 60 * M2, 2 };	/* all the same: only one may start */
		CHECK_EQ(world_create(&w, &q), i);
		world_check(&w);
	}
	CHECK_EQ(world_start(&w, 2), QV_ME_OK);
	world_check(&w);
	CHECK_EQ(world_start(&w, 1), QV_ME_MEMORY);
	world_check(&w);
	CHECK_EQ(world_reclaim(&w, 1), 0);		/* never ran: its memory is another's now */
	world_check(&w);
	for (i = 4; i < QV_MON_CELLS; i++)
		me()->cells[i].state = QV_MON_STOPPED;
	simple_request(&q);
	q.num_cpus = 1;
	CHECK_EQ(world_create(&w, &q), QV_ME_CPU_TAKEN);
	q.cpus[0] = 1;
	q.window_pa = 0x1c0000;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_create(&w, &q), QV_ME_SLOTS);
}

static void stuck_cpus(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 cpu;

	world_open(&w);
	simple_request(&q);
	for (cpu = 1; cpu < FAKE_CPUS; cpu++) {
		unit_case("create, CPU %u:", cpu);
		fake_stuck = 1ull << 2 * cpu;
		CHECK_EQ(world_create(&w, &q), QV_ME_CPU_STUCK);
		world_check(&w);
		fake_stuck = 0;
		fake_answer(0x4400, 2 * cpu);		/* it comes after all */
		CHECK_EQ(pcpu_of(cpu)->cmd, 0);
	}
	CHECK_EQ(world_create(&w, &q), 1);
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
	CHECK_EQ(me()->away, 1 << 1 | 1 << 3);
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_CPU_LOST);		/* the first is back; what the second may reach is not */
	CHECK_EQ(me()->away, 1 << 1);
	CHECK_EQ(me()->icr.own, 0xd);
	CHECK_EQ(me()->cells[1].cpus, 1 << 1);
	CHECK(my_status()->cpus[1].lost && !my_status()->cpus[3].lost);
	fake_stuck = 0;
	manage(QV_VA_MANAGE, q.block_pa);
	fake_answer(0x4400, 2);					/* it comes after all */
	manage(QV_VA_MANAGE, 0);
	for (cpu = 0; cpu < 5; cpu++)
		CHECK_EQ(world_reclaim(&w, 1), 1);
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_OK);
	CHECK(!my_status()->cpus[1].lost);
	world_check(&w);
}

/* A CPU that did not come in time for start stays Linux's to have back */
static void never_sent(void)
{
	static struct qv_mon_create q;
	static struct world w;

	world_open(&w);
	simple_request(&q);
	CHECK_EQ(world_create(&w, &q), 1);
	fake_deaf = CMD_BECOME;
	CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_CPU_STUCK);
	fake_deaf = 0;
	w.state[1] = QV_MON_RUNNING;
	CHECK_EQ(me()->away, 1 << 1);
	CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
	CHECK_EQ(me()->away, 0);
	fake_as(1);
	exit_nmi(pcpu_of(1));			/* the NMI that announced it: nothing to do any more */
	fake_as(0);
	CHECK_EQ(pcpu_of(1)->phase, CPU_WAIT_SIPI);
	while (world_reclaim(&w, 1) == 1)
		;
	world_check(&w);
}

/* Only a CPU that is caught and parked moves to a cell */
static void not_caught(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 own;

	for (own = 0; own < 2; own++) {
		world_open(&w);
		simple_request(&q);
		CHECK_EQ(world_create(&w, &q), 1);
		if (own)
			me()->icr.own |= 1 << 1;
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

/* Linux's third CPU starts the first again as soon as it is caught */
static void start_when_caught(u32 low, u32 apic_id)
{
	struct pcpu *target = pcpu_of(apic_id / 2);
	u32 cmd = target->cmd;

	fake_answer(low, apic_id);
	if (!(cmd & CMD_CATCH))
		return;
	linux_wants(5, target->index);
	linux_wants(6, target->index);
	atomic_or(&target->cmd, CMD_SIPI);		/* one that was on its way */
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
		simple_request(&q);
		q.num_devices = 0;
		fake_ipi = start_when_caught;
		if (error)
			fake_stuck = 1 << 4;		/* no flush: all is Linux's again */
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

/* A cell that waits to be started: its CPUs drop what they have cached as Linux's do */
static void flush_of_the_caught(void)
{
	static struct qv_mon_create q, other;
	static struct world w;

	world_open(&w);
	simple_request(&q);
	other_request(&other);
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
	CHECK_EQ(flushes, 1);			/* the others are in the cell */
	fake_ipi = fake_answer;
}

/* A CPU of Linux's does not answer while the block is given back; Linux makes a block of its own there */
static void forged_block(void)
{
	static struct qv_mon_create q;
	static struct world w;
	struct instance *forged;
	u8 *victim;

	world_open(&w);
	simple_request(&q);
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
	CHECK_EQ(me()->icr.own, 0xf);
	world_check(&w);
}

static u32 early_flushes;

/* CPUs 1 and 3 are the cell's to be */
static void note_flush(u32 low, u32 apic_id)
{
	struct pcpu *target = pcpu_of(apic_id / 2);

	if (target->cmd & CMD_FLUSH && apic_id != 4 && target->phase != CPU_WAIT_SIPI)
		early_flushes++;
	fake_answer(low, apic_id);
}

/* A flush gives Linux an NMI. A CPU that is caught in that NMI's handler gets no NMI of Linux's any more. */
static void caught_before_a_flush(void)
{
	static struct qv_mon_create q;
	static struct world w;

	world_open(&w);
	simple_request(&q);
	early_flushes = 0;
	fake_ipi = note_flush;
	CHECK_EQ(world_create(&w, &q), 1);
	fake_ipi = fake_answer;
	CHECK_EQ(early_flushes, 0);
}

static struct qv_mon_status *status_of(const struct qv_mon_create *q)
{
	return (struct qv_mon_status *)(fake_ram + q->block_pa + QV_OFF_STATUS);
}

static void refused_when_locked(struct world *w, const struct qv_mon_create *q)
{
	u32 id;

	for (id = 1; id <= 2; id++) {
		CHECK_EQ(world_call(QV_HC_START, id), QV_ME_LOCKED);
		CHECK_EQ(world_call(QV_HC_STOP, id), QV_ME_LOCKED);
		CHECK_EQ(world_call(QV_HC_RECLAIM, id), QV_ME_LOCKED);
	}
	CHECK_EQ(world_create(w, q), QV_ME_LOCKED);
	CHECK_EQ(world_call(QV_HC_LEAVE, 0), QV_ME_LOCKED);
	CHECK_EQ(world_call(QV_HC_RESET_HELD, 0), QV_ME_OK);	/* what changes no cell goes on */
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_OK);
	world_check(w);
}

/* Linux reaches a cell so often and no more; who was refused may ring later, and then does */
static void bells(void)
{
	static struct qv_mon_create q;
	struct cell_slot *slot = &me()->cells[1];
	struct world w;

	world_open(&w);
	simple_request(&q);
	q.bell_rate = 4;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(slot->bell_gap, 250);			/* a quarter of a millisecond, in cycles */
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	slot->bell_gap = 1ull << 33;
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_OK);	/* the first one ever */
	fake_wrmsr_value = 0;
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	CHECK_EQ(fake_wrmsr_value, 0);
	slot->bell_tsc -= 1ull << 33;			/* time goes by; those that were refused did not move the moment */
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_OK);
	CHECK_EQ(fake_wrmsr_value, 0x600004020ull);
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	slot->bell_tsc += 1ull << 40;			/* the last one came from a CPU whose TSC is ahead of this one's */
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	world_check(&w);
}

static u32 kicked;

static void note_kick(u32 low, u32 apic_id)
{
	CHECK_EQ(low, 0x4400);
	kicked = apic_id;
}

/* Linux looks at a cell's CPUs only where that was said at create, and as seldom as it may ring */
static void samples(void)
{
	static struct qv_mon_create q;
	struct cell_slot *slot = &me()->cells[1];
	struct world w;

	world_open(&w);
	simple_request(&q);
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_NO_DEBUG);
	world_open(&w);
	q.debug = 1;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_STATE);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 2), QV_ME_INSTANCE);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1 | 2 << 8), QV_ME_CPUS);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1 | ~0ull << 8), QV_ME_CPUS);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1 | 1 << 8), QV_ME_OK);
	CHECK_EQ(status_of(&q)->samples, 1);
	slot->bell_gap = 1ull << 33;
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_RATE);
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);	/* both count */
	slot->bell_tsc -= 1ull << 33;
	fake_ipi = note_kick;					/* it does not take it at once */
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_OK);
	CHECK_EQ(kicked, 6);					/* the boot CPU: Linux's 3 */
	CHECK_EQ(status_of(&q)->samples, 1);
	world_check(&w);
	fake_ipi = fake_answer;
	manage(QV_VA_MANAGE, q.block_pa);
	CHECK_EQ(pcpu_in(QV_VA_MANAGE, 0)->cmd, CMD_SAMPLE);
	fake_answer(0x4400, 6);
	manage(QV_VA_MANAGE, 0);
	CHECK_EQ(status_of(&q)->samples, 2);
	slot->bell_gap = 0;
	status_of(&q)->state = QV_MON_FAILED;
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_STATE);
	status_of(&q)->state = QV_MON_RUNNING;
	CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_STATE);
	world_check(&w);
}

static u32 lost_nmis, sent_nmis;

/* The first so many NMIs to a CPU become one with another of its own, which finds nothing */
static void lose(u32 low, u32 apic_id)
{
	sent_nmis++;
	if (lost_nmis)
		lost_nmis--;
	else
		fake_answer(low, apic_id);
}

/* Each command is announced again while its CPU has not taken it, and not for ever */
static void lost_announcements(void)
{
	static struct qv_mon_create q;
	static struct world w;
	u32 lost;

	for (lost = 1; lost < 4; lost++) {
		world_open(&w);
		fake_time();
		simple_request(&q);
		q.num_cpus = 1;
		unit_case("%u NMIs lost:", lost);
		CHECK_EQ(world_create(&w, &q), 1);
		fake_ipi = lose;
		sent_nmis = 0;
		lost_nmis = lost + 3;				/* those of the flush: 200 ms later there are others */
		CHECK_EQ(world_start(&w, 1), QV_ME_OK);
		sent_nmis = 0;
		lost_nmis = lost;
		CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
		CHECK_EQ(sent_nmis, lost + 1);
		sent_nmis = 0;
		lost_nmis = lost;
		CHECK_EQ(world_reclaim(&w, 1), 1);		/* the CPU came home */
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
	CHECK_EQ(sent_nmis, 10);				/* in two seconds, and no more */
	fake_ipi = fake_answer;
}

/* From start on, by itself, by Linux: nothing but its own word ends it, or its failure */
static void locks(void)
{
	static struct qv_mon_create q, other;
	static struct world w;

	world_open(&w);
	simple_request(&q);
	other_request(&other);
	q.lock = QV_LOCK_START;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_create(&w, &other), 2);		/* nothing is locked before it runs */
	CHECK_EQ(world_call(QV_HC_LOCK, 1), QV_ME_STATE);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	status_of(&q)->state = QV_MON_RUNNING;		/* as its boot CPU says */
	refused_when_locked(&w, &other);
	status_of(&q)->locked = 0;			/* its own word */
	CHECK_EQ(world_start(&w, 2), QV_ME_OK);
	status_of(&other)->state = QV_MON_RUNNING;
	CHECK_EQ(world_call(QV_HC_LOCK, 2), QV_ME_MAY_NOT_LOCK);
	slot_request(2)->lock = QV_LOCK_MAY;
	CHECK_EQ(world_call(QV_HC_LOCK, 2), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_LOCK, 3), QV_ME_INSTANCE);
	CHECK_EQ(status_of(&q)->locked, 0);
	refused_when_locked(&w, &q);
	status_of(&other)->state = QV_MON_FAILED;	/* by its instance's finding */
	CHECK_EQ(world_stop(&w, 2), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_LOCK, 2), QV_ME_STATE);
	CHECK_EQ(world_reclaim(&w, 2), 1);		/* begun before the lock: carried to its end */
	CHECK_EQ(world_call(QV_HC_LOCK, 1), QV_ME_OK);
	CHECK_EQ(world_reclaim(&w, 2), 1);
	CHECK_EQ(world_reclaim(&w, 2), 1);
	CHECK_EQ(world_reclaim(&w, 2), 0);
	CHECK_EQ(world_call(QV_HC_STOP, 1), QV_ME_LOCKED);
	world_check(&w);
}

/* What a later Linux knows a log by */
static void marks(void)
{
	static struct qv_mon_create q;
	static struct world w;
	struct qv_mon_mark *mine, *there;

	world_open(&w);
	mine = (void *)(fake_ram + FAKE_BLOCK + QV_OFF_MARK);
	simple_request(&q);
	*mine = (struct qv_mon_mark){ .magic = QV_MARK_MAGIC, .block_pa = FAKE_BLOCK, .session = 77, .tsc = 5, .tsc_khz = 9 };
	memcpy(q.name, "quest", 6);
	CHECK_EQ(world_create(&w, &q), 1);
	there = (void *)(fake_ram + q.block_pa + QV_OFF_MARK);
	CHECK_EQ(there->sum, qv_mark_sum(there));
	CHECK_EQ(there->block_pa, q.block_pa);
	CHECK_EQ(there->id, 1);
	CHECK_EQ(there->session, 77);
	CHECK_EQ(there->tsc, 5);
	CHECK_TEXT((const char *)there->name, "quest");
	there->tsc++;
	CHECK(there->sum != qv_mark_sum(there));
}

static void notes(void)
{
	static struct world w;
	struct qv_mon_log *log;
	u64 head, i;

	world_open(&w);
	log = (void *)(fake_ram + FAKE_BLOCK + QV_OFF_LOG);
	head = log->head;
	me()->busy = 3;			/* by a CPU that a panic has stopped */
	for (i = 0; i < 8; i++) {
		bool fine = i >= QV_NOTE_PANIC && i <= QV_NOTE_POWER_OFF;

		CHECK_EQ(world_call(QV_HC_NOTE, i), fine ? QV_ME_OK : QV_ME_CALL);
		head += fine;
		CHECK_EQ(log->head, head);
	}
	CHECK_EQ(log->entries[(head - 1) % QV_MON_LOG_ENTRIES].what, QV_LOG_LINUX_ENDS);
	me()->busy = 0;
}

static void random_lives(void)
{
	static struct world w;
	struct choices c = { 0 };
	u32 i, id, starts = 0;

	for (i = 0; i < 4000; i++) {
		if (i % 2000 == 0) {
			fake_ept = i > 0;
			world_open(&w);
		}
		world_step(&w, &c);
		for (id = 1; id < QV_MON_CELLS; id++)
			starts += w.state[id] == QV_MON_RUNNING;
	}
	unit_case("after all:");
	CHECK(starts > 100);
}

UNIT_SUITE(manager) = {
	{ "manager: one life, twenty times", one_life },
	{ "manager: calls that are none", calls_that_are_none },
	{ "manager: slots, and memory that two want", all_slots },
	{ "manager: CPUs that do not answer", stuck_cpus },
	{ "manager: a CPU that was never sent is not lost", never_sent },
	{ "manager: only a caught CPU moves to a cell", not_caught },
	{ "manager: SIPI to a CPU that is caught", sipi_in_create },
	{ "manager: a flush covers the caught", flush_of_the_caught },
	{ "manager: a block is given up, and forged", forged_block },
	{ "manager: no NMI for a CPU about to be caught", caught_before_a_flush },
	{ "manager: locks", locks },
	{ "manager: doorbells, so many and no more", bells },
	{ "manager: samples of a cell that allows them", samples },
	{ "manager: NMIs that are lost", lost_announcements },
	{ "manager: marks of logs", marks },
	{ "manager: last words", notes },
	{ "manager: random lives", random_lives },
	{ 0 }
};
