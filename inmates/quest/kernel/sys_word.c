// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls: a futex. A thread waits until a word of the program's memory has another value.
 * Mutexes and condition variables use it.
 */
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../mm/usercopy.h"
#include "clock.h"
#include "machine.h"
#include "syscall.h"

#define WAIT_MAX_US	(1ll << 42)	/* 50 days */

/*
 * Interrupts are off and there is one CPU: no other thread changes the word between the check and
 * the wait.
 */
static long wait_while(struct process *p, uint64_t at, uint32_t expected, uint64_t end)
{
	bool in_time = true, waited = thread_current()->restart.again;
	uint32_t word;

	end = clock_wait_end(end);
	for (;;) {
		if (!copy_from_user(&p->space, &word, at, sizeof(word)))
			return -EFAULT;
		if (word != expected)
			return waited ? 0 : -EAGAIN;
		if (!in_time)
			return -ETIMEDOUT;
		in_time = wait_on_until(&p->words, end);
		waited = true;
		if (process_interrupted(p))
			return process_interrupted(p);
	}
}

long sys_wait_word(struct call *c)
{
	int64_t us = (int64_t)c->arg[2];

	if (c->arg[0] % sizeof(uint32_t) || us > WAIT_MAX_US)
		return -EINVAL;
	return wait_while(c->process, c->arg[0], (uint32_t)c->arg[1],
			  us < 0 ? UINT64_MAX : rdtsc() + timer_from_us((uint64_t)us));
}

/* The time limit is a time of CLOCK_MONOTONIC. */
long sys_wait_word_until(struct call *c)
{
	struct timespec t;

	if (!copy_from_user(&c->process->space, &t, c->arg[2], sizeof(t)))
		return -EFAULT;
	if (c->arg[0] % sizeof(uint32_t) || !clock_sane(&t))
		return -EINVAL;
	return wait_while(c->process, c->arg[0], (uint32_t)c->arg[1],
			  clock_after(c->process->epoch, &t));
}

long sys_wake_words(struct call *c)
{
	wake_all(&c->process->words);
	return 0;
}
