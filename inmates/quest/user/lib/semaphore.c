// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Semaphores of one program: the kernel is called only when somebody has to wait, or waits. */
#include <quest.h>

int sem_init(sem_t *sem, int shared, unsigned int value)
{
	if (shared || value > SEM_VALUE_MAX)
		return -EINVAL;
	*sem = (sem_t){ .value = value };
	return 0;
}

int sem_destroy(sem_t *sem)
{
	return __atomic_load_n(&sem->waiters, __ATOMIC_SEQ_CST) ? -EBUSY : 0;
}

int sem_post(sem_t *sem)
{
	uint32_t value = __atomic_load_n(&sem->value, __ATOMIC_RELAXED);

	do {
		if (value == SEM_VALUE_MAX)
			return -EOVERFLOW;
	} while (!__atomic_compare_exchange_n(&sem->value, &value, value + 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return __atomic_load_n(&sem->waiters, __ATOMIC_SEQ_CST) ? wake_words() : 0;
}

int sem_trywait(sem_t *sem)
{
	uint32_t value = __atomic_load_n(&sem->value, __ATOMIC_SEQ_CST);

	while (value)
		if (__atomic_compare_exchange_n(&sem->value, &value, value - 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return 0;
	return -EAGAIN;
}

/* Who is about to wait says so before it looks for the last time: sem_post() looks in the other order. */
static int wait_until(sem_t *sem, const struct timespec *until)
{
	int error = sem_trywait(sem);

	while (error == -EAGAIN) {
		(void)__atomic_fetch_add(&sem->waiters, 1, __ATOMIC_SEQ_CST);
		error = until ? wait_word_until(&sem->value, 0, until) : wait_word(&sem->value, 0, -1);
		(void)__atomic_fetch_sub(&sem->waiters, 1, __ATOMIC_SEQ_CST);
		if (!error || error == -EAGAIN)
			error = sem_trywait(sem);
	}
	return error;
}

int sem_wait(sem_t *sem)
{
	return wait_until(sem, NULL);
}

int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	return wait_until(sem, until);
}

int sem_getvalue(sem_t *sem, int *value)
{
	*value = (int)__atomic_load_n(&sem->value, __ATOMIC_RELAXED);
	return 0;
}
