// SPDX-License-Identifier: GPL-2.0-only
/*
 * chanstream NAME ITEMS [any | sleep]: is the end of Linux in a stream through the channel NAME,
 * without system calls except to ring: see lib/tests/stream.h. `any`: the other end may end before.
 * `sleep`: with nothing to do, it sleeps until a bell, and finds a bell that was lost. Prints
 * `NAME: N items, N lost: REASON`.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/qv_channel.h>
#include "stream.h"

/* Longest sleep. The item of a bell that comes later was found before the bell */
#define PATIENCE_MS	20000

static int file;
static bool sleeps, armed, late;
static struct qv_end end;
static struct stream s;

static bool bell(void)
{
	struct pollfd wait = { .fd = file, .events = POLLIN };

	return poll(&wait, 1, PATIENCE_MS) > 0;
}

/*
 * Arms the bell, so that the caller looks again, and sleeps when the caller has found nothing. No
 * bell rings when the other end attaches.
 */
static void idle(void)
{
	if (!sleeps || !s.done) {
		sched_yield();
	} else if (armed) {
		armed = false;
		late = !bell();
	} else {
		late = false;
		ioctl(file, QV_CHANNEL_ARM);
		qv_end_arm(&end, true);
		armed = true;
	}
}

/* Waits while the bell-rate of the cell is exceeded */
static void ring(void)
{
	if (qv_end_rings(&end))
		ioctl(file, QV_CHANNEL_RING);
	if (late && !bell())
		s.wrong = "a bell was lost";
	late = false;
}

static int die(const char *what)
{
	perror(what);
	return 2;
}

int main(int argc, char **argv)
{
	struct qv_channel_window w = { 0 };
	const struct qv_chan_end *own;
	char path[128];
	unsigned char *at;
	int result;

	if (argc < 3)
		return 2;
	s.idle = idle;
	s.ring = ring;
	s.items = strtoull(argv[2], NULL, 0);
	sleeps = argc > 3 && !strcmp(argv[3], "sleep");
	s.any_end = argc > 3 && !sleeps;
	snprintf(path, sizeof(path), "%s/%s", QV_CHANNEL_FOLDER, argv[1]);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0 || ioctl(file, QV_CHANNEL_WINDOW, &w) || ioctl(file, QV_CHANNEL_CLAIM))
		return die(path);
	at = mmap(NULL, w.length, PROT_READ, MAP_SHARED, file, 0);
	if (at == MAP_FAILED)
		return die("mmap");
	own = &((const struct qv_chan_page *)at)->end[w.end];
	if (mmap(at + own->offset, own->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
		 (off_t)own->offset) == MAP_FAILED)
		return die("mmap of the section");
	result = qv_end_attach(&end, at, w.length, w.end);
	if (result)
		s.wrong = qv_chan_sentence(result);
	else
		stream(&end, &s);
	printf("%s: %" PRIu64 " items, %" PRIu64 " lost: %s\n", argv[1], s.done, s.lost,
	       s.wrong ? s.wrong : s.result ? "the peer ended" : "all is well");
	return s.wrong ? 1 : 0;
}
