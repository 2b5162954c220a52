// SPDX-License-Identifier: GPL-2.0-only
/*
 * keys [WAY | answer PEER]: checks that channel_open_key() does what channel.h says. In the fake
 * cell (image/fakekeys.c) the name of the other end says what it does. Elsewhere keys checks that
 * the cell may not open such a channel. With a WAY it makes an access for which it is killed, or
 * waits. `vshm` checks what vshm.h says of channels at run time. With `share NAME NAME create` in
 * one cell, and `share NAME NAME` in the other, each writes a word into the memory of the key 17
 * and awaits that of the other. With `answer` it sends what PEER sends by the key 7 back by the
 * key 8, until that is "end".
 */
#include <channel.h>
#include <quest.h>
#include <stdio.h>
#include <string.h>
#include <vshm.h>
#include "check.h"
#include "window.h"

#define LONG_US		30000000l
#define ITEM		64

static struct quest_key mailbox(uint32_t key, const char *peer)
{
	struct quest_key k = { .key = key, .writes = 1, .type = QV_CHAN_MAILBOX, .item = 32,
			       .flags = QV_CHAN_BELL };

	(void)strncpy(k.peer, peer, sizeof(k.peer));
	return k;
}

static struct quest_key ring(uint32_t key, const char *peer, int writes)
{
	struct quest_key k = { .key = key, .writes = (uint32_t)writes, .type = QV_CHAN_RING,
			       .full = QV_CHAN_FULL_ERROR, .flags = QV_CHAN_BELL, .item = ITEM,
			       .slots = 4 };

	(void)strncpy(k.peer, peer, sizeof(k.peer));
	return k;
}

static void check_refusals(void)
{
	struct quest_key k = mailbox(1, "stranger");

	CHECK(channel_open_key(&k) == -ENOLINK);
	k = mailbox(1, "words");
	CHECK(channel_open_key(&k) == -EEXIST);
	k = mailbox(0, "echo");
	CHECK(channel_open_key(&k) == -EINVAL);
	k = mailbox(1, "fake");			/* the cell itself */
	CHECK(channel_open_key(&k) == -EINVAL);
	k = mailbox(1, "echo");
	k.item = 7;
	CHECK(channel_open_key(&k) == -EINVAL);
	k.item = 3 << 20;
	CHECK(channel_open_key(&k) == -EINVAL);
	k = mailbox(1, "echo");
	k.flags = 1u << 31;
	CHECK(channel_open_key(&k) == -EINVAL);
	(void)memset(k.peer, 'x', sizeof(k.peer));
	CHECK(channel_open_key(&k) == -ENAMETOOLONG);
	CHECK(channel_open_key((const struct quest_key *)8) == -EFAULT);
	CHECK(quest_syscall(49, (long)&k, (long)check_refusals, 0) == -EFAULT);
}

/* The thread blocks until the bell of the other end: without one it would not be woken. */
static void check_mailbox(void)
{
	struct quest_key k = mailbox(1, "echo");
	char to[32] = { 0 };
	int n = channel_open_key(&k);

	CHECK(n >= 0 && channel_end(n) && channel_open_key(&k) == -EBUSY);
	CHECK(channel_wait(n, LONG_US) == 0 && channel_write(n, "question", 9) == 0);
	CHECK(channel_wait(n, LONG_US) == 0);
	CHECK(channel_read(n, to, sizeof(to)) == 9 && !strcmp(to, "question"));
	CHECK(channel_close(n) == 0 && channel_close(n) == -EBADF);
}

static void check_queue(void)
{
	struct quest_key k = ring(2, "echo", 0);
	uint64_t to[ITEM / 8], i;
	int n = channel_open_key(&k);

	CHECK(n >= 0 && channel_write(n, to, ITEM) == -EACCES);
	for (i = 1; i <= 4; i++) {
		CHECK(channel_wait(n, LONG_US) == 0);
		CHECK(channel_read(n, to, ITEM) == ITEM && to[0] == i);
	}
	CHECK(channel_read(n, to, ITEM) == -ENODATA && channel_wait(n, 20000) == -ETIMEDOUT);
	CHECK(channel_close(n) == 0);
}

/* A writer whose other end is absent, without a bell; and more keys than there is memory for */
static void check_limit(void)
{
	struct quest_key a = ring(3, "absent", 1), b = mailbox(4, "absent"), c = mailbox(5, "echo");
	uint64_t item[ITEM / 8] = { 1 };
	int near, far;

	a.flags = 0;
	near = channel_open_key(&a);
	far = channel_open_key(&b);
	CHECK(near >= 0 && far >= 0 && near != far && channel_open_key(&c) == -ENOSPC);
	CHECK(channel_write(near, item, ITEM) == 0 && channel_write(far, "", 0) == -ENOTCONN);
	CHECK(channel_wait(far, 2500) == -ETIMEDOUT);
	CHECK(channel_close(far) == 0);
	far = channel_open_key(&c);
	CHECK(far >= 0 && channel_close(far) == 0 && channel_close(near) == 0);
}

/* The kernel closes what a program leaves open, and gives a child nothing. */
static void check_ends(void)
{
	struct quest_key k = mailbox(6, "echo"), other = mailbox(7, "absent");
	int n = channel_open_key(&k), pid = fork();

	if (!pid)
		_exit(channel_end(n)->window[0]);
	CHECK(status_of(pid) == SIGSEGV);
	pid = fork();
	if (!pid)
		_exit(channel_open_key(&other) >= 0 ? 0 : 1);
	CHECK(status_of(pid) == 0);
	pid = channel_open_key(&other);
	CHECK(pid >= 0 && pid != n);
	/* the program's end closes both */
}

/* A second thread waits, and is woken when its channel is closed. */
static void *wait_for_item(void *arg)
{
	return (void *)(intptr_t)channel_wait(*(int *)arg, -1);
}

static void check_waiting(void)
{
	struct quest_key k = ring(9, "absent", 0);
	int n = channel_open_key(&k);
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, wait_for_item, &n) == 0);
	(void)usleep(5000);
	CHECK(channel_close(n) == 0);
	CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == -EBADF);
}

static int be_killed(const char *way)
{
	struct quest_key k = mailbox(1, !strcmp(way, "slow") ? "slow" : "absent");

	printf("waiting\n");
	return misuse(channel_open_key(&k), way, 1);
}

static int answer(const char *peer)
{
	struct quest_key in = ring(7, peer, 0), out = ring(8, peer, 1);
	int orders = channel_open_key(&in), replies = channel_open_key(&out), n = 0;
	char text[ITEM] = "";

	if (orders < 0 || replies < 0) {
		perror_of("keys", orders < 0 ? orders : replies);
		return 1;
	}
	printf("open\n");
	while (strcmp(text, "end") && !channel_wait(orders, -1)) {
		n = channel_read(orders, text, ITEM);
		if (n == -ECONNRESET)
			continue;
		if (n < 0 || channel_wait(replies, LONG_US) ||
		    channel_write(replies, text, ITEM) < 0)
			break;
	}
	printf("the last order was %s\n", text);
	return 0;
}

static int check_vshm(void)
{
	static const char *const names[] = { "fake", "echo", "absent", "stranger", "words" };
	vshm_circular_buffer_t in;
	uint64_t to[8] = { 0 };
	unsigned int i;
	void *at;

	CHECK(vshm_map(17, 10000, 5, VSHM_CREATE | VSHM_ALL_ACCESS, &at) == -ENODEV);
	vshm_sandboxes(names, 5);
	CHECK(vshm_map(17, 10000, 0, VSHM_CREATE | VSHM_ALL_ACCESS, &at) == -ENODEV);
	CHECK(vshm_map(17, 10000, 1, VSHM_CREATE | VSHM_ALL_ACCESS, &at) == -EINVAL);
	CHECK(vshm_map(17, 10000, 9, VSHM_CREATE | VSHM_ALL_ACCESS, &at) == -ENOLINK);
	CHECK(vshm_map(17, 10000, 17, VSHM_ALL_ACCESS, &at) == -EEXIST);
	CHECK(vshm_map(17, 2 << 20, 5, VSHM_ALL_ACCESS, &at) == -EINVAL);
	CHECK(mk_vshm_circular_buffer(&in, 18, SIZE_MAX, 60, 4, VSHM_CREATE) == -EINVAL &&
	      mk_vshm_circular_buffer(&in, 18, 3, SIZE_MAX, 4, VSHM_CREATE) == -EINVAL);
	/* the end that does not create writes, too */
	CHECK(vshm_map(17, 10001, 5, VSHM_ALL_ACCESS, &at) == 0);
	memset(at, 0x5a, 10001);
	CHECK(((unsigned char *)at)[10000] == 0x5a);
	CHECK(vshm_map(17, 10001, 5, VSHM_ALL_ACCESS, &at) == -EBUSY);
	CHECK(mk_vshm_circular_buffer(&in, 18, 3, 60, 3, VSHM_ALL_ACCESS) == 0);
	CHECK(vshm_circular_buffer_insert(&in, to) == -2);
	for (i = 1; i <= 4; i++) {
		while (vshm_circular_buffer_remove(&in, to) == -1)
			(void)usleep(1000);
		CHECK(to[0] == i);
	}
	CHECK(channel_end(in.channel)->page.slots == 4 && channel_end(in.channel)->page.item == 64);
	CHECK(channel_close(in.channel) == 0);
	CHECK(mk_vshm_circular_buffer(&in, 18, 3, 60, 4, VSHM_CREATE) == 0);
	for (i = 0; vshm_circular_buffer_insert(&in, to) == 0; i++)
		;
	CHECK(i == 4);
	return checked("keys");
}

static int share(char **names, unsigned int flags)
{
	volatile uint64_t *words;
	int mine = !!flags, error;

	vshm_sandboxes((const char *const *)names, 2);
	error = vshm_map(17, 4096, 3, flags | VSHM_ALL_ACCESS, (void **)&words);
	if (error) {
		perror_of("share", error);
		return 1;
	}
	words[mine] = 4711u + (unsigned int)mine;
	while (words[!mine] != 4711u + !mine)
		(void)usleep(10000);
	printf("shared\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct quest_key k = mailbox(1, "echo");
	int n;

	if (argc > 2 && !strcmp(argv[1], "answer"))
		return answer(argv[2]);
	if (argc > 3 && !strcmp(argv[1], "share"))
		return share(argv + 2, argc > 4 ? VSHM_CREATE : 0);
	if (argc > 1 && !strcmp(argv[1], "vshm"))
		return check_vshm();
	if (argc > 1)
		return be_killed(argv[1]);
	n = channel_open_key(&k);
	if (n == -ENOLINK) {
		CHECK(channel_open_key(&k) == -ENOLINK);
		return checked("keys");
	}
	CHECK(n >= 0 && channel_close(n) == 0);
	check_refusals();
	check_mailbox();
	check_queue();
	check_limit();
	check_waiting();
	check_ends();
	return checked("keys");
}
