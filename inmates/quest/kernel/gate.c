// SPDX-License-Identifier: GPL-2.0-only
#include "gate.h"

static unsigned int class_of(const struct gate_source *s)
{
	return s->vector / GATE_CLASSES;
}

bool gate_fire(struct gate *g, struct gate_source *s)
{
	bool first = !s->due && !s->running;

	s->due = true;
	if (s->held || (s->hold == GATE_PRIORITY && first))
		return false;
	s->held = true;
	if (s->hold == GATE_PRIORITY)
		g->shut[class_of(s)]++;
	return true;
}

static bool release(struct gate *g, struct gate_source *s)
{
	if (!s->held)
		return false;
	s->held = false;
	if (s->hold == GATE_PRIORITY)
		g->shut[class_of(s)]--;
	return true;
}

bool gate_begin(struct gate *g, struct gate_source *s)
{
	s->due = false;
	s->running = true;
	return s->hold == GATE_EDGE && release(g, s);
}

bool gate_end(struct gate *g, struct gate_source *s)
{
	s->running = false;
	return s->hold != GATE_EDGE && release(g, s);
}

unsigned int gate_priority(const struct gate *g)
{
	unsigned int class = GATE_CLASSES;

	while (class-- > 1)
		if (g->shut[class])
			return class;
	return 0;
}
