// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/vcpu/uservcpu.h"
#include "../user/include/quest/errors.h"
#include "cluster.h"
#include "migration.h"

#define CLUSTER_US	5000000		/* a cell that has not answered until then is left out */
#define LOOK_US		5000
/* admission tests for one plan, if none is exact: some 0.1 s */
#define MOST_TESTS	20000
/* an exact test of so many VCPUs, squared, counts twice: its time grows faster than their number */
#define EXACT_SHARE	64

static struct cluster cluster;
/* the cells, programs and VCPUs to which the system refers */
static struct place_cell place_cells[CLUSTER_CELLS];
static struct place_program place_programs[PROCESS_MAX + 1];
static int place_at[PROCESS_MAX + 1];
static struct admission_entry here[2 * SCHED_VCPUS], elsewhere[CLUSTER_CELLS][LOAD_VCPUS];

#define MOST_HERE	(sizeof(here) / sizeof(here[0]))

static const char *own_name(void)
{
	const struct mig_link *l = mig_link_at(0);

	return l ? l->stream.end->page.end[l->stream.end->self].name : "this cell";
}

static bool is_listed(const char *name)
{
	unsigned int i;

	for (i = 0; i < cluster.num_cells; i++)
		if (!strcmp(cluster.cells[i].name, name))
			return true;
	return false;
}

/* Waits for the answer of a cell until TSC `until`. */
static void await(struct cluster_cell *cell, uint64_t until)
{
	cell->error = mig_load_get(cell->link, &cell->load);
	while (cell->error == -EAGAIN && rdtsc() < until) {
		thread_sleep_us(LOOK_US);
		cell->error = mig_load_get(cell->link, &cell->load);
	}
	if (cell->error == -EAGAIN)
		cell->error = -ETIMEDOUT;
	else if (!cell->error && cell->load.listed < cell->load.num_vcpus)
		cell->error = -EMSGSIZE;
}

struct cluster *cluster_ask(bool all)
{
	struct cluster *c = &cluster;
	uint64_t until = rdtsc() + timer_from_us(CLUSTER_US);
	unsigned int i;
	int n, link;

	c->cells[CLUSTER_HERE].name = own_name();
	c->cells[CLUSTER_HERE].link = -1;
	c->cells[CLUSTER_HERE].error = 0;
	c->num_cells = 1;
	(void)mig_load_here(&c->cells[CLUSTER_HERE].load, LOAD_VCPUS);
	for (n = 0; all && (link = migration_nth(n)) >= 0; n++) {
		if (is_listed(migration_cell(link)))
			continue;
		c->cells[c->num_cells].name = migration_cell(link);
		c->cells[c->num_cells++].link = link;
		mig_load_ask(link);
	}
	for (i = 1; i < c->num_cells; i++)
		await(&c->cells[i], until);
	return c;
}

static bool contains(const int *list, int pid)
{
	while (list && *list)
		if (*list++ == pid)
			return true;
	return false;
}

/*
 * Copies VCPU `id` to `to`, if it belongs to program `pid`; KERNEL_PID: if it belongs to no
 * program. Returns whether it does.
 */
static bool take_vcpu(int id, int pid, struct admission_entry *to)
{
	bool irqs = irq_save(), takes;
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);

	takes = v && v->params.type != BACKGROUND_VCPU &&
		(pid == KERNEL_PID ? !process_find(v->params.owner) : uservcpu_owned(id, pid));
	if (takes)
		*to = (struct admission_entry){
			v->params.type == IO_VCPU, v->params.budget, v->params.period
		};
	irq_restore(irqs);
	return takes;
}

/*
 * Appends the VCPUs of program `pid` to here[]; KERNEL_PID: those of no program. Interrupts are on
 * between two VCPUs. Programs that create and destroy VCPUs meanwhile, or between two calls, may
 * have more of them than there is room for.
 */
static unsigned int add_vcpus(unsigned int n, int pid)
{
	int id;

	for (id = 0; id < SCHED_VCPUS && n < MOST_HERE; id++)
		n += take_vcpu(id, pid, &here[n]);
	return n;
}

/* Returns the pid of the process in slot `i`, and whether it can move now; 0: no process. */
static int look_at(int i, bool *moves)
{
	bool irqs = irq_save();
	const struct process *p = process_at(i);
	int pid = p ? p->pid : 0;

	*moves = p && p->state == PROCESS_LIVE && !p->ending && !p->wish.link;
	irq_restore(irqs);
	return pid;
}

/*
 * Adds the programs of this cell, one after the other, with interrupts on: changes meanwhile are
 * found when a program is to move. Returns the number of programs.
 */
static unsigned int add_programs(struct cluster *c, const int *stay)
{
	struct place_cell *cell = &place_cells[CLUSTER_HERE];
	unsigned int from, to, n = 0;
	bool moves;
	int i, pid;

	cell->own = here;
	cell->num_own = from = add_vcpus(0, KERNEL_PID);
	for (i = 0; i < PROCESS_MAX; i++) {
		pid = look_at(i, &moves);
		if (!pid)
			continue;
		to = add_vcpus(from, pid);
		c->pids[n] = pid;
		place_at[n] = CLUSTER_HERE;
		/* a program without VCPUs takes no room */
		place_programs[n++] = (struct place_program){
			.vcpus = &here[from], .num_vcpus = to - from, .near = PLACE_NOWHERE,
			.stays = !moves || to == from || contains(stay, pid),
		};
		from = to;
	}
	return n;
}

static void add_cell(struct cluster *c, unsigned int number)
{
	const struct mig_load *load = &c->cells[number].load;
	struct place_system *s = &c->system;
	struct place_cell *cell = &place_cells[s->num_cells];
	uint32_t i;

	for (i = 0; i < load->listed; i++)
		elsewhere[number][i] = (struct admission_entry){
			load->vcpus[i].io, load->vcpus[i].budget, load->vcpus[i].period
		};
	*cell = (struct place_cell){
		.own = elsewhere[number], .num_own = load->listed, .test = load->test
	};
	place_cells[CLUSTER_HERE].links |= 1ull << s->num_cells;
	c->of[s->num_cells++] = number;
}

/*
 * Returns the number of tests after which a plan is given up. Another cell chooses how long the
 * tests of its VCPUs take.
 */
static unsigned int most_tests(const struct cluster *c)
{
	unsigned int i, n, most = 0;

	for (i = 0; i < c->num_cells; i++) {
		n = c->cells[i].load.num_vcpus;
		if (!c->cells[i].error && c->cells[i].load.test == ADMISSION_EXACT && n > most)
			most = n;
	}
	return MOST_TESTS / (1 + most * most / EXACT_SHARE);
}

void cluster_update(struct cluster *c, const struct admission_entry *more, const int *stay)
{
	struct place_system *s = &c->system;
	unsigned int i;

	s->cells = place_cells;
	s->programs = place_programs;
	s->at = place_at;
	s->tests = 0;
	s->most_tests = most_tests(c);
	place_cells[CLUSTER_HERE] = (struct place_cell){ .test = c->cells[CLUSTER_HERE].load.test };
	s->num_programs = add_programs(c, stay);
	s->num_cells = 1;
	c->of[0] = CLUSTER_HERE;
	for (i = 1; i < c->num_cells; i++)
		if (!c->cells[i].error)
			add_cell(c, i);
	if (!more)
		return;
	c->pids[s->num_programs] = 0;
	place_at[s->num_programs] = PLACE_NOWHERE;
	place_programs[s->num_programs++] = (struct place_program){
		.vcpus = more, .num_vcpus = 1, .near = CLUSTER_HERE
	};
}
