// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Mutexes and conditions: the kernel is called only when somebody has to wait, or waits. */
#include <quest.h>

#define FREE	0u

/* The calling thread's number plus 1. It runs on its own stack, or asks the kernel. */
static uint32_t own_name(void)
{
	unsigned long slot = ((unsigned long)__builtin_frame_address(0) - QUEST_STACKS) / (2 * QUEST_STACK_BYTES);

	return (slot < QUEST_THREADS ? (uint32_t)slot : (uint32_t)pthread_self()) + 1;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
	if (attributes)
		return -EINVAL;
	mutex->word = FREE;
	return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return mutex->word == FREE ? 0 : -EBUSY;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	uint32_t was = FREE;

	return __atomic_compare_exchange_n(&mutex->word, &was, own_name(), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ? 0 : -EBUSY;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return pthread_mutex_trylock(mutex) ? lock_word(&mutex->word, until) : 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return pthread_mutex_timedlock(mutex, NULL);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	uint32_t was = own_name();

	if (__atomic_compare_exchange_n(&mutex->word, &was, FREE, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return 0;
	return unlock_word(&mutex->word);
}

int pthread_cond_init(pthread_cond_t *cond, const void *attributes)
{
	if (attributes)
		return -EINVAL;
	cond->count = 0;
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
	(void)cond;
	return 0;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	uint32_t count = __atomic_load_n(&cond->count, __ATOMIC_ACQUIRE);
	int error = pthread_mutex_unlock(mutex);

	if (error)
		return error;
	(void)wait_word(&cond->count, count, -1);
	return pthread_mutex_lock(mutex);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	uint32_t count = __atomic_load_n(&cond->count, __ATOMIC_ACQUIRE);
	int error = pthread_mutex_unlock(mutex), waited;

	if (error)
		return error;
	waited = wait_word_until(&cond->count, count, until);
	error = pthread_mutex_lock(mutex);
	return error ? error : waited == -EAGAIN ? 0 : waited;
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
