// SPDX-License-Identifier: GPL-2.0-only
/* Which ends are rung: each time, or only after they have armed their bell */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include <qv/libqv.h>
#include "../linux/internal.h"
#include "unit.h"
#include "world.h"

static struct world bells(uint32_t type, uint32_t ends, uint32_t flags, struct qv_end *end)
{
	uint32_t full = type == QV_CHAN_RING ? QV_CHAN_FULL_ERROR : 0, i;
	struct world w = world_make(type, 64, type == QV_CHAN_RING ? 8 : 1, ends, full,
				    QV_CHAN_RECONNECT | flags);

	for (i = 0; i < ends; i++)
		CHECK_EQ(world_attach(&w, &end[i], i), QV_CHAN_DONE);
	return w;
}

static bool write_rings(struct qv_end *end)
{
	static const uint64_t item[8];

	CHECK_EQ(qv_end_write(end, item, sizeof(item)), QV_CHAN_DONE);
	return qv_end_rings(end);
}

static void test_each_end_chooses_to_arm(void)
{
	struct qv_end end[3];
	struct world w = bells(QV_CHAN_FOUR_SLOT, 3, QV_CHAN_BELL, end);

	CHECK(write_rings(&end[0]));
	qv_end_arm(&end[1], true);	/* it has not said that it arms */
	CHECK_EQ(world_section(&w, 1)->armed, 0);
	qv_end_will_arm(&end[1], true);
	CHECK(write_rings(&end[0]));	/* end 2 does not arm */
	qv_end_will_arm(&end[2], true);
	CHECK(!write_rings(&end[0]));
	qv_end_arm(&end[2], true);
	CHECK(write_rings(&end[0]));
	CHECK(!write_rings(&end[0]));	/* rung already */
	qv_end_arm(&end[1], true);
	CHECK(write_rings(&end[0]));
	qv_end_arm(&end[1], true);
	qv_end_arm(&end[1], false);
	CHECK(!write_rings(&end[0]));
	qv_end_will_arm(&end[1], false);
	CHECK(write_rings(&end[0]));
	CHECK(write_rings(&end[0]));
	free(w.window);
}

/* A program that is killed leaves its words, and the next one may not arm. */
static void test_attached_end_does_not_arm(void)
{
	struct qv_end end[2];
	struct world w = bells(QV_CHAN_RING, 2, QV_CHAN_BELL, end);

	qv_end_will_arm(&end[1], true);
	CHECK(!write_rings(&end[0]));
	CHECK_EQ(world_attach(&w, &end[1], 1), QV_CHAN_DONE);
	CHECK_EQ(world_section(&w, 1)->arms, 0);
	CHECK(write_rings(&end[0]));
	free(w.window);
}

/* The manager changes the life word of a cell that restarts, and its section is cleared later. */
static void test_end_that_restarts_is_rung(void)
{
	struct qv_end end[2];
	struct world w = bells(QV_CHAN_FOUR_SLOT, 2, QV_CHAN_BELL, end);
	struct qv_chan_section *own = world_section(&w, 1);
	struct qv_chan_page *page = w.window;
	uint64_t next = QV_CHAN_GENERATION(page->end[1].life) + 1;

	qv_end_will_arm(&end[1], true);
	qv_end_arm(&end[1], true);
	page->end[1].life = QV_CHAN_LIFE(next, QV_CHAN_IS_ABSENT);
	CHECK(write_rings(&end[0]));	/* this bell may be lost */
	memset(own, 0, sizeof(*own));
	page->end[1].life = QV_CHAN_LIFE(next, QV_CHAN_IS_RUNNING);
	CHECK_EQ(world_attach(&w, &end[1], 1), QV_CHAN_DONE);
	qv_end_will_arm(&end[1], true);
	qv_end_arm(&end[1], true);
	CHECK(write_rings(&end[0]));
	CHECK(!write_rings(&end[0]));
	free(w.window);
}

static void test_other_channels_do_not_change(void)
{
	struct qv_end end[2];
	struct world w = bells(QV_CHAN_RING, 2, QV_CHAN_BELL | QV_CHAN_ONE_SHOT, end);

	qv_end_will_arm(&end[1], true);
	CHECK_EQ(world_section(&w, 1)->arms, 0);
	CHECK(!write_rings(&end[0]));
	qv_end_arm(&end[1], true);
	CHECK(write_rings(&end[0]));
	free(w.window);
	w = bells(QV_CHAN_RING, 2, 0, end);
	qv_end_will_arm(&end[1], true);
	qv_end_arm(&end[1], true);
	CHECK_EQ(world_section(&w, 1)->arms, 0);
	CHECK_EQ(world_section(&w, 1)->armed, 0);
	CHECK(!write_rings(&end[0]));
	free(w.window);
	w = world_make(QV_CHAN_MEMORY, 4096, 1, 2, 0, QV_CHAN_BELL);
	CHECK_EQ(world_attach(&w, &end[0], 0), QV_CHAN_DONE);
	memset((char *)w.window + w.plan.end[0].offset, 1, 4096);
	qv_end_will_arm(&end[0], true);
	CHECK(qv_end_rings(&end[0]));	/* its section is all payload */
	CHECK_EQ(world_section(&w, 0)->arms, 0x0101010101010101);
	free(w.window);
}

/* ---- libqv ---- */

static char path[200];

static struct qv_channel *opened(uint32_t end)
{
	struct qv_channel *c;

	if (qv_file_open(&c, path, end))
		unit_give_up(qv_detail());
	return c;
}

static void create(uint32_t flags)
{
	struct qv_chan_page plan = {
		.type = QV_CHAN_RING, .item = 64, .slots = 8, .ends = 2,
		.full = QV_CHAN_FULL_BLOCK, .flags = flags, .name = "sensor",
	};

	snprintf(path, sizeof(path), "%s/bells.%d", out_folder(), getpid());
	if (qv_file_create(path, &plan))
		unit_give_up(qv_detail());
}

static int get(struct qv_channel *c, int timeout_ms)
{
	uint64_t item[8];

	return qv_get(c, &item, timeout_ms);
}

static int put(struct qv_channel *c)
{
	static const uint64_t item[8];

	return qv_put(c, &item, 0);
}

/* Writes an item. Returns whether the reader's bell was rung, and forgets that bell. */
static bool put_rings(struct qv_channel *writer, struct qv_channel *reader)
{
	struct pollfd p = { .fd = qv_fd(reader), .events = POLLIN };
	bool rung;

	reader->source->arm(reader);
	CHECK_EQ(put(writer), 0);
	rung = poll(&p, 1, 0) == 1;
	reader->source->arm(reader);
	return rung;
}

static void test_libqv_arms_once_it_may_wait(void)
{
	struct qv_channel *a, *b;

	create(QV_CHAN_BELL);
	a = opened(0);
	b = opened(1);
	CHECK(put_rings(a, b));
	CHECK(put_rings(a, b));
	CHECK_EQ(get(b, 0), 0);
	CHECK(put_rings(a, b));		/* a call that never waits changes nothing */
	CHECK_EQ(get(b, 1000), 0);
	CHECK(!put_rings(a, b));
	qv_arm(b);
	CHECK(put_rings(a, b));
	CHECK(!put_rings(a, b));
	while (!get(b, 0))
		;
	CHECK_EQ(get(b, 1), QV_LIB_TIMEOUT);	/* armed the bell, then disarmed it */
	CHECK(!put_rings(a, b));
	qv_close(b);
	b = opened(1);
	CHECK(put_rings(a, b));
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

static struct qv_channel *news_from;
static const struct source *usual;

/* The peer has news just before the bell is armed, so it does not ring. */
static void arm_late(struct qv_channel *c)
{
	usual->arm(c);
	if (news_from)
		CHECK_EQ(put(news_from), 0);
	news_from = NULL;
}

static void interrupted(int number)
{
	(void)number;
}

/* With a signal each 5 ms, a sleep ends by QV_LIB_INTERRUPTED. */
static void test_look_after_arming_finds_news(void)
{
	static const uint32_t modes[] = { QV_CHAN_BELL, QV_CHAN_BELL | QV_CHAN_ONE_SHOT };
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	struct sigaction on_alarm = { .sa_handler = interrupted }, before;
	struct source late;
	struct qv_channel *a, *b;
	uint32_t i;

	sigaction(SIGALRM, &on_alarm, &before);
	for (i = 0; i < 2; i++) {
		create(modes[i]);
		a = news_from = opened(0);
		b = opened(1);
		usual = b->source;
		late = *usual;
		late.arm = arm_late;
		b->source = &late;
		setitimer(ITIMER_REAL, &often, NULL);
		CHECK_EQ(get(b, 60000), 0);
		setitimer(ITIMER_REAL, &never, NULL);
		qv_close(a);
		qv_close(b);
		qv_file_remove(path);
	}
	sigaction(SIGALRM, &before, NULL);
}

UNIT_SUITE(bells) = {
	{ "bells: each end chooses to arm", test_each_end_chooses_to_arm },
	{ "bells: an end that attaches does not arm", test_attached_end_does_not_arm },
	{ "bells: an end that restarts is rung", test_end_that_restarts_is_rung },
	{ "bells: other channels do not change", test_other_channels_do_not_change },
	{ "bells: libqv arms once it may wait", test_libqv_arms_once_it_may_wait },
	{ "bells: the look after arming finds news", test_look_after_arming_finds_news },
	{ 0 }
};
