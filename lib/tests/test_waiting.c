// SPDX-License-Identifier: GPL-2.0-only
/* A program that waits for two channels at once, and one whose writer is killed. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <qv/libqv.h>
#include "unit.h"

#define WAIT	60000	/* ms, for an item that is sure to come */

static char paths[2][200];

static void create(int which, uint32_t type, uint64_t item, uint32_t flags, const char *schema)
{
	struct qv_chan_page plan = {
		.type = type, .item = item, .slots = type == QV_CHAN_RING ? 4 : 1, .ends = 2,
		.full = type == QV_CHAN_RING ? QV_CHAN_FULL_BLOCK : 0, .flags = flags,
		.name = "waiting",
	};

	strcpy(plan.schema, schema);
	snprintf(paths[which], sizeof(paths[which]), "%s/waiting%d.%d", out_folder(), which,
		 getpid());
	if (qv_file_create(paths[which], &plan))
		unit_give_up(qv_detail());
}

static struct qv_channel *opened(int which, uint32_t end)
{
	struct qv_channel *c;

	if (qv_file_open(&c, paths[which], end))
		unit_give_up(qv_detail());
	return c;
}

static int64_t get(struct qv_channel *c, int timeout_ms)
{
	uint64_t item[8];
	int result = qv_get(c, &item, timeout_ms);

	return result ? result : (int64_t)item[0];
}

static int put(struct qv_channel *c, uint64_t value)
{
	uint64_t item[8] = { value };

	return qv_put(c, &item, WAIT);
}

/* The writer of both channels: their items come in turn, in bursts, and alone. */
static void write_both(int items)
{
	struct qv_channel *c[2] = { opened(0, 0), opened(1, 0) };
	int n[2] = { 0, 0 }, which;

	while (n[0] < items || n[1] < items) {
		which = n[0] >= items || (n[1] < items && rand() % 2);
		if (put(c[which], (uint64_t)++n[which]))
			_exit(1);
		if (rand() % 64 == 0)
			usleep(2000);
	}
	_exit(0);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * One poll() for both: arm, look, sleep. No bell is lost between these steps, a channel in which
 * items wait does not hide the other, and without items poll() sleeps.
 */
static void poll_both(uint32_t flags)
{
	enum { ITEMS = 2000 };
	struct pollfd fds[2];
	struct qv_channel *c[2];
	int64_t next[2] = { 1, 1 }, value;
	int status, i, looks = 0;
	double before;
	pid_t child;

	create(0, QV_CHAN_RING, 64, flags, "");
	create(1, QV_CHAN_RING, 64, flags, "");
	for (i = 0; i < 2; i++) {
		c[i] = opened(i, 1);
		fds[i] = (struct pollfd){ .fd = qv_fd(c[i]), .events = POLLIN };
	}
	child = fork();
	if (!child)
		write_both(ITEMS);
	while (next[0] <= ITEMS || next[1] <= ITEMS) {
		for (i = 0; i < 2; i++) {
			qv_arm(c[i]);
			while ((value = get(c[i], 0)) > 0)
				CHECK_EQ(value, next[i]++);
			CHECK(value == QV_CHAN_NOTHING || value == QV_CHAN_ABSENT);
		}
		looks++;
		if (next[0] <= ITEMS || next[1] <= ITEMS) {
			/* an end that attaches rings no bell, so the first wait has a limit */
			int ready = poll(fds, 2, next[0] + next[1] > 2 ? WAIT : 10);

			if (!CHECK(ready > 0 || next[0] + next[1] == 2))
				break;
		}
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	CHECK(looks <= 4 * ITEMS + 1000);
	for (i = 0; i < 2; i++) {
		qv_arm(c[i]);
		CHECK_EQ(get(c[i], 0), QV_CHAN_NOTHING);
	}
	before = cpu_seconds();
	CHECK_EQ(poll(fds, 2, 200), 0);
	CHECK(cpu_seconds() - before < 0.1);
	for (i = 0; i < 2; i++) {
		qv_close(c[i]);
		qv_file_remove(paths[i]);
	}
}

static void test_poll_of_two_channels(void)
{
	poll_both(QV_CHAN_BELL);
	poll_both(QV_CHAN_BELL | QV_CHAN_ONE_SHOT);
}

/*
 * The writer is killed in the middle of an item. It starts again with items of another size: it
 * needs no file to be deleted. The reader learns that its channel is gone, also while it waits, and
 * finds the other layout when it opens the channel again.
 */
static void killed_writer_changes_layout(uint32_t type, uint32_t flags)
{
	struct qv_channel *reader, *writer;
	char small[64];
	pid_t child;
	void *room;
	int status;

	create(0, type, 64, flags, "sample@1");
	reader = opened(0, 1);
	child = fork();
	if (!child) {
		writer = opened(0, 0);
		if (put(writer, 1) || qv_claim(writer, &room, WAIT))
			_exit(1);
		memset(room, 0xee, 40);
		kill(getpid(), SIGKILL);
	}
	CHECK_EQ(get(reader, WAIT), 1);
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(get(reader, 20), QV_LIB_TIMEOUT);	/* its cell, or Linux, still runs */
	child = fork();
	if (!child)
		_exit(get(reader, -1) != QV_LIB_NOT_FOUND);
	usleep(20000);
	create(0, type, 128, flags, "sample@2");
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(get(reader, WAIT), QV_LIB_NOT_FOUND);
	qv_close(reader);
	reader = opened(0, 1);
	writer = opened(0, 0);
	CHECK_EQ(qv_expect(reader, type, 64, "sample@1"), QV_LIB_MISMATCH);
	CHECK(strstr(qv_detail(), "64") && strstr(qv_detail(), "128"));
	CHECK_EQ(qv_expect(reader, type, 128, "sample@1"), QV_LIB_MISMATCH);
	CHECK(strstr(qv_detail(), "sample@1") && strstr(qv_detail(), "sample@2"));
	CHECK_EQ(qv_read(reader, small, sizeof(small), NULL, WAIT), QV_CHAN_SIZE);
	{
		uint64_t item[16] = { 2 }, to[16];

		CHECK_EQ(qv_put(writer, &item, WAIT), 0);
		CHECK_EQ(qv_get(reader, &to, WAIT), 0);
		CHECK(!memcmp(item, to, sizeof(item)));
	}
	qv_close(writer);
	qv_close(reader);
	qv_file_remove(paths[0]);
}

static void test_killed_writer_changes_layout(void)
{
	static const uint32_t types[] = { QV_CHAN_RING, QV_CHAN_FOUR_SLOT };
	size_t i;

	for (i = 0; i < 2; i++) {
		killed_writer_changes_layout(types[i], 0);
		killed_writer_changes_layout(types[i], QV_CHAN_RECONNECT);
		killed_writer_changes_layout(types[i], QV_CHAN_RECONNECT | QV_CHAN_BELL);
	}
}

UNIT_SUITE(waiting) = {
	{ "waiting: poll of two channels", test_poll_of_two_channels },
	{ "waiting: a killed writer starts with another layout",
	  test_killed_writer_changes_layout },
	{ 0 }
};
