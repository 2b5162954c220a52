// SPDX-License-Identifier: GPL-2.0-only
/*
 * All runs of the migration protocol: every order of messages, answers, failures and changes of
 * mind, with a crash of either cell, or a restart of the destination, between any two steps. In
 * none of them does the program run in both cells, and it is lost only together with a cell that
 * had it.
 * Three mutants, each with a fault, show that the search finds such faults.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "../quest/migration/protocol.h"
#include "unit.h"

#define MESSAGES	3		/* of which the last one completes the program */
#define WORLDS		(1 << 18)

enum { NONE, MORE, LAST, ABORT };

/* The state of both cells and of the mailbox. A number for each field, so that worlds compare. */
struct world {
	uint8_t source, destination;	/* the states of protocol.h */
	uint8_t source_lives, destination_lives;
	uint8_t restarted;		/* the destination has begun another life */
	uint8_t ran;			/* the program has run at the destination */
	uint8_t message, answer;	/* in the mailbox; answer: enum mig_event plus 1 */
	uint8_t sent, waits;		/* messages so far; the source waits for an answer */
	uint8_t gave_up;
};

struct rules {
	enum mig_source (*source)(enum mig_source state, enum mig_event event);
	enum mig_destination (*destination)(enum mig_destination state, enum mig_event event);
};

static struct world seen[WORLDS];
static unsigned int num_seen;
static const struct rules *rules;
static unsigned int wrong;		/* number of worlds that must not be */

static void visit(const struct world *w)
{
	unsigned int i;

	for (i = 0; i < num_seen; i++)
		if (!memcmp(&seen[i], w, sizeof(*w)))
			return;
	CHECK(num_seen < WORLDS);
	seen[num_seen++] = *w;
}

static void source_learns(struct world w, enum mig_event event)
{
	w.source = (uint8_t)rules->source(w.source, event);
	w.gave_up |= event == EV_GIVES_UP && w.source == SRC_KEEPS;
	visit(&w);
}

/*
 * A message is for the life of the destination to which the source is bound (channel-format.md):
 * the next life does not see it.
 */
static void write_message(struct world *w, uint8_t message)
{
	w->message = w->restarted ? NONE : message;
	w->waits = true;
	visit(w);
}

static void source_sends(struct world w)
{
	bool last = w.sent++ == MESSAGES - 1;

	if (last)
		w.source = (uint8_t)rules->source(w.source, EV_SENT_ALL);
	write_message(&w, last ? LAST : MORE);
}

static void source_reads(struct world w)
{
	enum mig_event event = (enum mig_event)(w.answer - 1);

	w.answer = NONE;
	w.waits = false;
	source_learns(w, event);
}

static void source_aborts(struct world w)
{
	w.gave_up = false;
	write_message(&w, ABORT);
}

/* Returns whether the source has something to do that it cannot leave. */
static bool source_steps(const struct world *w)
{
	bool must = false;

	if (!w->source_lives)
		return false;
	if (w->source == SRC_SENDS && !w->waits) {
		source_sends(*w);
		must = true;
	}
	if (w->source == SRC_SENDS || w->source == SRC_DOUBTS)
		source_learns(*w, EV_GIVES_UP);
	if (w->waits && w->answer && !w->restarted) {
		source_reads(*w);
		must = true;
	} else if (w->source <= SRC_DOUBTS && (w->restarted || !w->destination_lives)) {
		source_learns(*w, EV_LOST);
		must = true;
	}
	if (w->gave_up && !w->waits && w->destination_lives)
		source_aborts(*w);
	return must;
}

static void destination_learns(struct world w, enum mig_event event)
{
	w.destination = (uint8_t)rules->destination(w.destination, event);
	w.ran |= w.destination == DST_STARTS;
	w.message = NONE;
	if (event != EV_LOST)
		w.answer = (uint8_t)(mig_answer(event) + 1);
	visit(&w);
}

static bool destination_steps(const struct world *w)
{
	if (!w->destination_lives)
		return false;
	if (w->message == ABORT) {
		destination_learns(*w, EV_ABORTS);
	} else if (w->message) {
		destination_learns(*w, w->message == LAST ? EV_TOOK_ALL : EV_TOOK);
		destination_learns(*w, EV_CANNOT);
	} else if (w->source_lives || w->destination != DST_LOADS) {
		return false;
	}
	if (!w->source_lives)
		destination_learns(*w, EV_LOST);
	return true;
}

static void crashes(const struct world *w)
{
	struct world next = *w;

	next.source_lives = false;
	visit(&next);
	next = *w;
	next.destination_lives = false;
	visit(&next);
	if (w->destination_lives || w->restarted)
		return;
	next = *w;
	next.destination_lives = next.restarted = true;
	next.destination = DST_IDLE;
	next.message = next.answer = NONE;
	visit(&next);
}

static bool runs_at_source(const struct world *w)
{
	return w->source_lives && w->source == SRC_KEEPS;
}

static bool runs_at_destination(const struct world *w)
{
	return w->destination_lives && w->destination == DST_STARTS;
}

/* Checks a world. `ends`: nothing more happens in it by itself. */
static bool right(const struct world *w, bool ends)
{
	bool there_died = w->ran && !runs_at_destination(w);

	if (runs_at_source(w) && runs_at_destination(w))
		return false;
	if (w->source_lives && w->source == SRC_GAVE && !w->ran)
		return false;
	if (!ends || !w->source_lives)
		return true;
	return runs_at_source(w) || runs_at_destination(w) || there_died;
}

/* Returns how many worlds are wrong. */
static unsigned int search(const struct rules *r)
{
	struct world begin = { .source_lives = true, .destination_lives = true }, w;
	unsigned int i;
	bool steps;

	rules = r;
	num_seen = wrong = 0;
	visit(&begin);
	for (i = 0; i < num_seen; i++) {
		w = seen[i];
		steps = source_steps(&w);
		steps |= destination_steps(&w);
		wrong += !right(&w, !steps);
		crashes(&w);
	}
	return wrong;
}

/* Mutants. A source that gives up in doubt: the program may run twice. */
static enum mig_source gives_up_late(enum mig_source state, enum mig_event event)
{
	return state == SRC_DOUBTS && event == EV_GIVES_UP ? SRC_KEEPS :
							      mig_source_next(state, event);
}

/* A source that takes the end of the destination for an arrival: the program may be lost. */
static enum mig_source believes(enum mig_source state, enum mig_event event)
{
	return state == SRC_DOUBTS && event == EV_LOST ? SRC_GAVE : mig_source_next(state, event);
}

/* A destination that lets the program run before all of it has come. */
static enum mig_destination hurries(enum mig_destination state, enum mig_event event)
{
	return state == DST_LOADS && event == EV_TOOK ? DST_STARTS :
							 mig_destination_next(state, event);
}

TEST(migration_runs_a_program_exactly_once)
{
	static const struct rules real = { mig_source_next, mig_destination_next };
	static const struct rules mutants[] = {
		{ gives_up_late, mig_destination_next },
		{ believes, mig_destination_next },
		{ mig_source_next, hurries },
	};
	unsigned int i, moved = 0, kept = 0;

	CHECK(!search(&real));
	for (i = 0; i < num_seen; i++) {
		moved += seen[i].source == SRC_GAVE && runs_at_destination(&seen[i]);
		kept += runs_at_source(&seen[i]);
	}
	CHECK(moved && kept && num_seen > 100);
	for (i = 0; i < sizeof(mutants) / sizeof(mutants[0]); i++)
		CHECK(search(&mutants[i]));
}
