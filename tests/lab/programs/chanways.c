// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>
#include <qv/libqv.h>
#include "chanways.h"

#define SLOTS	16	/* of each ring; a pipe and a socket have their usual buffers */

/* ---- pipe and UNIX socket: fds[side] has two descriptors: to receive, to send ---- */

static int fds[2][2];

static void pipe_make(size_t size)
{
	int first[2], second[2];

	(void)size;
	must(!pipe(first) && !pipe(second), "pipe");
	memcpy(fds, (int[2][2]){ { second[0], first[1] }, { first[0], second[1] } }, sizeof(fds));
}

static void socket_make(size_t size)
{
	int ends[2], side;

	(void)size;
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), "socketpair");
	for (side = 0; side < 2; side++) {
		fds[side][0] = ends[side];
		fds[side][1] = dup(ends[side]);
	}
}

static void fd_send(int side, const void *data, size_t size)
{
	must(write(fds[side][1], data, size) == (ssize_t)size, "write");
}

/* A pipe may return a part of an item */
static void fd_receive(int side, void *data, size_t size)
{
	size_t n = 0;
	ssize_t got;

	for (; n < size; n += (size_t)got) {
		got = read(fds[side][0], (char *)data + n, size - n);
		must(got > 0, "read");
	}
}

static void fd_end(void)
{
	int side;

	for (side = 0; side < 2; side++) {
		close(fds[side][0]);
		close(fds[side][1]);
	}
}

/* ---- POSIX shared memory: a ring for each direction, by hand, polled or with futexes ---- */

/*
 * One side writes a half: the items that it sends and their count, and the count of those that it
 * has received. Only with futexes both sides write `bell` and `sleeps`.
 */
struct half {
	_Alignas(4096) uint64_t head;
	_Alignas(64) uint64_t tail;
	_Alignas(64) uint32_t bell[2];	/* of the receiver and the sender of `items` */
	uint32_t sleeps[2];
	_Alignas(64) unsigned char items[SLOTS][4096];
};

static struct half *halves;		/* one of each side */
static int shm_fd;
static bool futexes;

static void shm_make(size_t size)
{
	shm_fd = shm_open("/qv-chanbench", O_RDWR | O_CREAT | O_EXCL, 0600);
	must(shm_fd >= 0 && !ftruncate(shm_fd, 2 * sizeof(struct half)), "shm_open");
	must(size <= sizeof(halves->items[0]), "size");
	shm_unlink("/qv-chanbench");
	futexes = false;
}

static void futex_make(size_t size)
{
	shm_make(size);
	futexes = true;
}

static void *shm_map(void *at, size_t size, int protection, int flags, off_t offset)
{
	void *found = mmap(at, size, protection, MAP_SHARED | flags, shm_fd, offset);

	must(found != MAP_FAILED, "mmap");
	return found;
}

static void shm_join(int side)
{
	(void)side;
	halves = shm_map(NULL, 2 * sizeof(*halves), PROT_READ | PROT_WRITE, 0, 0);
}

/* As an end of a channel: its own half for writing, the rest only for reading */
static void shm_join_read_only(int side)
{
	halves = shm_map(NULL, 2 * sizeof(*halves), PROT_READ, 0, 0);
	shm_map(&halves[side], sizeof(*halves), PROT_READ | PROT_WRITE, MAP_FIXED,
		side * (off_t)sizeof(*halves));
}

static void shm_end(void)
{
	munmap(halves, 2 * sizeof(*halves));
	close(shm_fd);
}

/* Waits while *word is @value. The bell of the one who waits is in @h */
static void shm_wait(struct half *h, const uint64_t *word, uint64_t value, int who)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
		uint32_t bell;

		if (!futexes) {
			_mm_pause();
			continue;
		}
		bell = __atomic_load_n(&h->bell[who], __ATOMIC_ACQUIRE);
		__atomic_store_n(&h->sleeps[who], 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
			syscall(SYS_futex, &h->bell[who], FUTEX_WAIT, bell, NULL, NULL, 0);
		__atomic_store_n(&h->sleeps[who], 0, __ATOMIC_RELAXED);
	}
}

static void shm_wake(struct half *h, int who)
{
	if (!futexes)
		return;
	__atomic_fetch_add(&h->bell[who], 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&h->sleeps[who], __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &h->bell[who], FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void shm_send(int side, const void *data, size_t size)
{
	struct half *own = &halves[side], *other = &halves[!side];

	shm_wait(own, &other->tail, own->head - SLOTS, 1);
	memcpy(own->items[own->head % SLOTS], data, size);
	__atomic_store_n(&own->head, own->head + 1, __ATOMIC_RELEASE);
	shm_wake(own, 0);
}

static void shm_receive(int side, void *data, size_t size)
{
	struct half *own = &halves[side], *other = &halves[!side];

	shm_wait(other, &other->head, own->tail, 0);
	memcpy(data, other->items[own->tail % SLOTS], size);
	__atomic_store_n(&own->tail, own->tail + 1, __ATOMIC_RELEASE);
	shm_wake(other, 1);
}

/* ---- channels in files: a ring for each direction, or one mailbox ---- */

static const char *const paths[] = { "/tmp/qv-chanbench-0", "/tmp/qv-chanbench-1" };
static struct qv_channel *out, *in;
static int timeout;

static void channel_make(uint32_t type, uint32_t flags, size_t size)
{
	const struct qv_chan_page plan = {
		.name = "bench", .type = type, .item = size, .ends = 2, .flags = flags,
		.slots = type == QV_CHAN_RING ? SLOTS : 1,
		.full = type == QV_CHAN_RING ? QV_CHAN_FULL_BLOCK : 0,
	};
	int i;

	for (i = 0; i < 2; i++)
		must(!qv_file_create(paths[i], &plan), "create");
	timeout = flags & QV_CHAN_BELL ? -1 : 0;
}

static void ring_make(size_t size)
{
	channel_make(QV_CHAN_RING, 0, size);
}

static void bell_make(size_t size)
{
	channel_make(QV_CHAN_RING, QV_CHAN_BELL, size);
}

static void one_shot_make(size_t size)
{
	channel_make(QV_CHAN_RING, QV_CHAN_BELL | QV_CHAN_ONE_SHOT, size);
}

static void mailbox_make(size_t size)
{
	channel_make(QV_CHAN_MAILBOX, 0, size);
}

static void ring_join(int side)
{
	const char *to = paths[side == 1], *from = side == BOTH_SIDES ? to : paths[!side];

	must(!qv_file_open(&out, to, 0) && !qv_file_open(&in, from, 1), "open");
}

static void mailbox_join(int side)
{
	must(!qv_file_open(&out, paths[0], (uint32_t)side), "open");
	in = out;
}

/* A time-out of 0: the call does not wait, and this loop polls */
static void channel_send(int side, const void *data, size_t size)
{
	int result;

	(void)side;
	while ((result = qv_write(out, data, size, timeout))) {
		must(result == QV_CHAN_FULL || result == QV_CHAN_ABSENT, "write");
		_mm_pause();
	}
}

static void channel_receive(int side, void *data, size_t size)
{
	int result;

	(void)side;
	while ((result = qv_read(in, data, size, NULL, timeout))) {
		must(result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT, "read");
		_mm_pause();
	}
}

/* As many items at once as there is room for */
static void channel_send_n(int side, const void *data, size_t size, uint64_t n)
{
	int room, i;

	(void)side;
	for (; n; n -= (uint64_t)room) {
		while ((room = qv_claim_n(out, (uint32_t)n, timeout)) < 0) {
			must(room == QV_CHAN_FULL || room == QV_CHAN_ABSENT, "claim_n");
			_mm_pause();
		}
		for (i = 0; i < room; i++)
			memcpy(qv_claimed(out, (uint32_t)i), data, size);
		must(!qv_commit_n(out, (uint32_t)room), "commit_n");
	}
}

static void channel_receive_n(int side, void *data, size_t size, uint64_t n)
{
	int found, i;

	(void)side;
	for (; n; n -= (uint64_t)found) {
		while ((found = qv_peek_n(in, (uint32_t)n, timeout)) < 0) {
			must(found == QV_CHAN_NOTHING || found == QV_CHAN_ABSENT, "peek_n");
			_mm_pause();
		}
		for (i = 0; i < found; i++)
			memcpy(data, qv_peeked(in, (uint32_t)i, NULL), size);
		must(!qv_release_n(in, (uint32_t)found), "release_n");
	}
}

static void channel_end(void)
{
	qv_close(out);
	if (in != out)
		qv_close(in);
	qv_file_remove(paths[0]);
	qv_file_remove(paths[1]);
}

#define SHM	.send = shm_send, .receive = shm_receive, .end = shm_end
#define RING	.join = ring_join, .send = channel_send, .receive = channel_receive, \
		.end = channel_end
#define BATCHES	.send_n = channel_send_n, .receive_n = channel_receive_n
#define FDS	.send = fd_send, .receive = fd_receive, .end = fd_end

const struct way ways[] = {
	{ .name = "pipe", .make = pipe_make, FDS },
	{ .name = "socket", .make = socket_make, FDS },
	{ .name = "shared-memory-futex", .make = futex_make, .join = shm_join, SHM },
	{ .name = "shared-memory-polled", .make = shm_make, .join = shm_join, SHM },
	{ .name = "shared-memory-read-only", .make = shm_make, .join = shm_join_read_only, SHM },
	{ .name = "ring-bell", .make = bell_make, RING },
	{ .name = "ring-one-shot", .make = one_shot_make, RING },
	{ .name = "ring-polled", .make = ring_make, RING },
	{ .name = "batches-bell", .make = bell_make, RING, BATCHES },
	{ .name = "batches-polled", .make = ring_make, RING, BATCHES },
	{ .name = "mailbox-polled", .make = mailbox_make, .join = mailbox_join,
	  .send = channel_send, .receive = channel_receive, .end = channel_end, .in_turn = true },
	{ 0 },
};
