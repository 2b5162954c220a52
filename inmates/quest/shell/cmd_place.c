// SPDX-License-Identifier: GPL-2.0-only
/* Commands over all cells to which programs can move: load, placement, balance. */
#include <inmate/console.h>
#include <inmate/printf.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/vcpu/uservcpu.h"
#include "../migration/cluster.h"
#include "../user/include/quest/errors.h"
#include "shell.h"
#include "stages.h"
#include "words.h"

#define ANYWHERE	"--anywhere"
#define MOVES_MAX	16		/* of one `rebalance` */
#define PER_MILLE(load)	((load) / ((1ull << 62) / 1000))

static void print_vcpu(const char *cell, const struct mig_load_vcpu *v)
{
	uint64_t c = timer_to_us(v->budget), t = timer_to_us(v->period);

	print("%-15s %-15s %-4s %6lu.%03lu %6lu.%03lu %3u.%u\n", cell, v->name,
	      v->io ? "I/O" : "main", c / 1000, c % 1000, t / 1000, t % 1000, v->used / 10,
	      v->used % 10);
}

/* Returns the load of a cell, as its admission test counts it, in 1/1000 of a CPU. */
static uint64_t load_of(const struct mig_load *load)
{
	static struct admission_entry set[LOAD_VCPUS];
	uint32_t i;

	for (i = 0; i < load->listed; i++)
		set[i] = (struct admission_entry){
			load->vcpus[i].io, load->vcpus[i].budget, load->vcpus[i].period
		};
	return PER_MILLE(admission_load(set, load->listed));
}

static void print_cell(const struct cluster_cell *cell)
{
	const struct mig_load *load = &cell->load;
	uint64_t mille;
	uint32_t i;

	if (cell->error && cell->error != -EMSGSIZE) {
		print("%-15s no answer: %s\n", cell->name, strerror(cell->error));
		return;
	}
	mille = load_of(load);
	print("%-15s load %lu.%lu %% of %s, %u VCPUs, %u programs, %lu KiB free\n", cell->name,
	      mille / 10, mille % 10, load->test == ADMISSION_EXACT ? "exact" : "bound",
	      load->num_vcpus, load->programs, load->free >> 10);
	for (i = 0; i < load->listed; i++)
		print_vcpu(cell->name, &load->vcpus[i]);
	if (cell->error)
		print("%-15s and %u more: no program is placed there\n", cell->name,
		      load->num_vcpus - load->listed);
}

int command_top(int argc, char **argv)
{
	const struct cluster *c;
	unsigned int i;

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "all")))
		return SHELL_SHOW_USAGE;
	c = cluster_ask(argc == 2);
	print("CELL            VCPU            TYPE       C ms       T ms UTIL%%\n");
	for (i = 0; i < c->num_cells; i++)
		print_cell(&c->cells[i]);
	return 0;
}

/* Moves a program, and prints why it stays, if it does. Returns as shell_move() does. */
static int move_to(int pid, const struct cluster_cell *to)
{
	int error = shell_move(pid, to->link, false);
	char text[12];

	format_buf(text, sizeof(text), "%d", pid);
	if (error && error != SHELL_BROKEN)
		(void)shell_print_move(text, error);
	return error;
}

/* Prints a move of a plan, and carries it out. Returns as shell_move() does. */
static int carry_out(const struct cluster *c, const struct place_move *m)
{
	const struct cluster_cell *to = &c->cells[c->of[m->to]];

	print("moves [%d] to %s\n", c->pids[m->program], to->name);
	return move_to(c->pids[m->program], to);
}

/*
 * Plans one move at a time, since a cell may refuse, and loads change. A program that a cell
 * refuses stays.
 */
int command_rebalance(int argc, char **argv)
{
	int stay[MOVES_MAX + 1] = { 0 }, stays = 0, tries, error;
	struct place_move move;
	struct cluster *c;

	(void)argv;
	if (argc != 1)
		return SHELL_SHOW_USAGE;
	for (tries = 0; tries < MOVES_MAX; tries++) {
		c = cluster_ask(true);
		cluster_update(c, NULL, stay);
		if (!place_rebalance(&c->system, &move, 1))
			break;
		error = carry_out(c, &move);
		if (error == SHELL_BROKEN)
			return error;
		if (error)
			stay[stays++] = c->pids[move.program];
	}
	print("%s\n", tries < MOVES_MAX ? "no move reduces a load by 1 %" :
					  "and more moves may help: rebalance again");
	return 0;
}

/* Returns the policy of the word --anywhere[=POLICY]; -1 after a message: there is no such one. */
static int policy_of(const char *word)
{
	char names[WORDS_CHOICES];
	int policy;

	while (*word && *word != '=')
		word++;
	if (!*word)
		return PLACE_FIRST;
	policy = words_choice(word + 1, place_policy_name, names);
	if (policy < 0)
		print("%s: there is no such policy (%s)\n", word + 1, names);
	return policy;
}

/*
 * Moves programs away, so that this cell admits the new one. Returns false if that is not possible.
 */
static bool make_room(const struct cluster *c, struct place_system *s, unsigned int program)
{
	struct place_plan plan;
	unsigned int i;

	if (!place_make_room(s, PLACE_FIRST, program, 1ull << CLUSTER_HERE, &plan))
		return false;
	for (i = 0; i < plan.num_moves; i++)
		if (carry_out(c, &plan.moves[i]))
			return false;
	return true;
}

/*
 * Returns the cell of a new program. It starts here, so this cell must admit it first. If it does
 * not, others make room, and the program stays.
 */
static const struct cluster_cell *choose(unsigned int policy, const struct admission_entry *vcpu)
{
	struct cluster *c = cluster_ask(true);
	struct place_system *s = &c->system;
	unsigned int program;
	int to = CLUSTER_HERE;

	cluster_update(c, vcpu, NULL);
	program = s->num_programs - 1;
	if (place_admits(s, CLUSTER_HERE, program))
		to = place_choose(s, policy, program, UINT64_MAX);
	else if (!make_room(c, s, program))
		print("this cell has no room for %d/%d ms, and no two moves make it\n", COMMAND_C,
		      COMMAND_T);
	return &c->cells[c->of[to]];
}

static int run_anywhere(int argc, char **argv)
{
	const struct admission_entry vcpu = {
		false, timer_from_us(COMMAND_C * 1000), timer_from_us(COMMAND_T * 1000)
	};
	struct stage stages[STAGES_MAX];
	const struct cluster_cell *to;
	int policy, pid, error = 0;

	/* before others move for it: a pipe or a program on a VCPU of its cell cannot move */
	if (argc < 2 || stages_vcpu(argv[1]) || stages_split(argc - 1, argv + 1, stages) != 1)
		return SHELL_SHOW_USAGE;
	policy = policy_of(argv[0]);
	if (policy < 0)
		return SHELL_USAGE;
	if (!shell_runs(argv[1])) {
		print("%s: no such program; ls lists them\n", argv[1]);
		return SHELL_NOT_FOUND;
	}
	to = choose((unsigned int)policy, &vcpu);
	pid = shell_spawn(argc - 1, argv + 1);
	if (!pid)
		return SHELL_CANNOT_RUN;
	if (to->link >= 0)
		error = move_to(pid, to);
	print("[%d] runs in %s\n", pid, error ? "this cell" : to->name);
	return error < 0 ? SHELL_FAILED : error;
}

/* Returns whether `word` is --anywhere or --anywhere=POLICY. */
static bool is_anywhere(const char *word)
{
	size_t i = 0;

	while (ANYWHERE[i] && word[i] == ANYWHERE[i])
		i++;
	return !ANYWHERE[i] && (!word[i] || word[i] == '=');
}

int command_run(int argc, char **argv)
{
	if (argc < 2)
		return SHELL_SHOW_USAGE;
	return is_anywhere(argv[1]) ? run_anywhere(argc - 1, argv + 1) :
				      shell_run(argc - 1, argv + 1);
}
