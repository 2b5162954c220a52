// SPDX-License-Identifier: GPL-2.0-only
/*
 * chansteps WAY: sends and receives an item of 64 and one of 4096 bytes in one process, one
 * instruction after the other, as a debugger does. Prints for each instruction `SIZE send ADDRESS`
 * or `SIZE receive ADDRESS`. WAY is a name of chanways.c whose ends can be in one process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "chanways.h"

#define WARM	3	/* items before those that are counted */

void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "chansteps: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Stops the process. Its parent knows the address. */
__attribute__((noinline, noclone)) static void mark(void)
{
	__asm__ volatile("int3" ::: "memory");
}

static void pass_items(const struct way *way, size_t size)
{
	static unsigned char data[4096];
	int i;

	way->make(size);
	way->join(BOTH_SIDES);
	for (i = 0; i < WARM; i++) {
		way->send(0, data, size);
		way->receive(1, data, size);
	}
	must(!ptrace(PTRACE_TRACEME, 0, NULL, NULL), "ptrace");
	mark();
	way->send(0, data, size);
	mark();
	way->receive(1, data, size);
	mark();
	way->end();
	_exit(0);
}

static void stopped_by_trap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP,
	     "the process did not stop");
}

/* Prints each instruction from one mark() to the next. */
static void count(pid_t pid, size_t size, const char *what)
{
	struct user_regs_struct regs;

	for (;;) {
		must(!ptrace(PTRACE_GETREGS, pid, NULL, &regs), "registers");
		if (regs.rip == (uintptr_t)mark)
			break;
		printf("%zu %s %#llx\n", size, what, regs.rip);
		must(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "single step");
		stopped_by_trap(pid);
	}
	must(!ptrace(PTRACE_CONT, pid, NULL, NULL), "continue");
	stopped_by_trap(pid);
}

static void step_through(const struct way *way, size_t size)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid)
		pass_items(way, size);
	stopped_by_trap(pid);
	count(pid, size, "send");
	count(pid, size, "receive");
	must(!ptrace(PTRACE_CONT, pid, NULL, NULL), "continue");
	must(waitpid(pid, &status, 0) == pid && !status, "the process");
}

int main(int argc, char **argv)
{
	const struct way *way = ways;

	if (argc != 2)
		return 2;
	while (way->name && strcmp(way->name, argv[1]))
		way++;
	if (!way->name || !way->join || way->in_turn)
		return 2;
	step_through(way, 64);
	step_through(way, 4096);
	return 0;
}
