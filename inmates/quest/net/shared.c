// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/bell.h"
#include "../drivers/channel.h"
#include "../drivers/net/nic.h"
#include "share.h"
#include "shared.h"

#define RX		"-rx"
#define TX		"-tx"
#define SUFFIX		3
#define STATE_US	100000		/* the owner says its state so often */
#define SILENCE_US	1000000		/* after that long without an item, the link is down */
#define OWN		SHARE_MAX	/* as a source of frames: the owner's interface */
#define FUNCTION	(SHARE_MAX + 1)

static struct side {
	unsigned int in, out;		/* channels */
	struct share_item head;		/* owner: address and link of the sharer */
	struct share_counts counts;
	uint8_t address[NIC_ADDRESS];
	char name[32];
} sides[SHARE_MAX];			/* a sharer has one: its owner */
static unsigned int num_sides, turn;
static struct nic *nic;			/* of the owner */

static struct share_item item;		/* the copy of the item that was received last */
static uint8_t frame_out[NIC_FRAME_MAX];
static uint64_t said_at, heard_at;	/* TSC */
static bool held;			/* the frame received last is in the ring of the function */

/* Opens channel `name` with `suffix`. Returns its number; -1: it cannot be used. */
static int open(const char *name, const char *suffix)
{
	char full[40];
	size_t length = strlen(name);
	struct qv_end *end;
	int n;

	if (length + SUFFIX >= sizeof(((struct qv_info_channel *)NULL)->name))
		return -1;
	memcpy(full, name, length);
	memcpy(full + length, suffix, SUFFIX + 1);
	n = channel_find(full);
	if (n < 0 || channel_open((unsigned int)n, &end))
		return -1;
	if (share_fits(end))
		return n;
	channel_close((unsigned int)n);
	return -1;
}

/* Returns whether both channels can be used, of which this cell writes that with suffix `out`. */
static bool add(const char *name, const char *in, const char *out)
{
	struct side *s = &sides[num_sides];
	int i = open(name, in), o = open(name, out);

	if (i < 0 || o < 0 || channel_at((unsigned int)i)->end != 1 ||
	    channel_at((unsigned int)o)->end != 0)
		return false;
	*s = (struct side){ .in = (unsigned int)i, .out = (unsigned int)o };
	memcpy(s->name, name, strlen(name));
	bell_set_hook(s->in, nic_poke);
	num_sides++;
	return true;
}

static void put(struct side *s, const volatile uint8_t *frame, size_t length)
{
	if (share_put(channel_end(s->out), &s->head, frame, length, &s->counts))
		(void)channel_try_ring(s->out);	/* refused: the other end looks each millisecond */
}

const char *sharer_start(const char *name)
{
	return add(name, RX, TX) ? NULL :
	       "share: needs rings NAME-rx (to this cell) and NAME-tx of items of 1536 bytes";
}

/* The sharers are the cells at the other ends of rings whose names end with -rx and -tx. */
const char *owner_start(void)
{
	const struct qv_info_channel *c;
	const uint8_t *own;
	char name[sizeof(c->name)];
	size_t length;
	unsigned int n;

	nic = nic_device();
	own = nic->address;
	if (!nic_listens())
		return "share: a virtual function has one address only";
	for (n = 0; (c = channel_nth(n)); n++) {
		memcpy(name, c->name, sizeof(name));
		name[sizeof(name) - 1] = 0;
		length = strlen(name);
		if (length <= SUFFIX || strcmp(name + length - SUFFIX, RX))
			continue;
		name[length - SUFFIX] = 0;
		if (num_sides == SHARE_MAX || !add(name, TX, RX))
			return "a sharer needs rings NAME-rx (from this cell) and NAME-tx of items "
			       "of 1536 bytes";
		share_address(own, num_sides - 1, sides[num_sides - 1].address);
		memcpy(sides[num_sides - 1].head.address, sides[num_sides - 1].address,
		       NIC_ADDRESS);
		nic->driver->listen(nic, num_sides, sides[num_sides - 1].address);
	}
	return num_sides ? NULL : "share needs channels NAME-rx and NAME-tx for each sharer";
}

static void to_function(const volatile uint8_t *frame, size_t length)
{
	volatile uint8_t *room = nic->driver->room(nic);

	if (!room)
		return;
	memcpy((void *)room, (const void *)frame, length);
	nic->driver->send(nic, length);
}

/*
 * Gives a frame from `source` to the cell that has its address, else to the function; a frame for a
 * group goes to all but its source. Returns whether the owner's interface gets it. Copies the
 * address first: the function could change it.
 */
static bool switch_frame(const volatile uint8_t *frame, size_t length, unsigned int source)
{
	uint8_t to[NIC_ADDRESS];
	bool group, known;
	unsigned int i;

	for (i = 0; i < NIC_ADDRESS; i++)
		to[i] = frame[i];
	group = to[0] & 1;
	known = !memcmp(to, nic->address, sizeof(to));
	if (known)
		return source != OWN;
	for (i = 0; i < num_sides; i++) {
		if (i == source || (!group && memcmp(to, sides[i].address, sizeof(to))))
			continue;
		put(&sides[i], frame, length);
		known = true;
	}
	if (source != FUNCTION && (group || !known))
		to_function(frame, length);
	return group && source != OWN;
}

static volatile uint8_t *room(void)
{
	return frame_out;
}

static void nothing(void)
{
}

static void owner_send(size_t length)
{
	(void)switch_frame(frame_out, length, OWN);
}

/* A sharer sends with its own address only. */
static size_t from_sharer(unsigned int n, const volatile uint8_t **frame)
{
	struct side *s = &sides[n];

	if (share_take(channel_end(s->in), &item, &s->counts) != SHARE_TAKEN || !item.length)
		return 0;
	if (memcmp(item.frame + NIC_ADDRESS, s->address, NIC_ADDRESS))
		s->counts.bad++;
	else if (switch_frame(item.frame, item.length, n))
		*frame = item.frame;
	return item.length;
}

/* One of each in turn: no sharer delays the others, or the function, for long. */
static size_t owner_receive(const volatile uint8_t **frame)
{
	const volatile uint8_t *got;
	unsigned int i;
	size_t length;

	*frame = NULL;
	for (i = 0; i <= num_sides; i++) {
		turn = (turn + 1) % (num_sides + 1);
		if (turn < num_sides) {
			length = from_sharer(turn, frame);
		} else {
			length = nic->driver->receive(nic, &got);
			held = length;
			if (length && switch_frame(got, length, FUNCTION))
				*frame = got;
		}
		if (length)
			return length;
	}
	return 0;
}

static void owner_release(void)
{
	if (held)
		nic->driver->release(nic);
	held = false;
}

static bool owner_link(void)
{
	return nic->driver->link(nic);
}

static const uint8_t *owner_address(void)
{
	return nic->address;
}

static void owner_tick(void)
{
	uint64_t now = rdtsc();
	unsigned int i;

	if (now - said_at < timer_from_us(STATE_US))
		return;
	said_at = now;
	for (i = 0; i < num_sides; i++) {
		sides[i].head.link = owner_link();
		put(&sides[i], NULL, 0);
	}
}

static void print_sides(void)
{
	unsigned int i;

	for (i = 0; i < num_sides; i++)
		print("share %s: taken %lu frames, lost %lu, bad %lu; put %lu, not put %lu\n",
		      sides[i].name, sides[i].counts.frames, sides[i].counts.lost,
		      sides[i].counts.bad, sides[i].counts.sent, sides[i].counts.full);
}

const struct port owner_port = {
	.room = room, .send = owner_send, .receive = owner_receive, .release = owner_release,
	.link = owner_link, .address = owner_address, .tick = owner_tick, .print = print_sides,
};

static void sharer_send(size_t length)
{
	put(&sides[0], frame_out, length);
}

/* Takes note of the state that the owner says. */
static size_t sharer_receive(const volatile uint8_t **frame)
{
	struct side *s = &sides[0];

	*frame = NULL;
	if (share_take(channel_end(s->in), &item, &s->counts) != SHARE_TAKEN)
		return 0;
	memcpy(s->address, item.address, NIC_ADDRESS);
	s->head.link = item.link;
	heard_at = rdtsc();
	if (!item.length)
		return sizeof(item);
	*frame = item.frame;
	return item.length;
}

static bool sharer_link(void)
{
	return sides[0].head.link == 1 && rdtsc() - heard_at < timer_from_us(SILENCE_US);
}

static const uint8_t *sharer_address(void)
{
	const volatile uint8_t *frame;

	if (!heard_at)
		(void)sharer_receive(&frame);
	return heard_at ? sides[0].address : NULL;
}

const struct port sharer_port = {
	.room = room, .send = sharer_send, .receive = sharer_receive, .release = nothing,
	.link = sharer_link, .address = sharer_address, .tick = nothing, .print = print_sides,
};
