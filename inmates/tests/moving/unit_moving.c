// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that move, end, and are moved by several threads at the same time, in the world of
 * world.h: with each seed, others run at other moments.
 */
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../quest/kernel/dispatch.h"
#include "../../quest/kernel/process/children.h"
#include "../../quest/kernel/process/exit.h"
#include "../../quest/kernel/process/move.h"
#include "../../quest/kernel/process/park.h"
#include "../../quest/kernel/process/userthread.h"
#include "../../quest/kernel/syscall.h"
#include "../../quest/kernel/threadslot.h"
#include "../../quest/kernel/vcpu/bind.h"
#include "../../quest/kernel/vcpu/vcpu.h"
#include "../../quest/user/include/quest/errors.h"
#include "unit.h"
#include "world.h"

#define SEEDS		300

static int pid, turns;
static bool stuck;
static struct wait_queue gate;

static void rest(void)
{
	thread_sleep_us(1 + world_below(100));
}

/* ---- several threads move one program ---- */

static void wait_or_end(void)
{
	struct process *p = process_current();

	switch (world_below(8)) {
	case 0:
		process_end_thread(0);
	case 1:
		process_end(p, 1);
		break;
	case 2:
	case 3:
		(void)wait_on_until(&p->words, rdtsc() + timer_from_us(100));
		break;
	}
}

/* Takes the program off, and puts it back. */
static void mover(void *unused)
{
	struct process *p;
	int i;

	(void)unused;
	for (i = 0; i < turns; i++) {
		if (!move_detach(pid, world_below(2))) {
			p = process_find(pid);
			CHECK(p && p->state == PROCESS_DETACHED && p->image->num_threads);
			rest();
			while (move_attach(pid) == -EAGAIN)
				rest();
		}
		rest();
	}
}

static void run_movers(unsigned int movers, unsigned int num_threads)
{
	unsigned int seed, i;

	for (seed = 1; seed <= SEEDS; seed++) {
		unit_case("seed %u", seed);
		world_begin(seed, wait_or_end);
		turns = 4;
		pid = world_program(NULL, num_threads, -1)->pid;
		for (i = 0; i < movers; i++)
			world_thread(mover);
		world_run();
		CHECK(process_find(pid)->state == PROCESS_ZOMBIE);
		world_check();
	}
}

TEST(last_thread_may_end_while_its_program_is_to_move)
{
	run_movers(1, 1);
	run_movers(1, 3);
}

TEST(several_threads_may_move_a_program)
{
	run_movers(2, 2);
	run_movers(3, 4);
}

/* ---- slots that are kept for the shell ---- */

static void be_stuck(void)
{
	while (stuck && !thread_current()->slot && thread_current()->process->pid == pid)
		wait_on(&gate);
	if (thread_current()->process->pid != pid)
		wait_on(&thread_current()->process->words);
	else if (stuck)
		rest();
	else
		process_end(process_current(), 0);
}

static void move_in_vain(void *unused)
{
	(void)unused;
	while (!gate.head)
		thread_sleep_us(1000);
	CHECK(move_detach(pid, true) == -ETIMEDOUT);
	stuck = false;
	wake_all(&gate);
}

/* Other programs take the slots of the threads that have left, and end only later. */
static void crowd(void *unused)
{
	const struct process *p = process_find(pid);
	struct process *others[PROCESS_MAX];
	unsigned int n = 0;

	(void)unused;
	while (!p->image || p->image->num_threads < p->num_threads - 1)
		thread_sleep_us(1000);
	while (n < PROCESS_MAX && (others[n] = world_program(NULL, STACKS_MAX, BEST_EFFORT_VCPU)))
		n++;
	CHECK(!threadslots_free(SHELL_THREADS));
	while (p->leaving)
		thread_sleep_us(1000000);
	thread_sleep_us(1000000);
	while (n)
		process_end(others[--n], 0);
}

TEST(move_that_is_cancelled_leaves_the_kept_slots)
{
	unsigned int seed;

	for (seed = 1; seed <= SEEDS / 10; seed++) {
		unit_case("seed %u", seed);
		world_begin(seed, be_stuck);
		world_sleep_in_order();
		stuck = true;
		/* the threads that leave would fit into the kept slots */
		pid = world_program(NULL, SHELL_THREADS, -1)->pid;
		world_thread(move_in_vain);
		world_thread(crowd);
		world_run();
		world_check();
	}
}

/* Others take all slots and pages while a program is away. Still it comes back. */
static void come_back_when_full(void *unused)
{
	struct process *others[PROCESS_MAX];
	unsigned int n = 0;

	(void)unused;
	CHECK(!move_detach(pid, true));
	while (n < PROCESS_MAX && (others[n] = world_program(NULL, STACKS_MAX, BEST_EFFORT_VCPU)))
		n++;
	CHECK(!threadslots_free(SHELL_THREADS));
	world_unkept = world_kept_more;
	CHECK_EQ(move_attach(pid), 0);
	CHECK(!world_kept_more);
	process_end(process_find(pid), 0);
	while (n)
		process_end(others[--n], 0);
}

TEST(program_that_cannot_move_has_its_slots_still)
{
	world_begin(1, rest);
	pid = world_program(NULL, STACKS_MAX, -1)->pid;
	world_thread(come_back_when_full);
	world_run();
	world_check();
}

/* ---- no long time without interrupts ---- */

/* bytes: a system call is to keep interrupts off for 20 us at most (test_worst_calls.py) */
#define WRITTEN_MAX	(2 * PAGE_SIZE)

static void move_once(void *unused)
{
	(void)unused;
	world_written = 0;
	CHECK(!move_detach(pid, true));
	world_burst = 0;
	CHECK(!move_attach(pid) && world_burst == 1);
	CHECK(!move_detach(pid, false));
	world_burst = 0;
	world_unkept = 5 * MOVE_THREAD_PAGES - 1;
	CHECK(!move_attach(pid) && world_burst == 1 && world_written <= WRITTEN_MAX);
	process_end(process_find(pid), 0);
}

TEST(move_lets_others_run_between_its_steps)
{
	world_begin(1, rest);
	pid = world_program(NULL, STACKS_MAX, -1)->pid;
	world_thread(move_once);
	world_run();
	world_check();
}

/* ---- VCPUs of a parent ---- */

static int parent, shared_vcpu;

/* Another thread of the program may wait for a lock of this one (lock.h). */
static void inherit(void)
{
	struct thread *by_slot[STACKS_MAX], *other;

	threadslots_collect(process_current(), by_slot);
	other = by_slot[!thread_current()->slot];
	if (other)
		(void)vcpu_bind(thread_current(), other->own_vcpu);
}

/* A child binds itself to the VCPU of its parent, and the parent ends. */
static void bind_or_end(void)
{
	struct process *p = process_current();

	if (p->pid == parent && !world_below(4))
		process_end(p, 0);
	else if (p->pid != parent && uservcpu_usable(shared_vcpu, p->pid))
		(void)uservcpu_bind(thread_current(), shared_vcpu);
	if (world_below(2))
		inherit();
	if (p->pid != parent && !process_find(parent))
		process_end(p, 0);
	(void)wait_on_until(&p->words, rdtsc() + timer_from_us(10));
}

TEST(no_child_keeps_a_vcpu_of_a_parent_that_ended)
{
	unsigned int seed, i;
	struct process *p;

	for (seed = 1; seed <= SEEDS; seed++) {
		unit_case("seed %u", seed);
		world_begin(seed, bind_or_end);
		p = world_program(NULL, 2, -1);
		p->parent = ORPHAN;
		parent = p->pid;
		shared_vcpu = p->vcpu;
		for (i = 0; i < 3; i++)
			(void)world_program(p, 2, world_below(2) ? shared_vcpu : BEST_EFFORT_VCPU);
		world_run();
		world_check();
	}
}

/* When a detached program comes back, another program may have the VCPU with that id. */
static void come_back(void *unused)
{
	const struct process *p = process_find(pid);
	struct process *other;

	(void)unused;
	CHECK_EQ(p->vcpu, shared_vcpu);
	while (move_detach(pid, true))
		rest();
	process_end(process_find(parent), 0);
	while (process_find(parent))
		world_yield();
	other = world_program(NULL, 1, -1);
	CHECK(other->vcpu == shared_vcpu);
	CHECK(!move_attach(pid) && p->vcpu == BEST_EFFORT_VCPU);
	process_end(process_find(pid), 0);
	process_end(other, 0);
}

TEST(program_comes_back_to_a_vcpu_that_it_may_use)
{
	struct process *p;

	world_begin(1, rest);
	p = world_program(NULL, 1, -1);
	p->parent = ORPHAN;
	parent = p->pid;
	shared_vcpu = p->vcpu;
	pid = world_program(p, 2, shared_vcpu)->pid;
	world_thread(come_back);
	world_run();
	world_check();
}

/* ---- sched_setparam() with affinity ---- */

static int answer;

/* The parent asks that its child moves. The child ends, and another program gets its slot. */
static void ask_or_end(void)
{
	struct sched_param param = { .type = MAIN_VCPU, .C = 1, .T = 50, .affinity = 1 };
	struct call c = {
		.process = process_current(), .arg = { (uint64_t)pid, (uintptr_t)&param }
	};
	int status;

	if (process_current()->pid == pid) {
		if (world_below(2))
			process_end(process_current(), 0);
	} else if (process_current()->pid == parent) {
		if (!process_find(pid)) {
			process_end(process_current(), 0);
		} else if (thread_current()->slot) {
			(void)process_wait(parent, pid, true, &status);
			if (!process_find(pid))
				(void)world_program(process_current(), 1, BEST_EFFORT_VCPU);
		} else {
			world_wished = 0;
			answer = (int)sys_sched_setparam(&c);
			CHECK(answer ? !world_wished : world_wished == pid);
		}
	} else if (!process_find(parent)) {
		process_end(process_current(), 0);
	}
}

TEST(affinity_moves_only_the_program_that_was_named)
{
	unsigned int seed;
	struct process *p;

	for (seed = 1; seed <= SEEDS; seed++) {
		unit_case("seed %u", seed);
		world_begin(seed, ask_or_end);
		p = world_program(NULL, 2, BEST_EFFORT_VCPU);
		p->parent = ORPHAN;
		parent = p->pid;
		p = world_program(p, 1, -1);
		pid = p->pid;
		/* the parent may change the VCPU only if it owns it */
		uservcpu_give(p->vcpu, parent);
		world_run();
		world_check();
	}
}
