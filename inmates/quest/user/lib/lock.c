// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Mutexes and condition variables. They call the kernel only to wait, or to wake waiting threads.
 */
#include "raw.h"

#define FREE	0u

/* Returns the word of a mutex that the calling thread owns. */
static uint32_t own_name(void)
{
	return quest_thread() + 1;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	*mutex = (pthread_mutex_t){
		.word = FREE,
		.kind = attributes ? (uint32_t)attributes->kind : PTHREAD_MUTEX_DEFAULT,
	};
	return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return mutex->word == FREE ? 0 : EBUSY;
}

/* The owner may lock a recursive mutex again. */
static int locked_again(pthread_mutex_t *mutex)
{
	if (mutex->kind != PTHREAD_MUTEX_RECURSIVE || (mutex->word & ~LOCK_AWAITED) != own_name())
		return 0;
	mutex->depth++;
	return 1;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	uint32_t was = FREE;

	if (__atomic_compare_exchange_n(&mutex->word, &was, own_name(), 0, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return 0;
	return locked_again(mutex) ? 0 : EBUSY;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return pthread_mutex_trylock(mutex) ? -quest_lock_word(&mutex->word, until) : 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return pthread_mutex_timedlock(mutex, NULL);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	uint32_t was = own_name();

	if (mutex->depth && (mutex->word & ~LOCK_AWAITED) == was) {
		mutex->depth--;
		return 0;
	}
	if (__atomic_compare_exchange_n(&mutex->word, &was, FREE, 0, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		return 0;
	return -quest_unlock_word(&mutex->word);
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
	(void)attributes;
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
	(void)quest_wait_word(&cond->count, count, -1);
	return pthread_mutex_lock(mutex);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	uint32_t count = __atomic_load_n(&cond->count, __ATOMIC_ACQUIRE);
	int error = pthread_mutex_unlock(mutex), waited;

	if (error)
		return error;
	waited = -quest_wait_word_until(&cond->count, count, until);
	error = pthread_mutex_lock(mutex);
	return error ? error : waited == EAGAIN ? 0 : waited;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	(void)__atomic_fetch_add(&cond->count, 1, __ATOMIC_RELEASE);
	return -quest_wake_words();
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	return pthread_cond_broadcast(cond);
}
