// SPDX-License-Identifier: GPL-2.0-only
/*
 * chanrace SECONDS NAME...: four threads use the devices of channels in random ways, also while
 * these come and go: descriptors that all threads share, all calls, mappings at any place. Ends
 * with status 1 and a line if a call returns what it never may.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/qv_channel.h>

#define THREADS	4
#define FILES	16
#define PAGE	4096
#define ITEM	65536

static int files[FILES], names;
static char **name;
static time_t end;
static unsigned long done;

static uint32_t rnd(uint32_t *s, uint32_t below)
{
	*s = *s * 1664525 + 1013904223;
	return (*s >> 8) % below;
}

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	exit(1);
}

static int file_of(uint32_t *s)
{
	return __atomic_load_n(&files[rnd(s, FILES)], __ATOMIC_RELAXED);
}

/* The descriptor before may be in use by another thread: the call there ends with EBADF */
static void open_one(uint32_t *s)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR };
	char path[128];
	int *place = &files[rnd(s, FILES)], new, old;

	snprintf(path, sizeof(path), "%s/%s", QV_CHANNEL_FOLDER, name[rnd(s, names)]);
	new = rnd(s, 4) ? open(path, flags[rnd(s, 3)] | O_NONBLOCK | O_CLOEXEC) : -1;
	old = __atomic_exchange_n(place, new, __ATOMIC_ACQ_REL);
	if (old >= 0)
		close(old);
}

/* Looks at a word of a mapping, and writes one if that is allowed */
static void touch(uint32_t *s, unsigned char *at, size_t len, bool writes)
{
	volatile uint64_t *word = (volatile uint64_t *)(at + rnd(s, len / 8) * 8);
	uint64_t seen = *word;

	if (writes)
		*word = rnd(s, 2) ? seen : rnd(s, 1 << 20);
}

static void map(uint32_t *s)
{
	size_t len = PAGE * (1 + rnd(s, 4));
	off_t offset = PAGE * (off_t)rnd(s, 8);
	int shared = rnd(s, 4) ? MAP_SHARED : MAP_PRIVATE, file = file_of(s);
	bool writes = rnd(s, 2);
	unsigned char *at = mmap(NULL, len, writes ? PROT_READ | PROT_WRITE : PROT_READ, shared,
				 file, offset);

	if (at == MAP_FAILED)
		return;
	touch(s, at, len, writes);
	if (writes && !offset)
		wrong("a life page is mapped for writing");
	if (!writes && !mprotect(at, len, PROT_READ | PROT_WRITE))
		wrong("a mapping without a claim becomes writable");
	if (!mprotect(at, len, PROT_READ | PROT_EXEC))
		wrong("a channel becomes executable");
	if (mremap(at, len, 2 * len, 0) != MAP_FAILED)
		wrong("a mapping grows");
	munmap(at, len);
}

static void move(uint32_t *s, bool writes)
{
	unsigned char *item = malloc(ITEM);
	ssize_t n;

	memset(item, rnd(s, 256), ITEM);
	if (writes)
		n = write(file_of(s), item, rnd(s, 2) ? 64 : rnd(s, ITEM));
	else
		n = rnd(s, 2) ? read(file_of(s), item, ITEM) : pread(file_of(s), item, ITEM, 0);
	if (n > ITEM || (n < 0 && (errno == EFAULT || errno == ENOMEM)))
		wrong("a call for an item fails with another error than documented");
	free(item);
}

static void control(uint32_t *s)
{
	static const unsigned int calls[] = {
		QV_CHANNEL_WINDOW, QV_CHANNEL_CLAIM, QV_CHANNEL_RING, QV_CHANNEL_ARM, 0x7165, 0,
		QV_CHANNEL_STATE,
	};
	struct qv_channel_state w;	/* longer than all that they write */
	struct pollfd p = { .fd = file_of(s), .events = POLLIN | POLLOUT };

	if (rnd(s, 3))
		ioctl(file_of(s), calls[rnd(s, 7)], rnd(s, 8) ? (uintptr_t)&w : 8);
	else
		poll(&p, 1, (int)rnd(s, 4));
}

static void *thread(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg, *s = &seed;

	while (time(NULL) < end) {
		switch (rnd(s, 6)) {
		case 0: open_one(s); break;
		case 1: map(s); break;
		case 2: move(s, true); break;
		case 3: move(s, false); break;
		default: control(s);
		}
		__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int i;

	if (argc < 3)
		return 2;
	end = time(NULL) + atoi(argv[1]);
	name = argv + 2;
	names = argc - 2;
	for (i = 0; i < FILES; i++)
		files[i] = -1;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)(i + 1));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu calls\n", done);
	return 0;
}
