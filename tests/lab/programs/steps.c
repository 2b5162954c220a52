// SPDX-License-Identifier: GPL-2.0-only
/* Single-steps over CPUID as a debugger does. Prints the offset of RIP after each instruction. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

void stepped(void);
extern const char begin[], end[];

asm("stepped: push %rbx\n"
    "begin: xor %eax, %eax\n"
    "	cpuid\n"		/* CPUID is at offset 2 and 2 bytes long */
    "	nop\n"
    "	nop\n"
    "	pop %rbx\n"
    "end: ret\n");

static long trace(int what, pid_t pid, void *data)
{
	long result = ptrace(what, pid, NULL, data);

	if (result)
		perror("ptrace");
	return result;
}

int main(void)
{
	struct user_regs_struct regs = { 0 };
	pid_t pid = fork();
	int status, steps;

	if (!pid) {
		if (trace(PTRACE_TRACEME, 0, NULL) || raise(SIGSTOP))
			return 1;
		stepped();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	for (steps = 0; steps < 10000 && WIFSTOPPED(status) && regs.rip != (unsigned long)end;
	     steps++) {
		if (trace(PTRACE_SINGLESTEP, pid, NULL) || waitpid(pid, &status, 0) != pid ||
		    trace(PTRACE_GETREGS, pid, &regs))
			break;
		if (regs.rip >= (unsigned long)begin && regs.rip <= (unsigned long)end)
			printf("%lu ", (unsigned long)regs.rip - (unsigned long)begin);
	}
	printf("\n");
	kill(pid, SIGKILL);
	return regs.rip != (unsigned long)end;
}
