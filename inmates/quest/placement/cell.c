// SPDX-License-Identifier: GPL-2.0-only
/* Cells with the programs in them: admission, load, distance. */
#include "placement.h"

/* Adds VCPUs behind the first `n` of the set. Returns their number; above PLACE_VCPUS: no room. */
static unsigned int add(struct place_system *s, unsigned int n, const struct admission_entry *vcpus,
			unsigned int count)
{
	unsigned int i;

	if (n > PLACE_VCPUS || count > PLACE_VCPUS - n)
		return PLACE_VCPUS + 1;
	for (i = 0; i < count; i++)
		s->set[n + i] = vcpus[i];
	return n + count;
}

/* Makes the set that of a cell, with `program`, if it is elsewhere. Returns the number of VCPUs. */
static unsigned int collect(struct place_system *s, unsigned int cell, unsigned int program)
{
	const struct place_cell *c = &s->cells[cell];
	unsigned int i, n = add(s, 0, c->own, c->num_own);

	for (i = 0; i < s->num_programs; i++)
		if (i == program || s->at[i] == (int)cell)
			n = add(s, n, s->programs[i].vcpus, s->programs[i].num_vcpus);
	return n;
}

bool place_given_up(const struct place_system *s)
{
	return s->tests >= s->most_tests;
}

bool place_admits(struct place_system *s, unsigned int cell, unsigned int program)
{
	unsigned int n = collect(s, cell, program);

	s->tests++;
	return n <= PLACE_VCPUS && admission_admits(s->cells[cell].test, s->set, n);
}

uint64_t place_load(struct place_system *s, unsigned int cell, unsigned int program)
{
	unsigned int n = collect(s, cell, program);
	uint64_t load = n > PLACE_VCPUS ? PLACE_OVERLOAD : admission_load(s->set, n);

	return load < PLACE_OVERLOAD ? load : PLACE_OVERLOAD;
}

unsigned int place_distance(const struct place_system *s, unsigned int from, unsigned int to)
{
	uint64_t reached = 1ull << from, next;
	unsigned int steps, i;

	for (steps = 0; steps < s->num_cells; steps++) {
		if (reached & 1ull << to)
			return steps;
		next = reached;
		for (i = 0; i < s->num_cells; i++)
			if (reached & 1ull << i)
				next |= s->cells[i].peers;
		reached = next;
	}
	return PLACE_CELLS;
}

bool place_movable(const struct place_system *s, unsigned int program)
{
	const struct place_program *p = &s->programs[program];

	return s->at[program] != PLACE_NOWHERE && !p->stays && p->near != s->at[program];
}

uint64_t place_candidates(const struct place_system *s, unsigned int program)
{
	uint64_t all = s->num_cells < PLACE_CELLS ? (1ull << s->num_cells) - 1 : UINT64_MAX;
	int at = s->at[program];

	return at == PLACE_NOWHERE ? all : all & s->cells[at].links & ~(1ull << at);
}
