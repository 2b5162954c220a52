// SPDX-License-Identifier: GPL-2.0-only
/* Requests of cells for channels at run time, while other CPUs act: manage/posts.c. */
#include <pthread.h>
#include <time.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "fake_vendor.h"
#include "keys_world.h"
#include "manage/calls.h"
#include "manage/manage.h"
#include "unit.h"

#define LINUX_CPU	KEYS_CELLS	/* Linux has it again when cell `c` has been destroyed */

/* After fake_time(): time advances with each look */
static void pass(u64 ms)
{
	u64 end = rdtsc() + ms * me()->boot.tsc_khz;

	while (rdtsc() < end)
		;
}

/* Sends a request, which need not be answered */
static struct chan_post *send(u32 n, u32 nr)
{
	struct chan_post *p = &keys_cell(n)->cell.post;

	p->nr = nr;
	p->state = POST_SENT;
	CHECK(posts_nmi(pcpu_of(0)));
	return p;
}

/* A cell that fails while its request is answered: its end does not stay `running` */
static void fails_meanwhile(void)
{
	const u64 pa = POOL_PA(0, 0);
	struct qv_mon_status *status;

	keys_world_open(1);
	status = (struct qv_mon_status *)(fake_ram + keys_q[0].block_pa + QV_OFF_STATUS);
	status->state = QV_MON_FAILED;
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[0].life), QV_CHAN_IS_FAILED);
	CHECK_EQ(world_call(QV_HC_STOP, 1), 0);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[0].life), QV_CHAN_IS_FAILED);
	keys_destroy(0);
	CHECK(keys_linux_owns(pa) && keys_zero(pa));
}

/* A CPU of the cell does not answer: it may still reach the memory, which is not used again */
static void stuck(void)
{
	const u64 pa = POOL_PA(0, 0);

	keys_world_open(1);
	fake_time();
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	fake_stuck = 1ull << pcpu_of(1)->apic_id;
	CHECK_EQ(keys_close(0, 0), QV_KEY_STUCK);
	fake_stuck = 0;
	CHECK_EQ(keys_open(0, 8, "a", "b"), QV_KEY_FULL);
	CHECK(keys_hidden(pa));
	keys_destroy(0);
	CHECK(keys_linux_owns(pa) && keys_zero(pa));
}

/* While another CPU is in the manager, a request waits for it; the NMI is in doubt */
static void busy(void)
{
	struct chan_post *p;

	keys_world_open(1);
	fake_time();
	p = &keys_cell(0)->cell.post;
	keys_describe(&p->ask, 7, "a", "b", 0);
	p->nr = QV_CALL_OPEN;
	p->state = POST_SENT;
	me()->locks[LOCK_MANAGER] = 2;
	CHECK(posts_nmi(pcpu_of(0)));
	CHECK_EQ(p->state, POST_SENT);
	me()->locks[LOCK_MANAGER] = 0;
	CHECK_EQ(world_call(QV_HC_RESET_HELD, 0), 0);	/* any call that ends answers */
	CHECK_EQ(p->state, POST_ANSWERED);
	CHECK_EQ(p->answer, 0);
	/* a stopped cell gets no answer, but it may have sent its NMI before */
	p->state = POST_SENT;
	for (u32 n = 0; n < KEYS_CELLS; n++)
		CHECK_EQ(world_call(QV_HC_STOP, n + 1), 0);
	CHECK(posts_nmi(pcpu_of(0)));
	pass(1000);
	CHECK(!posts_nmi(pcpu_of(0)));
	CHECK_EQ(p->state, POST_SENT);
}

/* NMIs go to a CPU that stays with Linux: that of the last start */
static void targets(void)
{
	u32 n;

	keys_world_open(1);
	for (n = 0; n < KEYS_CELLS; n++)
		CHECK_EQ(keys_cell(n)->cell.post.target, pcpu_of(0)->apic_id);
	keys_destroy(2);
	CHECK_EQ(world_create(&keys_w, &keys_q[2]), 3);
	CHECK_EQ(hypercall(pcpu_of(0), QV_HC_START, 3), 0);
	CHECK_EQ(keys_cell(0)->cell.post.target, pcpu_of(0)->apic_id);
}

/* A request that took the CPU for long delays the next one of that cell, and of no other cell */
static void share(void)
{
	struct chan_post *p;
	u64 start;

	keys_world_open(1);
	fake_time();
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	fake_stuck = 1ull << pcpu_of(1)->apic_id;
	CHECK_EQ(keys_close(0, 0), QV_KEY_STUCK);
	fake_stuck = 0;
	start = rdtsc();
	p = send(0, QV_CALL_CLOSE);
	CHECK_EQ(p->state, POST_SENT);
	CHECK_EQ(keys_open(1, 8, "a", "b"), 0);
	CHECK_EQ(p->state, POST_SENT);
	while (p->state == POST_SENT && rdtsc() - start < 60000ull * me()->boot.tsc_khz)
		CHECK(posts_nmi(pcpu_of(0)));
	CHECK_EQ(p->state, POST_ANSWERED);
	CHECK_EQ(p->answer, 0);
	/* the manager waited for 2 s: 15 times as much is for Linux */
	CHECK(rdtsc() - start > 29000ull * me()->boot.tsc_khz);
}

static bool life_mapped;

static void look_at_life(u32 low, u32 apic_id)
{
	life_mapped = tables_walk(&keys_cell(0)->host, QV_VA_LIFE).present;
	fake_answer(low, apic_id);
}

/* The cell may be failing until its CPUs have answered: its instance still writes the life word */
static void fails_during_close(void)
{
	keys_world_open(1);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	fake_ipi = look_at_life;
	CHECK_EQ(keys_close(0, 0), 0);
	fake_ipi = fake_answer;
	CHECK(life_mapped);
	CHECK(!tables_walk(&keys_cell(0)->host, QV_VA_LIFE).present);
}

static void another_posts(u32 low, u32 apic_id)
{
	keys_describe(&keys_cell(0)->cell.post.ask, 7, "a", "b", 0);
	send(0, QV_CALL_OPEN);
	fake_answer(low, apic_id);
}

/* A cell that the CPU in the manager has already passed posts a request */
static void posted_meanwhile(void)
{
	keys_world_open(1);
	CHECK_EQ(keys_open(1, 8, "a", "b"), 0);
	fake_ipi = another_posts;
	CHECK_EQ(keys_close(1, 0), 0);
	fake_ipi = fake_answer;
	CHECK_EQ(keys_cell(0)->cell.post.state, POST_ANSWERED);
	CHECK_EQ(keys_cell(0)->cell.post.answer, 0);
}

/* A CPU of Linux that may still reach Linux's end keeps it there, until another call */
static void linux_stuck(void)
{
	const u64 pa = POOL_PA(0, 0);

	keys_world_open(1);
	keys_destroy(2);
	fake_time();
	CHECK_EQ(keys_open(0, 9, "a", "linux"), 0);
	CHECK_EQ(world_call(QV_HC_KEY, 1 | 9 << 8), 0);
	fake_stuck = 1ull << pcpu_of(LINUX_CPU)->apic_id;
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), QV_ME_CPU_STUCK);
	CHECK(channel_at(pa)->users & 1);
	CHECK_EQ(QV_CHAN_STATE(keys_life(pa)->end[1].life), QV_CHAN_IS_RUNNING);
	fake_stuck = 0;
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), 0);
	CHECK_EQ(channel_at(pa)->users, 1 << 1);
	CHECK(keys_hidden(pa));
}

static u64 asked;

static void note_asked(u32 low, u32 apic_id)
{
	asked |= 1ull << apic_id;
	fake_answer(low, apic_id);
}

/* The last user was a cell. Linux asks before it uses the page: its CPUs forget the dummy page */
static void given_back(void)
{
	const u64 pa = POOL_PA(0, 0);

	keys_world_open(1);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	CHECK_EQ(keys_open(1, 7, "a", "b"), 0);
	keys_destroy(0);
	keys_destroy(2);
	CHECK_EQ(keys_close(1, 0), 0);
	CHECK(keys_linux_owns(pa));
	asked = 0;
	fake_ipi = note_asked;
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), 0);
	fake_ipi = fake_answer;
	CHECK(asked >> pcpu_of(LINUX_CPU)->apic_id & 1);
}

/* Another CPU is in call_bell(), and sees that no channel is there */
static void *in_call_bell(void *r)
{
	static u32 ends;

	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 500000000 }, NULL);
	ends = load(&((struct channel *)r)->is.page.ends);
	__atomic_store_n(&me()->locks[LOCK_CHANNELS], 0, __ATOMIC_SEQ_CST);
	return &ends;
}

static void bell_meanwhile(void)
{
	struct channel *r;
	pthread_t other;
	void *ends;

	keys_world_open(1);
	r = channel_at(POOL_PA(0, 0));
	me()->locks[LOCK_CHANNELS] = 3;		/* CPU 2, which is slow */
	CHECK(!pthread_create(&other, NULL, in_call_bell, r));
	CHECK_EQ(keys_open(0, 7, "a", "linux"), 0);
	CHECK(!pthread_join(other, &ends));
	CHECK_EQ(*(u32 *)ends, 0);
	CHECK_EQ(me()->locks[LOCK_CHANNELS], 0);
	CHECK_EQ(r->is.page.ends, 2);
	CHECK_EQ(world_call(QV_HC_BELL, POOL_PA(0, 0) | 0x50), 0);
}

/* A cell's CPU is slow between its look at a target and the interrupt */
static void *slow_cell(void *arg)
{
	u32 *rings = arg;

	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 500000000 }, NULL);
	__atomic_fetch_add(rings, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void waits_for_slow(void (*wait)(void), u32 *rings)
{
	pthread_t other;

	*rings = 5;
	CHECK(!pthread_create(&other, NULL, slow_cell, rings));
	wait();
	CHECK_EQ(load(rings), 6);
	CHECK(!pthread_join(other, NULL));
}

static void shut(void)
{
	bells_set(pcpu_of(0), channel_at(POOL_PA(0, 0)), 1, 0);
}

static void retarget(void)
{
	posts_retarget(pcpu_of(0));
}

/* The manager waits as long as that CPU takes, and no longer than for one bell */
static void targets_in_use(void)
{
	struct bells *b;

	keys_world_open(1);
	CHECK_EQ(keys_open(0, 7, "a", "b"), 0);
	me()->boot.tsc_khz = 1u << 30;		/* this CPU may take some hours to answer */
	b = &keys_cell(0)->bells;
	waits_for_slow(shut, &b->uses[0]);
	waits_for_slow(retarget, &b->uses[0]);
	b->uses[0] = 2;
	shut();
	retarget();
	CHECK_EQ(b->uses[0], 2);
	me()->boot.tsc_khz = 1;
	b->uses[0] = 3;			/* a CPU that executes nothing more */
	shut();
	CHECK_EQ(b->uses[0], 3);
}

UNIT_SUITE(channel_posts) = {
	{ "channel posts: a cell fails during its request", fails_meanwhile },
	{ "channel posts: a CPU does not drop its translations", stuck },
	{ "channel posts: a request during a call of Linux", busy },
	{ "channel posts: the CPU that gets the NMI", targets },
	{ "channel posts: a cell gets a share of the CPU", share },
	{ "channel posts: a cell fails while it closes", fails_during_close },
	{ "channel posts: a request during a round", posted_meanwhile },
	{ "channel posts: a CPU of Linux does not drop its translations", linux_stuck },
	{ "channel posts: Linux asks for a page that came back", given_back },
	{ "channel posts: a bell while a channel is made", bell_meanwhile },
	{ "channel posts: a cell's CPU that is slow to use a target", targets_in_use },
	{ 0 }
};
