// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Semaphores of one program. They call the kernel only to wait, or to wake waiting threads. */
#include "raw.h"

int sem_init(sem_t *sem, int shared, unsigned int value)
{
	if (shared || value > SEM_VALUE_MAX)
		return (int)posix_answer(shared ? -ENOSYS : -EINVAL);
	*sem = (sem_t){ .value = value };
	return 0;
}

int sem_destroy(sem_t *sem)
{
	return (int)posix_answer(__atomic_load_n(&sem->waiters, __ATOMIC_SEQ_CST) ? -EBUSY : 0);
}

int sem_post(sem_t *sem)
{
	uint32_t value = __atomic_load_n(&sem->value, __ATOMIC_RELAXED);

	do {
		if (value == SEM_VALUE_MAX)
			return (int)posix_answer(-EOVERFLOW);
	} while (!__atomic_compare_exchange_n(&sem->value, &value, value + 1, 1, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return __atomic_load_n(&sem->waiters, __ATOMIC_SEQ_CST) ?
	       (int)posix_answer(quest_wake_words()) : 0;
}

/* Returns 0, or -EAGAIN if the value is 0. */
static int try_wait(sem_t *sem)
{
	uint32_t value = __atomic_load_n(&sem->value, __ATOMIC_SEQ_CST);

	while (value)
		if (__atomic_compare_exchange_n(&sem->value, &value, value - 1, 1, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return 0;
	return -EAGAIN;
}

int sem_trywait(sem_t *sem)
{
	return (int)posix_answer(try_wait(sem));
}

/*
 * A thread counts itself as a waiter before it reads the value for the last time. sem_post()
 * changes the value before it reads the count, so that no wake-up is lost.
 */
static int wait_until(sem_t *sem, const struct timespec *until)
{
	int error = try_wait(sem);

	while (error == -EAGAIN) {
		(void)__atomic_fetch_add(&sem->waiters, 1, __ATOMIC_SEQ_CST);
		error = until ? quest_wait_word_until(&sem->value, 0, until) :
			quest_wait_word(&sem->value, 0, -1);
		(void)__atomic_fetch_sub(&sem->waiters, 1, __ATOMIC_SEQ_CST);
		if (!error || error == -EAGAIN)
			error = try_wait(sem);
	}
	return error;
}

int sem_wait(sem_t *sem)
{
	return (int)posix_answer(wait_until(sem, NULL));
}

int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	return (int)posix_answer(wait_until(sem, until));
}

int sem_getvalue(sem_t *sem, int *value)
{
	*value = (int)__atomic_load_n(&sem->value, __ATOMIC_RELAXED);
	return 0;
}
