// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks: checks that mutexes, condition variables and semaphores do what quest.h says. Prints a
 * line for each failure; the last line has the count.
 *
 * locks inherit (on an idle machine): prints which thread gets a mutex first, and how long other
 * threads ran while a thread on a VCPU of a short period waited for a mutex whose owner's VCPU has
 * almost no budget.
 */
#include <quest.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

#define NS_PER_S	1000000000l
#define ITEMS		300
#define SLOTS		4
#define WAITERS		3
#define SETTLED_US	2000000
#define BEFORE_NS	3000000l
#define INSIDE_NS	12000000l	/* time that is longer than a quantum in the background */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t room, items;
static volatile int stop, inside;
static volatile long others[2];

static long now_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static struct timespec in_ns(long ns)
{
	ns += now_ns(CLOCK_MONOTONIC);
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static void spin(long ns)
{
	long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t = -1;

	CHECK(pthread_create(&t, NULL, fn, arg) == 0);
	return t;
}

static long result_of(pthread_t t)
{
	void *result = (void *)-1l;

	CHECK(pthread_join(t, &result) == 0);
	return (long)result;
}

static void *unlock_it(void *unused)
{
	(void)unused;
	return (void *)(long)pthread_mutex_unlock(&mutex);
}

static void *lock_both(void *unused)
{
	int error;

	(void)unused;
	(void)pthread_mutex_lock(&second);
	error = pthread_mutex_lock(&mutex);
	if (!error)
		(void)pthread_mutex_unlock(&mutex);
	(void)pthread_mutex_unlock(&second);
	return (void *)(long)error;
}

static void check_owner(void)
{
	pthread_t t;

	CHECK(pthread_mutex_unlock(&mutex) == EPERM);
	CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK);
	CHECK(pthread_mutex_destroy(&mutex) == EBUSY && result_of(start(unlock_it, NULL)) == EPERM);
	t = start(lock_both, NULL);
	while (!second.word || !(mutex.word & LOCK_AWAITED))
		(void)usleep(100);
	/* the owner of this mutex waits for this thread */
	CHECK(pthread_mutex_lock(&second) == EDEADLK);
	CHECK(pthread_mutex_unlock(&mutex) == 0 && result_of(t) == 0 && !mutex.word &&
	      !second.word);
	CHECK(lock_word((uint32_t *)0x100000, NULL) == -EFAULT &&
	      lock_word((uint32_t *)1, NULL) == -EINVAL);
	CHECK(unlock_word(NULL) == -EFAULT && unlock_word((uint32_t *)2) == -EINVAL &&
	      pthread_mutex_destroy(&mutex) == 0);
}

static void *hold(void *arg)
{
	(void)pthread_mutex_lock(&mutex);
	(void)sem_post(&items);
	(void)sem_wait(&room);
	(void)pthread_mutex_unlock(&mutex);
	return arg;
}

static void check_limits(void)
{
	struct timespec soon, bad = { 0, NS_PER_S };
	pthread_t t = start(hold, NULL);

	CHECK(sem_wait(&items) == 0);
	soon = in_ns(3000000);
	CHECK(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
	CHECK(now_ns(CLOCK_MONOTONIC) >= soon.tv_sec * NS_PER_S + soon.tv_nsec);
	CHECK(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT &&
	      pthread_mutex_timedlock(&mutex, &bad) == EINVAL);
	CHECK(sem_post(&room) == 0 && result_of(t) == 0);
	soon = in_ns(3000000);
	CHECK(pthread_mutex_timedlock(&mutex, &soon) == 0);
	CHECK(pthread_cond_timedwait(&never, &mutex, &soon) == ETIMEDOUT);
	CHECK(now_ns(CLOCK_MONOTONIC) >= soon.tv_sec * NS_PER_S + soon.tv_nsec && mutex.word);
	CHECK(pthread_cond_timedwait(&never, &mutex, &bad) == EINVAL &&
	      pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_cond_timedwait(&never, &mutex, &soon) == EPERM);
	soon = in_ns(3000000);
	CHECK(FAILS(sem_timedwait(&items, &soon), ETIMEDOUT) &&
	      FAILS(sem_timedwait(&items, &bad), EINVAL));
	CHECK(now_ns(CLOCK_MONOTONIC) >= soon.tv_sec * NS_PER_S + soon.tv_nsec && !items.waiters);
}

static void *wake_up(void *arg)
{
	(void)usleep(2000);
	(void)pthread_mutex_lock(&mutex);
	inside = 1;
	(void)pthread_cond_signal(&never);
	(void)pthread_mutex_unlock(&mutex);
	return arg;
}

/* A waiter that is woken in time does not get a time-out. */
static void check_woken(void)
{
	struct timespec late = in_ns(100 * NS_PER_S);
	pthread_t t = start(wake_up, NULL);

	(void)pthread_mutex_lock(&mutex);
	while (!inside)
		CHECK(pthread_cond_timedwait(&never, &mutex, &late) == 0);
	(void)pthread_mutex_unlock(&mutex);
	CHECK(inside == 1 && result_of(t) == 0);
	inside = 0;
}

static int queue[SLOTS], put, taken, sum;

static void *produce(void *first)
{
	long i;

	for (i = 0; i < ITEMS; i++) {
		(void)sem_wait(&room);
		(void)pthread_mutex_lock(&mutex);
		queue[put++ % SLOTS] = (int)((long)first + i);
		(void)pthread_mutex_unlock(&mutex);
		(void)sem_post(&items);
	}
	return NULL;
}

static void *consume(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < ITEMS; i++) {
		(void)sem_wait(&items);
		(void)pthread_mutex_lock(&mutex);
		sum += queue[taken++ % SLOTS];
		(void)pthread_mutex_unlock(&mutex);
		(void)sem_post(&room);
	}
	return NULL;
}

static void check_semaphores(void)
{
	pthread_t t[4];
	int i, value = -1;

	CHECK(sem_init(&room, 0, SLOTS) == 0 && sem_init(&items, 0, 0) == 0 &&
	      FAILS(sem_init(&room, 1, 0), ENOSYS));
	for (i = 0; i < 4; i++)
		t[i] = start(i % 2 ? produce : consume, (void *)(long)(i * 1000));
	for (i = 0; i < 4; i++)
		CHECK(result_of(t[i]) == 0);
	CHECK(put == 2 * ITEMS && taken == 2 * ITEMS &&
	      sum == ITEMS * (1000 + 3000) + ITEMS * (ITEMS - 1));
	CHECK(sem_getvalue(&room, &value) == 0 && value == SLOTS &&
	      FAILS(sem_trywait(&items), EAGAIN));
	CHECK(sem_init(&items, 0, SEM_VALUE_MAX) == 0 && FAILS(sem_post(&items), EOVERFLOW) &&
	      sem_trywait(&items) == 0);
	CHECK(FAILS(sem_init(&items, 0, (unsigned int)SEM_VALUE_MAX + 1), EINVAL) &&
	      sem_destroy(&items) == 0);
	(void)sem_init(&items, 0, 0);
	(void)sem_init(&room, 0, 0);
}

static int order[WAITERS], entered;

static void *enter(void *period)
{
	int id = vcpu_create_main(1, (int)(long)period);

	if (id < 0 || vcpu_bind_task(id))
		return (void *)1;
	(void)sem_post(&items);
	(void)pthread_mutex_lock(&mutex);
	order[entered++] = (int)(long)period;
	(void)pthread_mutex_unlock(&mutex);
	return (void *)(long)vcpu_destroy(id, 1);
}

static void check_order(void)
{
	static const long periods[WAITERS] = { 400, 300, 500 };
	pthread_t t[WAITERS];
	int i;

	(void)pthread_mutex_lock(&mutex);
	for (i = 0; i < WAITERS; i++) {
		t[i] = start(enter, (void *)periods[i]);
		CHECK(sem_wait(&items) == 0);
		(void)usleep(5000);
	}
	(void)pthread_mutex_unlock(&mutex);
	for (i = 0; i < WAITERS; i++)
		CHECK(result_of(t[i]) == 0);
	CHECK(order[0] == 300 && order[1] == 400 && order[2] == 500);
}

static volatile int short_vcpu;

static void *wait_there(void *arg)
{
	CHECK(vcpu_bind_task(short_vcpu) == 0);
	(void)sem_post(&items);
	(void)pthread_mutex_lock(&mutex);
	(void)pthread_mutex_unlock(&mutex);
	return arg;
}

/* The inherited VCPU is destroyed while it is inherited: the owner returns to its own VCPU. */
static void check_inherited_vcpu_goes(void)
{
	struct sched_param was, p;
	pthread_t t;

	short_vcpu = vcpu_create_main(1, 80);
	CHECK(short_vcpu > 0 && vcpu_getparams(&was) == 0);
	(void)pthread_mutex_lock(&mutex);
	t = start(wait_there, NULL);
	CHECK(sem_wait(&items) == 0);
	while (!(mutex.word & LOCK_AWAITED))
		(void)usleep(1000);
	/* parameters of the thread's own VCPU, not of the inherited one */
	CHECK(vcpu_getparams(&p) == 0 && p.C == was.C && p.T == was.T);
	CHECK(vcpu_destroy(short_vcpu, 0) == -EBUSY && vcpu_destroy(short_vcpu, 1) == 0);
	CHECK(vcpu_getparams(&p) == 0 && p.C == was.C && p.T == was.T);
	CHECK(pthread_mutex_unlock(&mutex) == 0 && result_of(t) == 0);
}

/* Runs on a stack that belongs to no thread, as coroutines do. */
static void check_other_stack(void)
{
	static char stack[8192] __attribute__((aligned(16)));
	long answer;

	__asm__ volatile("movq %%rsp, %%rbx; movq %1, %%rsp; call pthread_mutex_lock; "
			 "movq %%rbx, %%rsp"
			 : "=a"(answer) : "r"(stack + sizeof(stack)), "D"(&mutex)
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	CHECK((int)answer == 0 && mutex.word == (uint32_t)pthread_self() + 1 &&
	      pthread_mutex_unlock(&mutex) == 0);
}

static void *be_busy(void *n)
{
	if ((long)n == 1)
		(void)vcpu_bind_task(BEST_EFFORT_VCPU);
	while (!stop)
		others[(long)n] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void *work_inside(void *which)
{
	pthread_mutex_t *m = which;
	int id = vcpu_create_main(1, 1000);

	if (id < 0 || vcpu_bind_task(id))
		return (void *)1;
	(void)pthread_mutex_lock(m);
	spin(BEFORE_NS);			/* uses up the budget of the VCPU */
	inside++;
	spin(INSIDE_NS);
	(void)pthread_mutex_unlock(m);
	return NULL;
}

/* Owns one mutex and waits for the other. */
static void *stand_between(void *unused)
{
	int id = vcpu_create_main(1, 900);

	if (id < 0 || vcpu_bind_task(id))
		return (void *)1;
	(void)pthread_mutex_lock(&mutex);
	inside++;
	(void)pthread_mutex_lock(&second);
	(void)pthread_mutex_unlock(&second);
	(void)pthread_mutex_unlock(&mutex);
	return unused;
}

/*
 * Returns the time that other threads ran while a thread waited for `mutex`. Of `chain` + 1 owners,
 * the last one works.
 */
static void measure_inheritance(int chain)
{
	pthread_t t[4];
	long had, waited;
	int i, n = 0;

	stop = inside = 0;
	t[n++] = start(work_inside, chain ? &second : &mutex);
	while (inside < 1)
		(void)usleep(500);
	if (chain)
		t[n++] = start(stand_between, NULL);
	while (inside < 1 + chain)
		(void)usleep(500);
	for (i = 0; i < 2; i++)
		t[n++] = start(be_busy, (void *)(long)i);
	(void)usleep(1000);
	had = others[0] + others[1];
	waited = now_ns(CLOCK_MONOTONIC);
	(void)pthread_mutex_lock(&mutex);
	had = others[0] + others[1] - had;
	waited = now_ns(CLOCK_MONOTONIC) - waited;
	(void)pthread_mutex_unlock(&mutex);
	stop = 1;
	while (n)
		CHECK(result_of(t[--n]) == 0);
	printf("locks: waited %ld us behind %d owners, others ran %ld us of it\n", waited / 1000,
	       chain + 1, had / 1000);
}

static int inherit(void)
{
	int id = vcpu_create_main(14, 90);

	CHECK(id > 0 && vcpu_bind_task(id) == 0);
	check_order();
	/* wait until the past use of destroyed VCPUs is replenished */
	(void)usleep(SETTLED_US);
	measure_inheritance(0);
	(void)usleep(SETTLED_US);
	measure_inheritance(1);
	return checked("locks");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "inherit"))
		return inherit();
	check_semaphores();
	check_owner();
	check_limits();
	check_woken();
	check_inherited_vcpu_goes();
	check_other_stack();
	return checked("locks");
}
