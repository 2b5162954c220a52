// SPDX-License-Identifier: GPL-2.0-only
#include "pair.h"

#define ROLE_BITS	8

uint64_t pair_pack(const struct pair_word *w)
{
	return w->epoch << ROLE_BITS | w->role;
}

struct pair_word pair_unpack(uint64_t value)
{
	uint64_t role = value & ((1u << ROLE_BITS) - 1);

	/* the epoch counts, too: if one bit of a role has flipped, a claim must be above it */
	return (struct pair_word){
		.role = role <= PAIR_LOST ? (enum pair_role)role : PAIR_NONE,
		.epoch = value >> ROLE_BITS & PAIR_EPOCH_MAX,
	};
}

/* After the highest epoch comes 0, so that no word is above all claims, even a spoilt one. */
static uint64_t next_epoch(uint64_t epoch)
{
	return (epoch + 1) & PAIR_EPOCH_MAX;
}

/* Whether `a` comes after `b`, by at most half of all epochs. */
static bool is_later(uint64_t a, uint64_t b)
{
	uint64_t after = (a - b) & PAIR_EPOCH_MAX;

	return after && after <= PAIR_EPOCH_MAX / 2;
}

static bool has_taken(const struct pair_other *o)
{
	return o->word.role == PAIR_HAS || o->word.role == PAIR_CLAIMS;
}

/* The other cell has the component, or is about to have it. */
static bool holds(const struct pair_other *o)
{
	return o->runs && has_taken(o);
}

bool pair_is_over(const struct pair_word *own, const struct pair_other *o)
{
	/* also if it no longer runs: this cell's program does not know its saves */
	return has_taken(o) && is_later(o->word.epoch, own->epoch);
}

static enum pair_act become(struct pair *p, enum pair_role role, enum pair_act act)
{
	p->own.role = role;
	return act;
}

static enum pair_act claim(struct pair *p, const struct pair_other *o)
{
	p->own.epoch = next_epoch(p->own.epoch);
	if (!is_later(p->own.epoch, o->word.epoch))
		p->own.epoch = next_epoch(o->word.epoch);
	return become(p, PAIR_CLAIMS, PAIR_STAY);
}

static enum pair_act wait_for_it(struct pair *p, const struct pair_other *o)
{
	bool had = o->word.role >= PAIR_CLAIMS;

	if (o->runs && had)
		p->seen = true;
	if (holds(o))
		return o->fresh ? PAIR_STAY : claim(p, o);
	if (p->first)
		return claim(p, o);
	/* the first cell takes it itself when it comes, so wait if it has not come yet */
	if (o->runs && o->fresh && o->word.role == PAIR_WAITS)
		return PAIR_STAY;
	return p->seen || (o->ended && had) ? claim(p, o) : PAIR_STAY;
}

/* If both claim, the first cell waits until the other one has taken the component or waits. */
static enum pair_act look_again(struct pair *p, const struct pair_other *o)
{
	bool later = is_later(p->own.epoch, o->word.epoch);

	if (!holds(o))
		return become(p, PAIR_HAS, PAIR_START);
	if (!o->fresh)
		return later ? become(p, PAIR_HAS, PAIR_START) : claim(p, o);
	if (o->word.role == PAIR_CLAIMS)
		return p->first ? PAIR_STAY : become(p, PAIR_WAITS, PAIR_STAY);
	/* its next look ends what it has, if its epoch is the lower one */
	return later ? PAIR_STAY : become(p, PAIR_WAITS, PAIR_STAY);
}

static enum pair_act keep(struct pair *p, const struct pair_other *o)
{
	bool same = holds(o) && o->word.role == PAIR_HAS && o->word.epoch == p->own.epoch;

	if (!pair_is_over(&p->own, o) && (!same || p->first))
		return PAIR_STAY;
	p->seen = true;
	return become(p, PAIR_WAITS, PAIR_STOP);
}

static enum pair_act offer(struct pair *p, const struct pair_other *o)
{
	if (pair_is_over(&p->own, o)) {
		p->seen = true;
		return become(p, PAIR_WAITS, PAIR_STAY);
	}
	/* the other cell has taken it since, and offers it in its turn */
	if (o->word.role == PAIR_OFFERS && !is_later(p->own.epoch, o->word.epoch))
		return claim(p, o);
	return o->runs && o->fresh && o->word.role >= PAIR_WAITS && o->word.role < PAIR_LOST ?
	       PAIR_STAY : claim(p, o);
}

enum pair_act pair_step(struct pair *p, const struct pair_other *o)
{
	switch (p->own.role) {
	case PAIR_WAITS:
		return wait_for_it(p, o);
	case PAIR_CLAIMS:
		return look_again(p, o);
	case PAIR_HAS:
		return keep(p, o);
	case PAIR_OFFERS:
		return offer(p, o);
	default:
		return PAIR_STAY;
	}
}
