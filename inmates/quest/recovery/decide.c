// SPDX-License-Identifier: GPL-2.0-only
#include "decide.h"

static bool allowed(const struct strategy *s, const struct history *h, unsigned int i, uint64_t now)
{
	uint64_t oldest;

	if (!s->times || h->uses[i] < s->times)
		return true;
	oldest = h->at[i][(h->uses[i] - s->times) % STRATEGY_TIMES_MAX];
	return now - oldest >= s->within_us;
}

const struct strategy *decide(const struct component_rule *rule, struct history *history,
			      bool checkpoint, bool other, uint64_t now)
{
	static const struct strategy give_up = { .kind = STRATEGY_GIVE_UP };
	unsigned int i;

	for (i = 0; i < rule->num_strategies; i++) {
		const struct strategy *s = &rule->strategies[i];

		if (s->kind == STRATEGY_ROLLBACK && !checkpoint)
			continue;
		if (s->kind == STRATEGY_TAKEOVER && !other)
			continue;
		if (!allowed(s, history, i, now))
			continue;
		history->at[i][history->uses[i]++ % STRATEGY_TIMES_MAX] = now;
		return s;
	}
	return &give_up;
}

/* A component needs only components before it, so one pass is enough. */
uint32_t decide_affected(const struct component_rule *rules, unsigned int n, unsigned int which)
{
	uint32_t affected = 1u << which;
	unsigned int i;

	for (i = which + 1; i < n; i++)
		if (rules[i].needs & affected)
			affected |= 1u << i;
	return affected;
}
