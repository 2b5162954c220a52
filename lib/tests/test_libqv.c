// SPDX-License-Identifier: GPL-2.0-only
/* libqv with channels in files: two handles, or two processes. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <qv/libqv.h>
#include "../linux/internal.h"
#include "unit.h"

#define WAIT	60000	/* ms, for an item that is sure to come */

static char path[200];

static void create(uint32_t type, uint32_t full, uint32_t flags)
{
	struct qv_chan_page plan = {
		.type = type, .item = 64, .slots = type == QV_CHAN_RING ? 4 : 1, .ends = 2,
		.full = full, .flags = flags, .name = "sensor", .schema = "sample@1",
	};

	snprintf(path, sizeof(path), "%s/channel.%d", out_folder(), getpid());
	if (qv_file_create(path, &plan))
		unit_give_up(qv_detail());
}

static struct qv_channel *opened(uint32_t end)
{
	struct qv_channel *c;

	if (qv_file_open(&c, path, end))
		unit_give_up(qv_detail());
	return c;
}

static int put(struct qv_channel *c, uint64_t value, int timeout_ms)
{
	uint64_t item[8] = { value };

	return qv_put(c, &item, timeout_ms);
}

static int64_t get(struct qv_channel *c, int timeout_ms)
{
	uint64_t item[8];
	int result = qv_get(c, &item, timeout_ms);

	return result ? result : (int64_t)item[0];
}

static bool readable(struct qv_channel *c)
{
	struct pollfd p = { .fd = qv_fd(c), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_open_refuses_with_a_reason(void)
{
	struct qv_channel *c, *again;

	CHECK_EQ(qv_open(&c, "no-such-channel"), QV_LIB_NOT_FOUND);
	CHECK(!c && strstr(qv_detail(), "/dev/qv-channel/no-such-channel"));
	CHECK_EQ(qv_open(&c, "../null"), QV_LIB_NOT_FOUND);
	CHECK_EQ(qv_open(&c, ""), QV_LIB_NOT_FOUND);
	CHECK_EQ(qv_open_key(&c, 0x1234), QV_LIB_NOT_FOUND);
	CHECK(strstr(qv_detail(), "key-0000000000001234"));
	CHECK_EQ(qv_file_open(&c, "/dev/null", 0), QV_CHAN_LAYOUT);
	create(QV_CHAN_RING, QV_CHAN_FULL_ERROR, 0);
	CHECK_EQ(qv_file_open(&c, path, 2), QV_CHAN_USAGE);
	CHECK_EQ(qv_file_open(&c, path, 1), 0);
	CHECK_EQ(qv_file_open(&again, path, 1), QV_LIB_BUSY);
	CHECK_EQ(qv_expect(c, QV_CHAN_RING, 64, "sample@1"), 0);
	CHECK_EQ(qv_expect(c, 0, 0, NULL), 0);
	CHECK_EQ(qv_expect(c, QV_CHAN_FOUR_SLOT, 64, NULL), QV_LIB_MISMATCH);
	CHECK_EQ(qv_expect(c, 0, 32, NULL), QV_LIB_MISMATCH);
	CHECK_EQ(qv_expect(c, 0, 0, "sample@2"), QV_LIB_MISMATCH);
	CHECK(strstr(qv_detail(), "sample@1") && strstr(qv_detail(), "sample@2"));
	CHECK_EQ(qv_read(c, path, 63, NULL, 0), QV_CHAN_SIZE);
	qv_close(c);
	qv_close(NULL);
	CHECK_EQ(qv_file_state(path, 2, QV_CHAN_IS_STOPPED), QV_CHAN_USAGE);
	CHECK_EQ(qv_file_remove(path), 0);
	CHECK_EQ(qv_file_remove(path), QV_LIB_NOT_FOUND);
}

/* A person may give the wrong path, or the path of a file that has a FIFO's name. */
static void test_file_that_is_no_channel_stays(void)
{
	const struct qv_chan_page plan = { .type = QV_CHAN_RING, .item = 64, .slots = 4, .ends = 2,
					   .full = QV_CHAN_FULL_ERROR, .name = "thesis" };
	char bell[300], text[8] = "";
	struct qv_channel *c;
	FILE *file;

	create(QV_CHAN_RING, QV_CHAN_FULL_ERROR, 0);
	CHECK_EQ(qv_file_remove(path), 0);
	file = fopen(path, "w");
	CHECK(file && fputs("thesis", file) >= 0 && !fclose(file));
	CHECK_EQ(qv_file_create(path, &plan), QV_LIB_MISMATCH);
	CHECK(strstr(qv_detail(), "no channel, so it stays"));
	CHECK_EQ(qv_file_remove(path), QV_LIB_MISMATCH);
	CHECK_EQ(qv_file_open(&c, path, 0), QV_CHAN_LAYOUT);
	file = fopen(path, "r");
	CHECK(file && fgets(text, sizeof(text), file) && !strcmp(text, "thesis"));
	fclose(file);
	snprintf(bell, sizeof(bell), "%s.bell0", path);
	CHECK_EQ(access(bell, F_OK), -1);
	unlink(path);

	/* a channel that cannot be made leaves nothing behind, and no file goes */
	CHECK(!mkdir(path, 0700));
	CHECK(qv_file_create(path, &plan) < 0);
	CHECK_EQ(access(bell, F_OK), -1);
	rmdir(path);
	file = fopen(bell, "w");
	CHECK(file && !fclose(file));
	CHECK(qv_file_create(path, &plan) < 0);
	CHECK_EQ(access(bell, F_OK), 0);
	CHECK_EQ(access(path, F_OK), -1);
	unlink(bell);
	CHECK_EQ(qv_file_create("/no/such/folder", &plan), QV_LIB_NOT_FOUND);
	CHECK(strstr(qv_detail(), "there is no such folder"));

	/* an empty file, such as mkstemp() makes, and a channel are replaced */
	file = fopen(path, "w");
	CHECK(file && !fclose(file));
	CHECK_EQ(qv_file_create(path, &plan), 0);
	CHECK_EQ(qv_file_create(path, &plan), 0);
	CHECK_EQ(qv_file_remove(path), 0);
}

static void test_every_result_has_a_sentence(void)
{
	int result;

	for (result = QV_LIB_TIMEOUT; result >= QV_LIB_MISMATCH; result--)
		CHECK(strlen(qv_strerror(result)) > 9 &&
		      strcmp(qv_strerror(result), "unknown result"));
	CHECK_TEXT(qv_strerror(QV_LIB_MISMATCH - 1), "unknown result");
	CHECK_TEXT(qv_strerror(QV_CHAN_FULL), qv_chan_sentence(QV_CHAN_FULL));
}

static void test_calls_wait_until_their_time_out(void)
{
	struct qv_channel *a, *b;
	uint32_t n;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK, QV_CHAN_BELL);
	a = opened(0);
	b = opened(1);
	CHECK_EQ(get(b, 0), QV_CHAN_NOTHING);
	CHECK_EQ(get(b, 5), QV_LIB_TIMEOUT);
	for (n = 0; n < 4; n++)
		CHECK_EQ(put(a, n, 5), 0);
	CHECK_EQ(put(a, 4, 0), QV_CHAN_FULL);
	CHECK_EQ(put(a, 4, 5), QV_LIB_TIMEOUT);
	CHECK_EQ(get(b, 0), 0);
	CHECK_EQ(put(a, 4, 5), 0);
	qv_file_state(path, 0, QV_CHAN_IS_STOPPED);
	for (n = 1; n < 5; n++)
		CHECK_EQ(get(b, 5), n);
	CHECK_EQ(get(b, -1), QV_CHAN_STOPPED);	/* without an end of the time-out */
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

static void test_no_call_ends_before_its_time_out(void)
{
	struct timespec began, ended;
	struct qv_channel *b;
	unsigned int i;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK, QV_CHAN_BELL);
	b = opened(1);
	for (i = 0; i < 50; i++) {
		clock_gettime(CLOCK_MONOTONIC, &began);
		CHECK_EQ(get(b, 1), QV_LIB_TIMEOUT);
		clock_gettime(CLOCK_MONOTONIC, &ended);
		CHECK((ended.tv_sec - began.tv_sec) * 1000000000LL + ended.tv_nsec -
		      began.tv_nsec >= 1000000);
	}
	qv_close(b);
	qv_file_remove(path);
}

/* The last cell of the channel is destroyed: the manager clears the life page */
static void test_channel_that_is_gone_ends_the_wait(void)
{
	static const uint64_t zero;
	struct qv_channel *a, *b;
	int fd;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK, QV_CHAN_RECONNECT);
	a = opened(0);
	b = opened(1);
	CHECK_EQ(put(a, 1, 0), 0);
	fd = open(path, O_RDWR);
	CHECK_EQ(pwrite(fd, &zero, 8, offsetof(struct qv_chan_page, session)), 8);
	close(fd);
	CHECK_EQ(get(b, -1), QV_LIB_NOT_FOUND);
	CHECK_EQ(put(a, 2, -1), QV_LIB_NOT_FOUND);
	CHECK(strstr(qv_detail(), "no longer exists"));
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

static void test_descriptor_is_readable_while_items_wait(void)
{
	struct qv_channel *a, *b;

	create(QV_CHAN_RING, QV_CHAN_FULL_ERROR, QV_CHAN_BELL);
	a = opened(0);
	CHECK_EQ(put(a, 1, 0), 0);
	b = opened(1);
	CHECK(readable(b));		/* the item is older than the reader */
	CHECK_EQ(get(b, 0), 1);
	CHECK_EQ(put(a, 2, 0), 0);
	CHECK_EQ(put(a, 3, 0), 0);
	CHECK_EQ(get(b, 0), 2);
	CHECK(readable(b));
	qv_arm(b);
	CHECK(!readable(b));
	CHECK_EQ(get(b, 0), 3);		/* looks again after it armed the bell */
	CHECK_EQ(get(b, 0), QV_CHAN_NOTHING);
	CHECK(!readable(b));
	CHECK_EQ(put(a, 4, 0), 0);
	CHECK(readable(b));
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

/* A writer may wait in poll() for a free slot, also if a full ring is an error or drops. */
static void test_each_read_of_a_ring_rings(void)
{
	struct qv_channel *a, *b;
	const void *there;
	uint32_t full;

	for (full = QV_CHAN_FULL_ERROR; full <= QV_CHAN_DROP_OLDEST; full++) {
		unit_case("full %u", full);
		create(QV_CHAN_RING, full, QV_CHAN_BELL);
		a = opened(0);
		b = opened(1);
		CHECK_EQ(put(a, 1, 0), 0);
		CHECK_EQ(put(a, 2, 0), 0);
		qv_arm(a);
		CHECK(!readable(a));
		CHECK_EQ(get(b, 0), 1);
		CHECK(readable(a));
		qv_arm(a);
		CHECK_EQ(qv_peek(b, &there, NULL, 0), 0);
		CHECK(!readable(a));
		CHECK_EQ(qv_release(b), 0);
		CHECK(readable(a));
		qv_close(a);
		qv_close(b);
		qv_file_remove(path);
	}
}

/* A bell rings once after each arming, also for a peer that started again and counts from 0. */
static void test_one_shot_bell_rings_once(void)
{
	struct qv_channel *a, *b;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK,
	       QV_CHAN_BELL | QV_CHAN_ONE_SHOT | QV_CHAN_RECONNECT);
	a = opened(0);
	b = opened(1);
	qv_arm(b);
	CHECK_EQ(put(a, 1, 0), 0);
	CHECK(readable(b));
	b->source->arm(b);
	CHECK_EQ(put(a, 2, 0), 0);
	CHECK(!readable(b));			/* rung already */
	qv_arm(b);
	CHECK(!readable(b));
	CHECK_EQ(get(b, 0), 1);
	CHECK_EQ(get(b, 0), 2);
	CHECK_EQ(put(a, 3, 0), 0);
	CHECK(readable(b));
	CHECK_EQ(get(b, 0), 3);
	CHECK_EQ(get(b, 1), QV_LIB_TIMEOUT);	/* armed the bell, then disarmed it */
	CHECK_EQ(put(a, 4, 0), 0);
	CHECK(!readable(b));
	CHECK_EQ(get(b, 0), 4);
	qv_close(b);
	CHECK_EQ(qv_file_start(path, 1), 0);
	b = opened(1);
	while (get(b, 0) > 0)
		;				/* the writer did not know what was read */
	qv_arm(b);
	CHECK(!readable(b));
	CHECK_EQ(put(a, 5, 0), 0);
	CHECK(readable(b));
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

/* 20,000 items through a ring of four: both processes sleep and ring often. */
static void pass_a_stream(uint32_t flags)
{
	struct qv_channel *a, *b;
	uint64_t n;
	pid_t child;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK, flags | QV_CHAN_RECONNECT);
	child = fork();
	if (!child) {
		a = opened(0);
		for (n = 1; n <= 20000 && !put(a, n, WAIT); n++)
			;
		_exit(n <= 20000);
	}
	b = opened(1);
	for (n = 1; n <= 20000; n++)
		CHECK_EQ(get(b, WAIT), n);
	waitpid(child, NULL, 0);
	qv_close(b);
	qv_file_remove(path);
}

static void test_bells_pass_a_stream(void)
{
	pass_a_stream(QV_CHAN_BELL);
	pass_a_stream(QV_CHAN_BELL | QV_CHAN_ONE_SHOT);
}

/* A child writes and is killed in the middle of an item. The next program continues. */
static void test_killed_writer_leaves_nothing_behind(void)
{
	struct qv_channel *a, *b;
	uint64_t expected = 1, n;
	void *room;
	pid_t child;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK, QV_CHAN_BELL | QV_CHAN_RECONNECT);
	b = opened(1);
	for (n = 0; n < 10; n++) {
		child = fork();
		if (!child) {
			a = opened(0);
			put(a, 3 * n + 1, WAIT);
			put(a, 3 * n + 2, WAIT);
			put(a, 3 * n + 3, WAIT);
			if (!qv_claim(a, &room, WAIT))
				memset(room, 0xee, 40);
			kill(getpid(), SIGKILL);
		}
		for (; expected <= 3 * n + 3; expected++)
			CHECK_EQ(get(b, WAIT), expected);
		waitpid(child, NULL, 0);
		CHECK_EQ(get(b, 0), QV_CHAN_NOTHING);
	}
	qv_close(b);
	qv_file_remove(path);
}

static void test_waiting_reader_sees_restart(void)
{
	struct qv_channel *a, *b;
	pid_t child;
	int status;

	create(QV_CHAN_FOUR_SLOT, 0, QV_CHAN_BELL | QV_CHAN_RECONNECT);
	a = opened(0);
	b = opened(1);
	CHECK_EQ(put(a, 7, 0), 0);
	CHECK_EQ(get(b, WAIT), 7);
	qv_close(a);
	child = fork();
	if (!child)
		_exit(get(b, WAIT) != QV_CHAN_RESTARTED || get(b, WAIT) != 8);
	qv_file_start(path, 0);
	a = opened(0);
	CHECK_EQ(put(a, 8, 0), 0);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

/* As a device of qv.ko does within 100 ms: the first end of a mailbox waits for its turn. */
static void test_descriptor_tells_that_the_other_end_attaches(void)
{
	struct qv_channel *a, *b;

	create(QV_CHAN_MAILBOX, 0, QV_CHAN_BELL | QV_CHAN_RECONNECT);
	a = opened(0);
	CHECK_EQ(qv_arm(a), 0);
	CHECK_EQ(put(a, 1, 0), QV_CHAN_ABSENT);
	CHECK(!readable(a));
	b = opened(1);
	CHECK(readable(a));
	CHECK_EQ(put(a, 1, 0), 0);
	CHECK_EQ(get(b, 0), 1);
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

/* Every index of the writer is ~0: the reader reports it within its time-out, and does not wait. */
static void test_corrupt_is_not_empty(void)
{
	struct qv_chan_section *section;
	struct qv_channel *a, *b;
	uint64_t item[8];
	int fd;

	create(QV_CHAN_RING, QV_CHAN_FULL_BLOCK, 0);
	a = opened(0);
	b = opened(1);
	put(a, 1, 0);
	fd = open(path, O_RDWR);
	section = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	section->count = ~0ull;
	CHECK_EQ(get(b, -1), QV_CHAN_CORRUPT);
	CHECK_EQ(qv_read(b, item, sizeof(item), NULL, WAIT), QV_CHAN_CORRUPT);
	munmap(section, 4096);
	close(fd);
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

static void test_foreign_section_is_read_only(void)
{
	struct qv_channel *a, *b;
	const void *there;
	int status;
	pid_t child;

	create(QV_CHAN_RING, QV_CHAN_FULL_ERROR, 0);
	a = opened(0);
	b = opened(1);
	put(a, 1, 0);
	CHECK_EQ(qv_peek(b, &there, NULL, 0), 0);
	child = fork();
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint64_t *)there = 2;
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK_EQ(qv_release(b), 0);
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

UNIT_SUITE(libqv) = {
	{ "libqv: open refuses with a reason", test_open_refuses_with_a_reason },
	{ "libqv: a file that is no channel stays", test_file_that_is_no_channel_stays },
	{ "libqv: every result has a sentence", test_every_result_has_a_sentence },
	{ "libqv: calls wait until their time-out", test_calls_wait_until_their_time_out },
	{ "libqv: no call ends before its time-out", test_no_call_ends_before_its_time_out },
	{ "libqv: a channel that is gone ends the wait", test_channel_that_is_gone_ends_the_wait },
	{ "libqv: the descriptor is readable while items wait",
	  test_descriptor_is_readable_while_items_wait },
	{ "libqv: each read of a ring rings", test_each_read_of_a_ring_rings },
	{ "libqv: a one-shot bell rings once", test_one_shot_bell_rings_once },
	{ "libqv: bells pass a stream", test_bells_pass_a_stream },
	{ "libqv: a killed writer leaves nothing behind",
	  test_killed_writer_leaves_nothing_behind },
	{ "libqv: a waiting reader sees a restart", test_waiting_reader_sees_restart },
	{ "libqv: a descriptor tells that the other end attaches",
	  test_descriptor_tells_that_the_other_end_attaches },
	{ "libqv: corrupt is not empty", test_corrupt_is_not_empty },
	{ "libqv: a foreign section is read-only", test_foreign_section_is_read_only },
	{ 0 }
};
