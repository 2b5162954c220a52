// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "../quest/kernel/gate.h"
#include "unit.h"

/* A source is masked alone: other sources of any class may still fire. */
TEST(gate_masks_one)
{
	struct gate g = { 0 };
	struct gate_source high = { GATE_EDGE, .vector = 0xE0 };
	struct gate_source low = { GATE_LEVEL, .vector = 0x20 };

	CHECK(gate_fire(&g, &high) && high.held && gate_priority(&g) == 0);
	CHECK(gate_fire(&g, &low) && low.held && gate_priority(&g) == 0);
	CHECK(gate_begin(&g, &low) == false && low.held);
	CHECK(gate_end(&g, &low) && !low.held && !low.due);
	CHECK(high.due && high.held);
}

/*
 * An edge is lost while the pin is masked. So the pin is not masked while the handler runs, and an
 * edge then is remembered once.
 */
TEST(gate_edge)
{
	struct gate g = { 0 };
	struct gate_source s = { GATE_EDGE, .vector = 0x44 };

	CHECK(gate_fire(&g, &s));
	/* the interrupt was pending when the source was masked */
	CHECK(!gate_fire(&g, &s));
	CHECK(gate_begin(&g, &s) && !s.due && !s.held);
	CHECK(gate_fire(&g, &s) && s.due && s.running);
	CHECK(!gate_fire(&g, &s));
	CHECK(!gate_end(&g, &s) && s.due && s.held);
	CHECK(gate_begin(&g, &s) && !s.due);
	CHECK(!gate_end(&g, &s) && !s.due && !s.held);
}

TEST(gate_level)
{
	struct gate g = { 0 };
	struct gate_source s = { GATE_LEVEL, .vector = 0x44 };

	CHECK(gate_fire(&g, &s));
	CHECK(!gate_begin(&g, &s) && s.held);
	CHECK(gate_end(&g, &s) && !s.held && !s.due);
}

/*
 * A source that cannot be masked may fire again. Only then are its class and lower classes blocked.
 */
TEST(gate_unmasked)
{
	struct gate g = { 0 };
	struct gate_source bell = { GATE_PRIORITY, .vector = 0x21 };
	struct gate_source message = { GATE_PRIORITY, .vector = 0x5F };

	CHECK(!gate_fire(&g, &bell) && gate_priority(&g) == 0);
	CHECK(gate_fire(&g, &bell) && gate_priority(&g) == 2);
	CHECK(!gate_fire(&g, &message) && gate_priority(&g) == 2);
	CHECK(gate_fire(&g, &message) && gate_priority(&g) == 5);
	CHECK(!gate_begin(&g, &message) && gate_priority(&g) == 5);
	CHECK(gate_end(&g, &message) && gate_priority(&g) == 2 && !message.due);
	CHECK(!gate_begin(&g, &bell) && gate_end(&g, &bell) && gate_priority(&g) == 0);
	CHECK(!gate_fire(&g, &bell) && !gate_begin(&g, &bell));
	/* the source fires while its handler runs */
	CHECK(gate_fire(&g, &bell) && bell.due && gate_priority(&g) == 2);
	CHECK(gate_end(&g, &bell) && bell.due && gate_priority(&g) == 0);
}

#define SOURCES	6

struct device {
	struct gate_source s;
	bool pending;			/* the interrupt controller has an interrupt for the CPU */
	bool work;			/* the device has had work since the handler's last check */
	int entered;			/* interrupts since the handler's last start */
};

static bool comes(const struct gate *g, const struct device *d)
{
	if (d->s.hold == GATE_PRIORITY)
		return d->pending && d->s.vector >> 4 > gate_priority(g);
	return d->pending && !d->s.held;
}

static void fire(struct device *d)
{
	d->work = true;
	if (d->s.hold != GATE_EDGE || !d->s.held)
		d->pending = true;
}

static void take(struct gate *g, struct device *d)
{
	CHECK(++d->entered <= 2);
	d->pending = false;
	(void)gate_fire(g, &d->s);
	if (d->s.hold == GATE_LEVEL)
		d->pending = d->work;
}

/* Makes the next step of a handler: begins, does all the work, or ends. */
static void step(struct gate *g, struct device *d)
{
	if (d->s.running) {
		(void)gate_end(g, &d->s);
	} else if (d->s.due) {
		(void)gate_begin(g, &d->s);
		d->entered = 0;
		d->work = false;
		if (d->s.hold == GATE_LEVEL)
			d->pending = false;
	}
}

/*
 * In random runs no work is lost, each run of a handler has few interrupts, and a masked source
 * blocks no other source.
 */
TEST(gate_random)
{
	struct device devices[SOURCES];
	struct gate g = { 0 };
	struct device *d;
	int i, k;

	srand(1);
	memset(devices, 0, sizeof(devices));
	for (k = 0; k < SOURCES; k++)
		devices[k].s = (struct gate_source){
			.hold = k % 3, .vector = (uint8_t)(0x21 + 0x1B * k)
		};
	for (i = 0; i < 300000; i++) {
		d = &devices[rand() % SOURCES];
		switch (rand() % 3) {
		case 0:
			fire(d);
			break;
		case 1:
			if (comes(&g, d))
				take(&g, d);
			break;
		case 2:
			step(&g, d);
		}
		if (gate_priority(&g) == 0)
			CHECK(comes(&g, d) ==
			      (d->pending && (d->s.hold == GATE_PRIORITY || !d->s.held)));
		CHECK(!d->work || d->pending || d->s.due);
	}
	for (i = 0; i < 10 * SOURCES; i++) {
		d = &devices[i % SOURCES];
		if (comes(&g, d))
			take(&g, d);
		step(&g, d);
		step(&g, d);
	}
	for (k = 0; k < SOURCES; k++)
		CHECK(!devices[k].work && !devices[k].s.due && !devices[k].s.held);
	CHECK(gate_priority(&g) == 0);
}
