// SPDX-License-Identifier: GPL-2.0-only
/* manage/calls.c, lock.c, bell.c: calls that are rejected, locked, or limited in rate. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/log.h"
#include "manage/manage.h"
#include "fake_vendor.h"
#include "request_model.h"
#include "unit.h"
#include "world.h"

#define M2	(u64)QV_HUGE

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
	me()->locks[LOCK_MANAGER] = 1;
	CHECK_EQ(world_call(QV_HC_START, 1), QV_ME_BUSY);
	CHECK_EQ(me()->locks[LOCK_MANAGER], 1);
	me()->locks[LOCK_MANAGER] = 0;
	/* the pointer leads outside Linux's memory */
	CHECK_EQ(world_call(QV_HC_CREATE, FAKE_BLOCK + QV_OFF_INSTANCE), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, FAKE_BLOCK + M2 - 64), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, 0x200001), QV_ME_POINTER);
	/* the pointer leads to a device, where a read may have effects */
	CHECK_EQ(world_call(QV_HC_CREATE, 0xfee00000), QV_ME_POINTER);
	/* the request begins in RAM but extends beyond it */
	CHECK_EQ(world_call(QV_HC_CREATE, 0x9f000 - 64), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, FAKE_RAM - QV_PAGE), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, 1ull << 41), QV_ME_POINTER);
	CHECK_EQ(world_call(QV_HC_CREATE, -8ull), QV_ME_POINTER);
	world_check(&w);
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
	/* calls that change no cell are allowed */
	CHECK_EQ(world_call(QV_HC_RESET_HELD, 0), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_OK);
	world_check(w);
}

/*
 * A cell is locked at its start, by itself, or by Linux. Only the cell can unlock, or its failure.
 */
static void locks(void)
{
	static struct qv_mon_create q, other;
	static struct world w;

	world_open(&w);
	world_simple_request(&q);
	world_other_request(&other);
	q.lock = QV_LOCK_START;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_create(&w, &other), 2);		/* a cell locks nothing before it runs */
	CHECK_EQ(world_call(QV_HC_LOCK, 1), QV_ME_STATE);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	status_of(&q)->state = QV_MON_RUNNING;		/* the cell's boot CPU sets this */
	refused_when_locked(&w, &other);
	status_of(&q)->locked = 0;			/* the cell unlocks */
	CHECK_EQ(world_start(&w, 2), QV_ME_OK);
	status_of(&other)->state = QV_MON_RUNNING;
	CHECK_EQ(world_call(QV_HC_LOCK, 2), QV_ME_MAY_NOT_LOCK);
	slot_request(2)->lock = QV_LOCK_MAY;
	CHECK_EQ(world_call(QV_HC_LOCK, 2), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_LOCK, 3), QV_ME_INSTANCE);
	CHECK_EQ(status_of(&q)->locked, 0);
	refused_when_locked(&w, &q);
	status_of(&other)->state = QV_MON_FAILED;	/* the cell's instance sets this */
	CHECK_EQ(world_stop(&w, 2), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_LOCK, 2), QV_ME_STATE);
	/* a reclaim that began before the lock can be completed */
	CHECK_EQ(world_reclaim(&w, 2), 1);
	CHECK_EQ(world_call(QV_HC_LOCK, 1), QV_ME_OK);
	CHECK_EQ(world_reclaim(&w, 2), 1);
	CHECK_EQ(world_reclaim(&w, 2), 1);
	CHECK_EQ(world_reclaim(&w, 2), 0);
	CHECK_EQ(world_call(QV_HC_STOP, 1), QV_ME_LOCKED);
	world_check(&w);
}

/* Linux can ring a cell only at a limited rate. A rejected caller may ring later. */
static void bells(void)
{
	static struct qv_mon_create q;
	struct cell_slot *slot = &me()->manager.cells[1];
	struct world w;

	world_open(&w);
	world_simple_request(&q);
	q.bell_rate = 4;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), QV_ME_OK);
	fake_time();
	me()->boot.tsc_khz = 1u << 31;
	/* the first doorbell is never too early */
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_OK);
	fake_wrmsr_value = 0;
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	CHECK_EQ(fake_wrmsr_value, 0);
	/* time passes; rejected calls have not restarted the interval */
	slot->bell_next -= 1ull << 33;
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_OK);
	CHECK_EQ(fake_wrmsr_value, 0x600004020ull);
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	slot->bell_next += 1ull << 40;	/* the last doorbell was from a CPU whose TSC is ahead */
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	world_check(&w);
}

static u32 kicked;

static void note_kick(u32 low, u32 apic_id)
{
	CHECK_EQ(low, 0x4400);
	kicked = apic_id;
}

/* Linux samples the CPUs of a cell only if its request allows it, and at the rate of doorbells. */
static void samples(void)
{
	static struct qv_mon_create q;
	struct cell_slot *slot = &me()->manager.cells[1];
	struct world w;

	world_open(&w);
	world_simple_request(&q);
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
	slot->bell_next = rdtsc() + (1ull << 33);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_RATE);
	/* both calls share one rate limit */
	CHECK_EQ(world_call(QV_HC_DOORBELL, 1), QV_ME_RATE);
	slot->bell_next -= 1ull << 33;
	fake_ipi = note_kick;	/* the CPU does not take the command at once */
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_OK);
	/* APIC id of the boot CPU, CPU 3 of Linux */
	CHECK_EQ(kicked, 6);
	CHECK_EQ(status_of(&q)->samples, 1);
	/* no second NMI, which the guest's own next NMI could be taken for */
	kicked = 0;
	slot->bell_next -= 1ull << 33;
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_RATE);
	CHECK_EQ(kicked, 0);
	world_check(&w);
	fake_ipi = fake_answer;
	mapping_set(QV_VA_MANAGE, q.block_pa);
	CHECK_EQ(pcpu_in(QV_VA_MANAGE, 0)->cmd, CMD_SAMPLE);
	fake_answer(0x4400, 6);
	mapping_set(QV_VA_MANAGE, 0);
	CHECK_EQ(status_of(&q)->samples, 2);
	slot->bell_next = 0;
	status_of(&q)->state = QV_MON_FAILED;
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_STATE);
	status_of(&q)->state = QV_MON_RUNNING;
	CHECK_EQ(world_stop(&w, 1), QV_ME_OK);
	CHECK_EQ(world_call(QV_HC_SAMPLE, 1), QV_ME_STATE);
	world_check(&w);
}

static void notes(void)
{
	static struct world w;
	struct qv_mon_log *log;
	u64 head, i;

	world_open(&w);
	log = (void *)(fake_ram + FAKE_BLOCK + QV_OFF_LOG);
	head = log->head[QV_MON_LOG_KEPT];
	me()->locks[LOCK_MANAGER] = 3;	/* a CPU that a panic stopped holds the lock */
	for (i = 0; i < 8; i++) {
		bool fine = i >= QV_NOTE_PANIC && i <= QV_NOTE_POWER_OFF;

		CHECK_EQ(world_call(QV_HC_NOTE, i), fine ? QV_ME_OK : QV_ME_CALL);
		head += fine;
		CHECK_EQ(log->head[QV_MON_LOG_KEPT], head);
	}
	CHECK_EQ(log->entries[QV_MON_LOG_KEPT][(head - 1) % QV_MON_LOG_ENTRIES].what,
		 QV_LOG_LINUX_ENDS);
	me()->locks[LOCK_MANAGER] = 0;
}

static bool apic_page_writable(void)
{
	u32 level;

	return *paging_find(&me()->nested, 0xfee00000, 1, &level) & PT_W;
}

/* Bits of the MSR map that differ from the map of a front end with the filter */
static u32 opened_msrs(const u8 *filtered)
{
	u32 i, bits = 0;

	for (i = 0; i < sizeof(me()->msr_map); i++)
		bits += __builtin_popcount(me()->msr_map[i] ^ filtered[i]);
	return bits;
}

/* They are direct from the first entry on, so that no step can fail once Linux is a guest */
static void direct_ipis_from_the_start(void)
{
	static u8 filtered[sizeof(me()->msr_map)];
	const struct qv_mon_log *log = (void *)(QV_VA_BLOCK + QV_OFF_LOG);

	fake_open(true, true);
	memcpy(filtered, me()->msr_map, sizeof(filtered));
	fake_ipi_direct = 1;
	fake_open(true, true);
	CHECK_EQ(me()->front.ipi_direct, 1);
	CHECK_EQ(opened_msrs(filtered), 1);
	CHECK(!apic_page_writable());
	CHECK_EQ(log->entries[QV_MON_LOG_KEPT][0].what, QV_LOG_IPI);
	fake_open(false, true);
	fake_ipi_direct = 0;
	CHECK_EQ(me()->front.ipi_direct, 1);
	CHECK(apic_page_writable());
}

/* Direct IPIs open the ICR and no other MSR, or the APIC page. They exclude cells with a lock. */
static void direct_ipis(void)
{
	static u8 filtered[sizeof(me()->msr_map)];
	static struct qv_mon_create q, other;
	static struct world w;

	world_open(&w);
	memcpy(filtered, me()->msr_map, sizeof(filtered));
	CHECK_EQ(world_call(QV_HC_IPI, 1), QV_ME_IPI);	/* not chosen at enable */
	CHECK_EQ(opened_msrs(filtered), 0);
	world_simple_request(&q);
	CHECK_EQ(world_create(&w, &q), 1);
	world_other_request(&other);
	other.ipi_direct = 1;
	CHECK_EQ(world_create(&w, &other), QV_ME_IPI);	/* a cell without is there */
	CHECK_EQ(world_reclaim(&w, 1), 0);
	me()->boot.ipi_direct = 1;
	CHECK_EQ(world_call(QV_HC_IPI, 1), QV_ME_OK);
	CHECK_EQ(opened_msrs(filtered), 1);
	CHECK(!apic_page_writable());		/* in x2APIC mode the page stays a hole */
	world_simple_request(&q);
	q.lock = QV_LOCK_MAY;
	CHECK_EQ(world_create(&w, &q), QV_ME_IPI);
	world_check(&w);
	q.lock = QV_LOCK_NEVER;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_call(QV_HC_IPI, 0), QV_ME_OK);
	CHECK_EQ(opened_msrs(filtered), 0);
	CHECK_EQ(world_call(QV_HC_IPI, 1ull << 32), QV_ME_OK);	/* not 0 */
	CHECK_EQ(opened_msrs(filtered), 1);
	CHECK_EQ(world_reclaim(&w, 1), 0);
	CHECK_EQ(world_call(QV_HC_IPI, 0), QV_ME_OK);
	q.lock = QV_LOCK_START;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_call(QV_HC_IPI, 1), QV_ME_IPI);
	CHECK_EQ(opened_msrs(filtered), 0);
	world_other_request(&other);
	other.ipi_direct = 1;
	CHECK_EQ(world_create(&w, &other), QV_ME_IPI);
	CHECK_EQ(world_reclaim(&w, 1), 0);
	q.ipi_direct = 1;
	CHECK_EQ(world_create(&w, &q), QV_ME_IPI);	/* both in one cell */
	CHECK_EQ(world_create(&w, &other), 1);
	q.ipi_direct = 0;
	CHECK_EQ(world_create(&w, &q), QV_ME_IPI);
	world_check(&w);

	/* In the fake machine no CPU gets an NMI by the page. The change is made nevertheless. */
	fake_open(false, true);
	me()->boot.ipi_direct = 1;
	CHECK(!apic_page_writable());
	CHECK_EQ(world_call(QV_HC_IPI, 1), QV_ME_CPU_STUCK);
	CHECK(apic_page_writable());
	CHECK_EQ(world_call(QV_HC_IPI, 0), QV_ME_CPU_STUCK);
	CHECK(!apic_page_writable());
}

UNIT_SUITE(manager_calls) = {
	{ "manager: IPIs chosen at enable are direct from the start", direct_ipis_from_the_start },
	{ "manager: direct IPIs exclude locks and open nothing else", direct_ipis },
	{ "manager: unknown calls and bad pointers are rejected", calls_that_are_none },
	{ "manager: a locked cell rejects changes", locks },
	{ "manager: doorbells are limited to their rate", bells },
	{ "manager: samples need debug and are limited", samples },
	{ "manager: notes of Linux's end reach the log", notes },
	{ 0 }
};
