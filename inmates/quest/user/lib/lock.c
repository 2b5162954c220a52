// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Mutexes and conditions: the kernel is called only when somebody has to wait, or may be waiting. */
#include <quest.h>

#define FREE	0u
#define TAKEN	1u
#define AWAITED	2u

int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
	if (attributes)
		return -EINVAL;
	mutex->word = FREE;
	return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	uint32_t was = FREE;

	return __atomic_compare_exchange_n(&mutex->word, &was, TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ? 0 : -EBUSY;
}

/* Whoever had to wait leaves AWAITED behind: others may wait, too. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!pthread_mutex_trylock(mutex))
		return 0;
	while (__atomic_exchange_n(&mutex->word, AWAITED, __ATOMIC_ACQUIRE) != FREE)
		(void)wait_word(&mutex->word, AWAITED, -1);
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (__atomic_exchange_n(&mutex->word, FREE, __ATOMIC_RELEASE) == AWAITED)
		(void)wake_words();
	return 0;
}

int pthread_cond_init(pthread_cond_t *cond, const void *attributes)
{
	if (attributes)
		return -EINVAL;
	cond->count = 0;
	return 0;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	uint32_t count = __atomic_load_n(&cond->count, __ATOMIC_ACQUIRE);

	(void)pthread_mutex_unlock(mutex);
	(void)wait_word(&cond->count, count, -1);
	return pthread_mutex_lock(mutex);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	(void)__atomic_fetch_add(&cond->count, 1, __ATOMIC_RELEASE);
	return wake_words();
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	return pthread_cond_broadcast(cond);
}
