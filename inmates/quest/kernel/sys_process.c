// SPDX-License-Identifier: GPL-2.0-only
/* System calls: processes and threads. */
#include <inmate/string.h>
#include "../mm/usercopy.h"
#include "../user/include/quest/types.h"
#include "dispatch.h"
#include "process/children.h"
#include "process/exit.h"
#include "process/start.h"
#include "process/threads.h"
#include "syscall.h"
#include "vcpu/vcpu.h"

#define STATUS_SHIFT	8
#define SIGNAL_MAX	31

long sys__exit(struct call *c)
{
	process_end(c->process, (int)(c->arg[0] & 0xFF) << STATUS_SHIFT);
	process_end_thread(0);
}

long sys_getpid(struct call *c)
{
	return c->process->pid;
}

long sys_fork(struct call *c)
{
	return process_fork(c->frame, BEST_EFFORT_VCPU);
}

long sys_vcpu_fork(struct call *c)
{
	return process_fork(c->frame, vcpuname_id(c->process, call_int(c, 0)));
}

/* Copies the strings that the NULL-terminated array at `argv` points to. */
static long take_args(const struct space *s, uint64_t argv, struct program_args *args)
{
	uint64_t word;
	int n;

	for (;; argv += sizeof(word)) {
		if (!copy_from_user(s, &word, argv, sizeof(word)))
			return -EFAULT;
		if (!word)
			return 0;
		if (args->count == ARGS_MAX)
			return -E2BIG;
		n = copy_string_from_user(s, args->text + args->bytes, word,
					  ARGS_BYTES - args->bytes);
		if (n < 0)
			return n == -1 ? -EFAULT : -E2BIG;
		args->bytes += (size_t)n + 1;
		args->count++;
		let_interrupts_in();
	}
}

long sys_exec(struct call *c)
{
	struct program_args args = { .count = 0 };
	int n = copy_string_from_user(&c->process->space, args.file, c->arg[0], sizeof(args.file));
	long error;

	if (n < 0)
		return n == -1 ? -EFAULT : -ENAMETOOLONG;
	error = take_args(&c->process->space, c->arg[1], &args);
	return error ? error : process_exec(&args, c->frame);
}

long sys_waitpid(struct call *c)
{
	const struct space *s = &c->process->space;
	int status = 0, pid;

	if (call_int(c, 2) & ~WNOHANG)
		return -EINVAL;
	/*
	 * Check the address before the child is freed. The status is written only if a child has
	 * ended.
	 */
	if (c->arg[1] && !user_writable(s, c->arg[1], sizeof(status)))
		return -EFAULT;
	pid = process_wait(c->process->pid, call_int(c, 0), call_int(c, 2) & WNOHANG, &status);
	if (pid > 0 && c->arg[1])
		/* fails only if another thread of the program has unmapped the address */
		(void)copy_to_user(s, c->arg[1], &status, sizeof(status));
	return pid;
}

long sys_kill(struct call *c)
{
	struct process *p = process_find(call_int(c, 0));
	int signal = call_int(c, 1);

	if (signal < 0 || signal > SIGNAL_MAX)
		return -EINVAL;
	if (!p || p->state == PROCESS_STARTING)
		return -ESRCH;
	if (p != c->process && p->parent != c->process->pid)
		return -EPERM;
	if (signal)
		process_end(p, signal);
	return 0;
}

long sys_thread_create(struct call *c)
{
	return process_add_thread(c->arg[0], c->arg[1], c->arg[2]);
}

long sys_pthread_exit(struct call *c)
{
	process_end_thread(c->arg[0]);
}

long sys_thread_join(struct call *c)
{
	uint64_t result = 0;
	long error;

	if (c->arg[1] && !user_writable(&c->process->space, c->arg[1], sizeof(result)))
		return -EFAULT;
	error = process_join((unsigned int)call_int(c, 0), &result);
	if (!error && c->arg[1])
		(void)copy_to_user(&c->process->space, c->arg[1], &result, sizeof(result));
	return error;
}

long sys_pthread_detach(struct call *c)
{
	return process_detach((unsigned int)call_int(c, 0));
}

long sys_pthread_self(struct call *c)
{
	(void)c;
	return thread_current()->slot;
}
