// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch of a shared network function: each frame reaches the cells that it is for, once and in
 * order, whatever the other cells do: laggards, cells that die, and cells that write anything.
 */
#include <string.h>
#include "../../quest/net/share.h"
#include "../../quest/net/shared.h"
#include "frames.h"
#include "rings.h"
#include "unit.h"
#include "world.h"

#define SHARERS		3
#define OWNER		SHARERS
#define CABLE		(SHARERS + 1)
#define PARTIES		(SHARERS + 2)
#define ROUNDS		20000
#define SETTLE_S	2000		/* longer than all time limits of lwIP */
#define STRANGER	PARTIES		/* as a destination: a machine on the cable */
#define ALL		(PARTIES + 1)
#define GROUP		(PARTIES + 2)
#define DESTINATIONS	(PARTIES + 3)
#define NUMBERED	(NIC_FRAME_MIN + sizeof(uint32_t))

static uint8_t addresses[DESTINATIONS][NIC_ADDRESS] = {
	[CABLE] = { 0x00, 0x1B, 0x21, 1, 2, 3 }, [STRANGER] = { 0x00, 0x1B, 0x21, 1, 2, 4 },
	[ALL] = { 255, 255, 255, 255, 255, 255 }, [GROUP] = { 0x01, 0x00, 0x5E, 0, 0, 1 },
};
static unsigned int to_cell[SHARERS], to_owner[SHARERS];	/* rings */
static struct share_counts counts[SHARERS];
static uint32_t number, newest[PARTIES][PARTIES];	/* by receiver and source */
static uint64_t expected[PARTIES], got[PARTIES];
static bool hostile;		/* sharer 0 is: its frames have any contents, but its own address */
static uint64_t from_hostile;

static void plug(void)
{
	static const char *const rx[] = { "a-rx", "b-rx", "lan-rx" };
	static const char *const tx[] = { "a-tx", "b-tx", "lan-tx" };
	unsigned int i;

	world_plug();
	for (i = 0; i < SHARERS; i++) {
		to_cell[i] = ring_make(rx[i], true, QV_CHAN_DROP_OLDEST);
		to_owner[i] = ring_make(tx[i], false, QV_CHAN_FULL_ERROR);
	}
	CHECK(!owner_start());
	memcpy(addresses[OWNER], owner_port.address(), NIC_ADDRESS);
	for (i = 0; i < SHARERS; i++)
		share_address(addresses[OWNER], i, addresses[i]);
}

/* Contents follow from the number. */
static size_t make(uint8_t *f, unsigned int source, unsigned int to, uint32_t n)
{
	size_t length = NUMBERED + n * 37 % (NIC_FRAME_MAX - NUMBERED + 1), i;

	memcpy(f, addresses[to], NIC_ADDRESS);
	memcpy(f + 6, addresses[source], NIC_ADDRESS);
	f[12] = (uint8_t)source;
	f[13] = (uint8_t)to;
	memcpy(f + NIC_FRAME_MIN, &n, sizeof(n));
	for (i = NUMBERED; i < length; i++)
		f[i] = (uint8_t)(n * 7 + i);
	return length;
}

/* Returns whether a frame from `source` is for `party`. */
static bool is_for(unsigned int party, unsigned int source, unsigned int to)
{
	if (party == source)
		return false;
	if (to >= ALL)
		return true;
	if (to == STRANGER || to == CABLE)
		return party == CABLE;
	/* a frame of a sharer to itself goes to the cable, as those to any unknown address */
	return to == party || (to == source && to < SHARERS && party == CABLE);
}

static void check(unsigned int party, const volatile uint8_t *frame, size_t length)
{
	uint8_t f[FRAME_MAX], want[FRAME_MAX];
	unsigned int source, to;
	uint32_t n;

	CHECK(length >= NIC_FRAME_MIN && length <= NIC_FRAME_MAX);
	memcpy(f, (const void *)frame, length);
	if (hostile && !memcmp(f + 6, addresses[0], NIC_ADDRESS)) {
		from_hostile++;
		return;
	}
	source = f[12];
	to = f[13];
	memcpy(&n, f + NIC_FRAME_MIN, sizeof(n));
	unit_case("frame %u from %u to %u at %u", n, source, to, party);
	if (source >= PARTIES || to >= DESTINATIONS)
		unit_give_up("no such frame was sent");
	CHECK_EQ(length, make(want, source, to, n));
	CHECK(!memcmp(f, want, length));
	CHECK(is_for(party, source, to));
	CHECK(n > newest[party][source]);
	newest[party][source] = n;
	got[party]++;
}

/* Sends a frame from a party. Counts where it must arrive. */
static void send(unsigned int source, unsigned int to)
{
	struct share_item head = { 0 };
	uint8_t f[FRAME_MAX];
	size_t length = make(f, source, to, ++number);
	bool sent = true;
	unsigned int i;

	if (source < SHARERS) {
		sent = share_put(ring_other(to_owner[source]), &head, f, length, &counts[source]);
	} else if (source == OWNER) {
		memcpy((void *)owner_port.room(), f, length);
		owner_port.send(length);
	} else {
		sent = world_receive(f, length);
	}
	for (i = 0; sent && i < PARTIES; i++)
		expected[i] += is_for(i, source, to);
}

/* The owner looks for at most `most` frames, and the cable takes what the function sends. */
static void work(unsigned int most)
{
	const volatile uint8_t *frame;
	uint8_t f[FRAME_MAX];
	size_t length;

	while (most-- && (length = owner_port.receive(&frame))) {
		if (frame)
			check(OWNER, frame, length);
		owner_port.release();
	}
	while ((length = world_sent(f)))
		check(CABLE, f, length);
}

static void take(unsigned int i, unsigned int most)
{
	static struct share_item copy;
	enum share_result result;

	while (most-- && (result = share_take(ring_other(to_cell[i]), &copy, &counts[i]))) {
		CHECK_EQ(result, SHARE_TAKEN);
		CHECK(!memcmp(copy.address, addresses[i], NIC_ADDRESS));
		if (copy.length)
			check(i, copy.frame, copy.length);
	}
}

TEST(switch_brings_each_frame_where_it_belongs_once)
{
	unsigned int i, n, round;

	plug();
	for (round = 0; round < ROUNDS; round++) {
		/* fewer than any ring has room for */
		for (n = 1 + (unsigned int)rnd_below(RING_SLOTS / 2); n; n--)
			send((unsigned int)rnd_below(PARTIES),
			     (unsigned int)rnd_below(DESTINATIONS));
		work(1000);
		for (i = 0; i < SHARERS; i++)
			take(i, 1000);
	}
	for (i = 0; i < PARTIES; i++) {
		unit_case("party %u", i);
		CHECK_EQ(got[i], expected[i]);
		CHECK(got[i] > ROUNDS);
	}
	for (i = 0; i < SHARERS; i++)
		CHECK(!counts[i].lost && !counts[i].bad && !counts[i].full);
}

/* Sharer 0 takes nothing. It loses the oldest of its own frames, and the others none. */
TEST(switch_laggard_loses_its_own_frames_only)
{
	unsigned int i, round;

	plug();
	/* a ring tells its reader of gaps behind the first item that it has read */
	send(CABLE, 0);
	work(1);
	take(0, 1);
	for (round = 0; round < 1000; round++) {
		send(CABLE, 0);
		send(CABLE, ALL);
		send(1, 0);
		send(1, 2);
		work(1000);
		for (i = 1; i < SHARERS; i++)
			take(i, 1000);
	}
	for (i = 1; i < PARTIES; i++)
		CHECK_EQ(got[i], expected[i]);
	take(0, 1000);
	CHECK_EQ(got[0] + counts[0].lost, expected[0]);
	CHECK(got[0] > RING_SLOTS / 2 && got[0] <= RING_SLOTS + 1);
	CHECK(!counts[1].lost && !counts[2].lost);
}

/* A sharer that sends without end delays a frame of another by one of its own. */
TEST(switch_flood_delays_others_by_a_turn)
{
	const volatile uint8_t *frame;
	unsigned int i;

	plug();
	for (i = 0; i < RING_SLOTS; i++)
		send(0, OWNER);
	send(1, OWNER);
	send(CABLE, OWNER);
	for (i = 0; i < SHARERS + 1 && got[OWNER] < 3; i++) {
		check(OWNER, frame, owner_port.receive(&frame));
		owner_port.release();
	}
	CHECK(newest[OWNER][1] && newest[OWNER][CABLE]);
}

TEST(switch_drops_frames_with_another_sender)
{
	struct share_item head = { 0 };
	uint8_t f[FRAME_MAX];
	unsigned int i, to;
	size_t length;

	plug();
	for (to = 0; to < DESTINATIONS; to++) {
		length = make(f, to == 1 ? 2 : 1, to, ++number);
		CHECK(share_put(ring_other(to_owner[0]), &head, f, length, &counts[0]));
		work(10);
	}
	for (i = 0; i < SHARERS; i++)
		take(i, 10);
	for (i = 0; i < PARTIES; i++)
		CHECK_EQ(got[i], 0);
	send(0, ALL);		/* its own address */
	work(10);
	CHECK_EQ(got[OWNER] + got[CABLE], 2);
}

/* Sharer 0 dies and comes back at any moment. The others miss nothing. */
TEST(switch_outlives_cells_that_die)
{
	unsigned int i, round;
	void *room;

	plug();
	for (round = 0; round < ROUNDS; round++) {
		send(CABLE, (unsigned int)rnd_below(SHARERS));
		send(CABLE, ALL);
		send(1, 2);
		send(2, rnd_below(2) ? 0 : OWNER);
		send(0, ALL);
		if (!rnd_below(16))		/* it dies within a write */
			(void)qv_end_claim(ring_other(to_owner[0]), &room);
		if (!rnd_below(16)) {
			ring_die(to_owner[0]);
			ring_die(to_cell[0]);
		}
		work((unsigned int)rnd_below(100));
		if (!rnd_below(8)) {
			ring_restart(to_owner[0]);
			ring_restart(to_cell[0]);
			/* it may get frames again */
			memset(newest[0], 0, sizeof(newest[0]));
			expected[0] = got[0] = 0;
		}
		work(1000);
		for (i = 0; i < SHARERS; i++)
			take(i, 1000);
	}
	/* frames of sharer 0 may have died with it; those of the others have not */
	CHECK(got[1] <= expected[1] && got[2] <= expected[2]);
	ring_restart(to_owner[0]);
	ring_restart(to_cell[0]);
	memset(newest[0], 0, sizeof(newest[0]));
	for (i = 0; i < 2; i++) {	/* one call takes note of the new life */
		work(1000);
		send(CABLE, 0);
		send(0, 1);
		work(1000);
		take(0, 1000);
		take(1, 1000);
	}
	CHECK(newest[0][CABLE] == number - 1 && newest[1][0] == number);
}

static void write_anything(unsigned int ring)
{
	static const uint16_t lengths[] = { 0, 1, 13, 14, 17, 1514, 1515, 1520, 1536, 0x7FFF,
					    0xFFFF };
	struct share_item *item;
	size_t length, at, n;
	uint8_t *section;
	uint64_t value;
	void *room;

	if (ring == to_owner[0] && !rnd_below(2) && !qv_end_claim(ring_other(ring), &room)) {
		item = room;
		(void)make(item->frame, 0, (unsigned int)rnd_below(DESTINATIONS), ++number);
		item->length = lengths[rnd_below(sizeof(lengths) / sizeof(lengths[0]))];
		item->frame[6 + rnd_below(6)] ^= (uint8_t)rnd_below(2);
		(void)qv_end_commit(ring_other(ring), sizeof(*item));
		return;
	}
	section = ring_section(ring, &length);
	for (n = rnd_below(4); n; n--) {
		value = rnd() >> rnd_below(64);
		at = rnd_below((rnd_below(2) ? 512 : length) / 8) * 8;
		memcpy(section + at, &value, sizeof(value));
	}
}

/* Sharer 0 writes anything to its sections. The sanitizers see each access beyond a window. */
TEST(switch_outlives_hostile_cells)
{
	unsigned int round;
	uint64_t seen;

	plug();
	hostile = true;
	for (round = 0; round < ROUNDS; round++) {
		write_anything(rnd_below(2) ? to_owner[0] : to_cell[0]);
		if (!rnd_below(32)) {
			ring_restart(to_owner[0]);
			ring_restart(to_cell[0]);
		}
		seen = got[1];
		send(CABLE, 1);
		send(2, 1);
		send(CABLE, 0);
		work(1000);
		take(1, 1000);
		take(2, 1000);
		CHECK(got[1] >= seen + 2);
	}
	CHECK(!counts[1].bad && !counts[2].bad && from_hostile > 1000);
}

/* ---- a sharer ---- */

static unsigned int from_owner;
static struct share_item said = { .link = 1, .address = { 2, 1, 1, 1, 1, 7 } };

static void plug_sharer(void)
{
	from_owner = ring_make("lan-rx", false, QV_CHAN_DROP_OLDEST);
	(void)ring_make("lan-tx", true, QV_CHAN_FULL_ERROR);
	CHECK(!sharer_start("lan"));
}

TEST(sharer_has_a_link_while_its_owner_speaks)
{
	const volatile uint8_t *frame;
	struct share_counts c = { 0 };

	plug_sharer();
	CHECK(!sharer_port.address() && !sharer_port.link());
	CHECK(share_put(ring_other(from_owner), &said, NULL, 0, &c));
	CHECK(!memcmp(sharer_port.address(), said.address, NIC_ADDRESS) && sharer_port.link());
	world_pass(999000);
	CHECK(sharer_port.link());
	world_pass(2000);
	CHECK(!sharer_port.link());
	said.link = 0;
	CHECK(share_put(ring_other(from_owner), &said, NULL, 0, &c));
	CHECK(sharer_port.receive(&frame) && !frame && !sharer_port.link());
}

/* The owner sends any frames, states and addresses to a sharer whose stack is lwIP. */
TEST(sharer_outlives_a_hostile_owner)
{
	struct share_counts c = { 0 };
	uint8_t f[FRAME_MAX], *section;
	unsigned int round, before;
	uint64_t value;
	size_t length;

	plug_sharer();
	CHECK(share_put(ring_other(from_owner), &said, NULL, 0, &c));
	CHECK(sharer_port.address());
	world_begin_at(&sharer_port, false);
	before = world_allocated();
	for (round = 0; round < ROUNDS; round++) {
		said.link = (uint8_t)rnd_below(3);
		said.address[rnd_below(6)] = (uint8_t)rnd();
		length = frame_hostile(f);
		if (length > NIC_FRAME_MAX)
			length = 0;
		(void)share_put(ring_other(from_owner), &said, f, length, &c);
		if (!rnd_below(8)) {
			section = ring_section(from_owner, &length);
			value = rnd() >> rnd_below(64);
			memcpy(section + rnd_below(length / 8) * 8, &value, sizeof(value));
		}
		if (!rnd_below(64))
			ring_restart(from_owner);
		world_work(rnd_below(4) ? 1000 : 300000);
	}
	for (round = 0; round < SETTLE_S; round++)
		world_work(1000000);
	CHECK_EQ(world_allocated(), before);
}
