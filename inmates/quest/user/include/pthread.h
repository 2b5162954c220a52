/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Threads, mutexes and condition variables of one program. The functions return 0 or the number of
 * the error, and do not change errno. There is no cancellation. There are no priorities, since a
 * thread runs on a VCPU (quest.h).
 */
#ifndef QUEST_PTHREAD_H
#define QUEST_PTHREAD_H

#include <quest/posix_types.h>
#include <limits.h>
#include <sched.h>
#include <time.h>

typedef struct { int detached; } pthread_attr_t;
typedef struct { int kind; } pthread_mutexattr_t;
typedef struct { clockid_t clock; } pthread_condattr_t;
typedef struct { pthread_mutex_t mutex; int done; } pthread_once_t;
typedef unsigned int pthread_key_t;

#define PTHREAD_CREATE_JOINABLE	0
#define PTHREAD_CREATE_DETACHED	1
#define PTHREAD_PROCESS_PRIVATE	0
#define PTHREAD_PROCESS_SHARED	1
#define PTHREAD_PRIO_NONE	0
#define PTHREAD_PRIO_INHERIT	1
#define PTHREAD_PRIO_PROTECT	2

/*
 * Each mutex knows its owner: PTHREAD_MUTEX_NORMAL, too, returns EDEADLK and EPERM where POSIX
 * allows a deadlock.
 */
#define PTHREAD_MUTEX_NORMAL		0
#define PTHREAD_MUTEX_RECURSIVE		1
#define PTHREAD_MUTEX_ERRORCHECK	2
#define PTHREAD_MUTEX_DEFAULT		PTHREAD_MUTEX_NORMAL

#define PTHREAD_MUTEX_INITIALIZER	{ 0 }
#define PTHREAD_COND_INITIALIZER	{ 0 }
#define PTHREAD_ONCE_INIT		{ PTHREAD_MUTEX_INITIALIZER, 0 }

/* Threads, at most 16 at once; each has a stack of 64 KiB with a guard below. */
/* EAGAIN, ENOMEM */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *),
		   void *arg);
_Noreturn void pthread_exit(void *result);		/* the program ends with its last thread */
int pthread_join(pthread_t thread, void **result);	/* ESRCH, EDEADLK */
/* declares that no thread will join it; ESRCH */
int pthread_detach(pthread_t thread);
pthread_t pthread_self(void);
int pthread_equal(pthread_t a, pthread_t b);

int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);		/* EINVAL */
int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state);
/* the only size is PTHREAD_STACK_MIN; EINVAL for another one */
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes);
int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *bytes);

/*
 * Threads block while they wait. The thread whose VCPU has the shortest period gets the mutex
 * first. While a thread waits, the owner runs on the waiter's VCPU, in its budget, if that VCPU's
 * period is shorter (priority inheritance, along chains of owners): each mutex has
 * PTHREAD_PRIO_INHERIT.
 */
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);	/* EBUSY */
/* EDEADLK: the caller owns it, or the owner waits for the caller */
int pthread_mutex_lock(pthread_mutex_t *mutex);
/* the errors of pthread_mutex_lock(), and ETIMEDOUT, EINVAL */
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_trylock(pthread_mutex_t *mutex);	/* EBUSY: another thread has the mutex */
int pthread_mutex_unlock(pthread_mutex_t *mutex);	/* EPERM: the caller does not own it */
int pthread_mutexattr_init(pthread_mutexattr_t *attributes);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes);
int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind);	/* EINVAL */
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *kind);
/* ENOTSUP: the protocol is not PTHREAD_PRIO_INHERIT */
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol);
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attributes, int *protocol);
/* ENOTSUP: `shared` is PTHREAD_PROCESS_SHARED */
int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared);

/* Time limits are times of CLOCK_MONOTONIC; CLOCK_REALTIME is the same clock. */
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes);
int pthread_cond_destroy(pthread_cond_t *cond);
/* may return without a signal, so check the condition again; EPERM */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
/*
 * the errors of pthread_cond_wait(), and ETIMEDOUT, EINVAL; after these two the caller owns the
 * mutex
 */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until);
/* wakes all waiting threads, as pthread_cond_broadcast() */
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);
int pthread_condattr_init(pthread_condattr_t *attributes);
int pthread_condattr_destroy(pthread_condattr_t *attributes);
/* EINVAL: the clock counts CPU time */
int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock);
int pthread_condattr_getclock(const pthread_condattr_t *attributes, clockid_t *clock);

/*
 * A reader waits while a writer has the lock or waits for it. There is no priority inheritance,
 * since a read-write lock has many owners.
 */
typedef struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned int readers, writers_waiting;
	int writer;		/* number of the writing thread plus 1; 0: none */
} pthread_rwlock_t;
typedef struct { char unused; } pthread_rwlockattr_t;
#define PTHREAD_RWLOCK_INITIALIZER \
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0 }
/* `attributes` must be NULL, else EINVAL */
int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes);
int pthread_rwlock_destroy(pthread_rwlock_t *lock);	/* EBUSY */
/* EDEADLK: the caller has the lock for writing */
int pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock);	/* EBUSY */
/* EDEADLK: the caller has the lock for writing */
int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock);	/* EBUSY */
/* EPERM: no thread has the lock for reading, and the caller does not have it for writing */
int pthread_rwlock_unlock(pthread_rwlock_t *lock);

/*
 * `count` threads wait for each other. A single thread gets PTHREAD_BARRIER_SERIAL_THREAD, the
 * others 0.
 */
typedef struct {
	pthread_mutex_t mutex;
	pthread_cond_t complete;
	unsigned int count, arrived, round;
} pthread_barrier_t;
typedef struct { char unused; } pthread_barrierattr_t;
#define PTHREAD_BARRIER_SERIAL_THREAD	(-1)
/* EINVAL */
int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
			 unsigned int count);
int pthread_barrier_destroy(pthread_barrier_t *barrier);	/* EBUSY */
int pthread_barrier_wait(pthread_barrier_t *barrier);

int pthread_once(pthread_once_t *once, void (*fn)(void));

/* Thread-specific values, by key. */
/* EAGAIN: PTHREAD_KEYS_MAX keys exist */
int pthread_key_create(pthread_key_t *key, void (*at_exit)(void *));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);	/* EINVAL */
void *pthread_getspecific(pthread_key_t key);

#endif
