// SPDX-License-Identifier: GPL-2.0-only
/*
 * channels [WAY]: checks that channels do what channel.h and vshm.h say. The cell must have both
 * ends of vshm-1 and -2 (four-slot), 3 and 4 (ring of 4), 5 and 6 (memory), talk and talk-far
 * (mailbox), and ninth and tenth (ring), in that order; else it checks that there are none. With a
 * WAY it makes an access for which it is killed, or keeps a channel open until it is killed.
 */
#include <channel.h>
#include <quest.h>
#include <stdio.h>
#include <string.h>
#include <vshm.h>
#include "check.h"
#include "window.h"

#define LONG_US		10000000l

static void check_refusals(void)
{
	char item[64] = { 0 };
	int n, other;

	CHECK(channel_open("nothing") == -ENODEV && channel_open((const char *)8) == -EFAULT);
	CHECK(channel_open("a-name-that-is-longer-than-any-channel") == -ENAMETOOLONG);
	CHECK(channel_read(0, item, 64) == -EBADF && channel_close(CHANNELS_MAX) == -EBADF &&
	      channel_wait(-1, 0) == -EBADF && !channel_end(3));
	n = channel_open("vshm-1");
	CHECK(n >= 0 && channel_open("vshm-1") == -EBUSY);
	CHECK(channel_read(n, item, 64) == -EACCES && channel_write(n, item, 63) == -EMSGSIZE);
	CHECK(channel_close(n) == 0 && channel_close(n) == -EBADF);
	other = fork();
	if (!other)
		_exit(channel_open("vshm-1") == n ? 0 : 1);
	CHECK(status_of(other) == 0);		/* its end closed the channel */
	CHECK(channel_open("vshm-1") == n && channel_close(n) == 0);
}

static void check_last_value(void)
{
	char to[64] = { 0 }, from[64] = "first";
	int writer = channel_open("vshm-1"), reader = channel_open("vshm-2");
	struct qv_item about;
	uint64_t before;

	(void)channel_read(reader, to, 64);	/* the value of a program that ran before */
	before = channel_end(reader)->last;
	CHECK(channel_read(reader, to, 64) == -ENODATA);
	CHECK(channel_wait(reader, 0) == -ETIMEDOUT && channel_wait(reader, 2500) == -ETIMEDOUT);
	CHECK(channel_wait(writer, -1) == 0 && channel_write(writer, from, 64) == 0);
	from[0] = 'F';
	CHECK(channel_write(writer, from, 64) == 0 && channel_wait(reader, LONG_US) == 0);
	CHECK(channel_read(reader, to, 64) == 64 && !strcmp(to, "First"));
	CHECK(channel_read(reader, to, 64) == -ENODATA &&
	      channel_read(reader, to, 63) == -EMSGSIZE);
	CHECK(qv_end_read_again(channel_end(reader), to, 64, &about) == 0 &&
	      about.number == before + 2);
	CHECK(channel_close(writer) == 0 && channel_close(reader) == 0);
}

/* A reader and a writer that open an end again continue where they were. */
static void check_queue(void)
{
	int writer = channel_open("vshm-3"), reader = channel_open("vshm-4");
	uint64_t i, to;

	for (i = 0; i < 4; i++)
		CHECK(channel_write(writer, &i, sizeof(i)) == 0);
	/* `full: block`: a write that waited would wait for this thread */
	CHECK(channel_end(writer)->page.full == QV_CHAN_FULL_BLOCK);
	CHECK(channel_write(writer, &i, sizeof(i)) == -ENOBUFS);
	CHECK(channel_wait(writer, 2500) == -ETIMEDOUT);
	CHECK(channel_read(reader, &to, sizeof(to)) == 8 && to == 0);
	CHECK(channel_wait(writer, -1) == 0 && channel_close(reader) == 0);
	reader = channel_open("vshm-4");
	CHECK(channel_read(reader, &to, sizeof(to)) == 8 && to == 1);
	CHECK(channel_close(writer) == 0);
	writer = channel_open("vshm-3");
	CHECK(channel_write(writer, &i, sizeof(i)) == 0);
	for (i = 2; i < 5; i++)
		CHECK(channel_read(reader, &to, sizeof(to)) == 8 && to == i);
	CHECK(channel_read(reader, &to, sizeof(to)) == -ENODATA);
	CHECK(channel_close(writer) == 0 && channel_close(reader) == 0);
}

/* An end that wrote what cannot be does not keep the writer waiting for room. */
static void check_corrupt_reader(void)
{
	int writer = channel_open("vshm-3"), reader = channel_open("vshm-4");
	struct qv_end *end = channel_end(reader);
	volatile struct qv_chan_section *own = (void *)(end->window + end->page.end[1].offset);
	uint64_t i, to, count = own->count;

	for (i = 0; i < 4; i++)
		CHECK(channel_write(writer, &i, sizeof(i)) == 0);
	CHECK(channel_wait(writer, 2500) == -ETIMEDOUT);
	own->count = 0xffffffff;
	CHECK(channel_wait(writer, LONG_US) == 0);
	CHECK(channel_write(writer, &i, sizeof(i)) == -EBADMSG);
	own->count = count;
	for (i = 0; i < 4; i++)
		CHECK(channel_read(reader, &to, sizeof(to)) == 8 && to == i);
	CHECK(channel_close(writer) == 0 && channel_close(reader) == 0);
}

/* A cell may have more channels than the library once had room for. */
static void check_many(void)
{
	int writer = channel_open("ninth"), reader = channel_open("tenth");
	uint64_t item = 9, to = 0;

	CHECK(writer == 8 && reader == 9 && channel_end(writer) && channel_end(reader));
	CHECK(channel_write(writer, &item, sizeof(item)) == 0);
	CHECK(channel_read(reader, &to, sizeof(to)) == 8 && to == 9);
	CHECK(channel_close(writer) == 0 && channel_close(reader) == 0);
}

static void check_turns(void)
{
	int near = channel_open("talk"), far = channel_open("talk-far");
	char to[32] = { 0 };

	CHECK(channel_wait(near, -1) == 0 && channel_wait(far, 2500) == -ETIMEDOUT);
	CHECK(channel_write(near, "question", 8) == 0 && channel_wait(far, -1) == 0);
	CHECK(channel_read(far, to, sizeof(to)) == 8 && !memcmp(to, "question", 9));
	CHECK(channel_write(near, "again", 5) == -ENOBUFS && channel_write(far, "", 0) == 0);
	CHECK(channel_read(near, to, sizeof(to)) == 0);
	CHECK(channel_close(near) == 0 && channel_close(far) == 0);
}

/* A second thread waits for an item, and is woken when its channel is closed. */
static void *wait_for_item(void *arg)
{
	return (void *)(intptr_t)channel_wait(*(int *)arg, -1);
}

static void check_waiting(void)
{
	int writer = channel_open("vshm-3"), reader = channel_open("vshm-4");
	uint64_t item = 7;
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, wait_for_item, &reader) == 0);
	(void)usleep(5000);
	CHECK(channel_write(writer, &item, sizeof(item)) == 0);
	CHECK(pthread_join(thread, &result) == 0 && !result);
	CHECK(channel_read(reader, &item, sizeof(item)) == 8 && item == 7);
	CHECK(pthread_create(&thread, NULL, wait_for_item, &reader) == 0);
	(void)usleep(5000);
	CHECK(channel_close(reader) == 0);
	CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == -EBADF);
	CHECK(channel_close(writer) == 0);
}

static void check_vshm(void)
{
	vshm_circular_buffer_t in, out;
	vshm_async_channel_t near, none;
	int i, n, to = -1;

	CHECK(mk_vshm_async_channel(&near, 1, 60, 2, VSHM_CREATE | VSHM_ALL_ACCESS) == 0);
	CHECK(mk_vshm_async_channel(&none, 9, 60, 1, 0) == -ENODEV);
	CHECK(mk_vshm_async_channel(&none, 4, 8, 1, 0) == -EACCES);
	CHECK(mk_vshm_circular_buffer(&in, 3, 5, 8, 2, 0) == -EMSGSIZE);
	CHECK(mk_vshm_circular_buffer(&in, 3, 4, 16, 2, 0) == -EMSGSIZE);
	CHECK(mk_vshm_circular_buffer(&in, 3, 4, sizeof(int), 2, VSHM_ALL_ACCESS) == 0);
	CHECK(mk_vshm_circular_buffer(&out, 4, 4, sizeof(int), 1, VSHM_ALL_ACCESS) == 0);
	CHECK(vshm_circular_buffer_remove(&out, &to) == -1 && to == -1);
	for (i = 0; vshm_circular_buffer_insert(&in, &i) == 0; i++)
		;
	CHECK(i == 4 && vshm_circular_buffer_insert(&in, &i) == -1);
	for (n = 0; vshm_circular_buffer_remove(&out, &to) == 0; n++)
		CHECK(to == n);
	CHECK(n == 4 && vshm_circular_buffer_remove(&in, &to) == -2);
	CHECK(channel_close(in.channel) == 0 && vshm_circular_buffer_insert(&in, &i) == -2);
	CHECK(channel_close(out.channel) == 0 && channel_close(near.channel) == 0);
}

static void check_vshm_values(void)
{
	vshm_async_channel_t near, far;
	char from[64] = "value", to[64];

	CHECK(mk_vshm_async_channel(&near, 1, 64, 2, VSHM_CREATE | VSHM_ALL_ACCESS) == 0);
	CHECK(mk_vshm_async_channel(&far, 2, 64, 1, VSHM_ALL_ACCESS) == 0);
	vshm_async_channel_write(&near, from);
	vshm_async_channel_read(&far, to);
	CHECK(!memcmp(from, to, 64));
	vshm_async_channel_read(&far, to);
	CHECK(!memcmp(from, to, 64));
	CHECK(channel_close(near.channel) == 0 && channel_close(far.channel) == 0);
}

static void check_memory(void)
{
	char *near, *far;

	CHECK(vshm_map(5, (15 << 20) + 1, 2, VSHM_ALL_ACCESS, (void **)&near) == -EMSGSIZE);
	CHECK(vshm_map(5, 10000, 2, VSHM_NO_ACCESS, (void **)&near) == -EINVAL);
	CHECK(vshm_map(5, 10000, 2, VSHM_CREATE | VSHM_ALL_ACCESS, (void **)&near) == 0);
	CHECK(vshm_map(6, 10000, 1, VSHM_ALL_ACCESS, (void **)&far) == -EACCES);
	CHECK(vshm_map(6, 10000, 1, VSHM_READ_ACCESS, (void **)&far) == 0);
	strcpy(near + 9990, "shared");
	CHECK(!strcmp(far + 9990, "shared"));
}

/* A child has no channel of its parent. */
static void check_not_inherited(void)
{
	int n = channel_open("vshm-2"), pid = fork();

	if (!pid)
		_exit(channel_end(n)->window[0]);
	CHECK(status_of(pid) == SIGSEGV && channel_close(n) == 0);
}

/* Writes to memory that this end may only read, reads a closed channel, executes one; or waits. */
static int be_killed(const char *way)
{
	printf("waiting\n");
	return misuse(channel_open(!strcmp(way, "execute") ? "vshm-1" :
				   !strcmp(way, "wait") ? "vshm-4" : "vshm-2"), way, 0);
}

int main(int argc, char **argv)
{
	int n;

	if (argc > 1)
		return be_killed(argv[1]);
	n = channel_open("talk");
	if (n == -ENODEV) {
		CHECK(channel_open("") == -ENODEV);
		return checked("channels");
	}
	CHECK(channel_close(n) == 0);
	check_refusals();
	check_last_value();
	check_queue();
	check_corrupt_reader();
	check_turns();
	check_many();
	check_waiting();
	check_vshm();
	check_vshm_values();
	check_not_inherited();
	check_memory();
	/* the program's end closes what is open */
	return checked("channels");
}
