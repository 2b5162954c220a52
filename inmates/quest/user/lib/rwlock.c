// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Read-write locks and barriers, made of a mutex and a condition variable. */
#include "raw.h"

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
	if (attributes)
		return EINVAL;
	*lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	return lock->readers || lock->writer ? EBUSY : 0;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	int error = pthread_mutex_lock(&lock->mutex);

	if (error)
		return error;
	if (lock->writer || lock->writers_waiting)
		error = EBUSY;
	else
		lock->readers++;
	(void)pthread_mutex_unlock(&lock->mutex);
	return error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int error = pthread_mutex_lock(&lock->mutex);

	if (error)
		return error;
	if (lock->writer == (int)quest_thread() + 1)
		error = EDEADLK;
	while (!error && (lock->writer || lock->writers_waiting))
		error = pthread_cond_wait(&lock->changed, &lock->mutex);
	if (!error)
		lock->readers++;
	(void)pthread_mutex_unlock(&lock->mutex);
	return error;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	int error = pthread_mutex_lock(&lock->mutex);

	if (error)
		return error;
	if (lock->writer || lock->readers)
		error = EBUSY;
	else
		lock->writer = (int)quest_thread() + 1;
	(void)pthread_mutex_unlock(&lock->mutex);
	return error;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int error = pthread_mutex_lock(&lock->mutex);

	if (error)
		return error;
	if (lock->writer == (int)quest_thread() + 1)
		error = EDEADLK;
	lock->writers_waiting++;
	while (!error && (lock->writer || lock->readers))
		error = pthread_cond_wait(&lock->changed, &lock->mutex);
	lock->writers_waiting--;
	if (!error)
		lock->writer = (int)quest_thread() + 1;
	(void)pthread_mutex_unlock(&lock->mutex);
	return error;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int error = pthread_mutex_lock(&lock->mutex);

	if (error)
		return error;
	if (lock->writer == (int)quest_thread() + 1)
		lock->writer = 0;
	else if (!lock->writer && lock->readers)
		lock->readers--;
	else
		error = EPERM;
	if (!error && !lock->readers)
		(void)pthread_cond_broadcast(&lock->changed);
	(void)pthread_mutex_unlock(&lock->mutex);
	return error;
}

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
			 unsigned int count)
{
	if (attributes || !count)
		return EINVAL;
	*barrier = (pthread_barrier_t){ .count = count };
	return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	return barrier->arrived ? EBUSY : 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	unsigned int round;
	int last;

	(void)pthread_mutex_lock(&barrier->mutex);
	round = barrier->round;
	last = ++barrier->arrived == barrier->count;
	if (last) {
		barrier->arrived = 0;
		barrier->round++;
		(void)pthread_cond_broadcast(&barrier->complete);
	}
	while (barrier->round == round)
		(void)pthread_cond_wait(&barrier->complete, &barrier->mutex);
	(void)pthread_mutex_unlock(&barrier->mutex);
	return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
