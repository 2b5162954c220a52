// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a program that waits for the other end of a channel learns that it restarted. If it does
 * not, the first end of a mailbox waits for the answer to a question that is lost.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <qv/libqv.h>
#include "../../../lib/linux/manage.h"
#include "restarting.h"
#include "unit.h"

#define FILLED	4	/* slots of a ring */

static struct qv_chan_page plan;
static char path[200];
static void *window;
static struct qv_end peer;
static unsigned char item[RESTARTING_ITEM];

/* The result of a wait at an end of a channel, with `reconnect: auto` and `never` */
struct wish {
	uint32_t type, end;
	enum restarting reconnects, never;
};

static void begin(const struct wish *w, bool reconnects)
{
	int file;

	plan = (struct qv_chan_page){
		.type = w->type, .item = RESTARTING_ITEM, .ends = 2, .name = "questions",
		.slots = w->type == QV_CHAN_RING ? FILLED : 1,
		.full = w->type == QV_CHAN_RING ? QV_CHAN_FULL_BLOCK : 0,
		.flags = QV_CHAN_BELL | (reconnects ? QV_CHAN_RECONNECT : 0),
	};
	snprintf(path, sizeof(path), "%s/restarting.%d", out_folder(), getpid());
	CHECK(!qv_file_create(path, &plan) && !qv_chan_lay_out(&plan));
	file = open(path, O_RDWR);
	window = mmap(NULL, plan.length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	CHECK(window != MAP_FAILED);
	CHECK_EQ(qv_end_attach(&peer, window, plan.length, !w->end), 0);
}

static bool peer_reads(void)
{
	struct qv_item about;

	return !qv_end_read(&peer, item, sizeof(item), &about);
}

static bool peer_writes(void)
{
	return !qv_end_write(&peer, item, sizeof(item));
}

/* An item has gone, so both ends know each other, and now the program has to wait. */
static void talk(const struct restarting_library *l, const struct wish *w)
{
	int n;

	if (w->end)
		CHECK(peer_writes() && l->read());
	else
		CHECK(l->write() && peer_reads());
	if (w->end && w->type == QV_CHAN_MAILBOX)
		CHECK(l->write() && peer_reads());
	for (n = 0; w->type == QV_CHAN_RING && !w->end && n < FILLED; n++)
		CHECK(l->write());
}

static void wait_for_restarted(const struct restarting_library *l, const struct wish *w,
			       bool reconnects)
{
	bool for_room = w->type == QV_CHAN_RING && !w->end;

	unit_case("%s, type %u, end %u, reconnects %d", l->name, w->type, w->end, reconnects);
	begin(w, reconnects);
	CHECK(l->open(path, window, &plan, w->end));
	talk(l, w);
	CHECK_EQ(l->wait(for_room), RESTARTING_WAITS);
	manage_start(window, !w->end);
	CHECK_EQ(l->wait(for_room), reconnects ? w->reconnects : w->never);
	if (reconnects && w->type == QV_CHAN_MAILBOX && !w->end) {
		CHECK_EQ(qv_end_attach(&peer, window, plan.length, 1), 0);
		CHECK(l->write() && peer_reads() && peer_writes() && l->read());
	}
	l->close();
	munmap(window, plan.length);
	qv_file_remove(path);
}

static void all(const struct restarting_library *l, const struct wish *wishes, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		wait_for_restarted(l, &wishes[i], true);
		wait_for_restarted(l, &wishes[i], false);
	}
}

#define ALL(library, wishes)	all(&(library), wishes, sizeof(wishes) / sizeof(*(wishes)))

/* The writer of a ring waits for any reader, whatever life that has. */
static const struct wish each_is_told[] = {
	{ QV_CHAN_MAILBOX, 0, RESTARTING_RESTARTED, RESTARTING_RESTARTED },
	{ QV_CHAN_MAILBOX, 1, RESTARTING_RESTARTED, RESTARTING_RESTARTED },
	{ QV_CHAN_RING, 0, RESTARTING_WAITS, RESTARTING_RESTARTED },
	{ QV_CHAN_RING, 1, RESTARTING_RESTARTED, RESTARTING_RESTARTED },
	{ QV_CHAN_FOUR_SLOT, 1, RESTARTING_RESTARTED, RESTARTING_RESTARTED },
};

/* channel_wait() only reads, and waits for the next life of a writer that owes no answer. */
static const struct wish osek_is_told[] = {
	{ QV_CHAN_MAILBOX, 0, RESTARTING_RESTARTED, RESTARTING_RESTARTED },
	{ QV_CHAN_MAILBOX, 1, RESTARTING_WAITS, RESTARTING_RESTARTED },
	{ QV_CHAN_RING, 1, RESTARTING_WAITS, RESTARTING_RESTARTED },
	{ QV_CHAN_FOUR_SLOT, 1, RESTARTING_WAITS, RESTARTING_RESTARTED },
};

TEST(wait_for_an_end_that_restarted)
{
	ALL(restarting_quest, each_is_told);
	ALL(restarting_libqv, each_is_told);
	ALL(restarting_osek, osek_is_told);
}
