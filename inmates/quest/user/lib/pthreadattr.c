// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Attributes of mutexes and condition variables. Most can have only one value. */
#include "raw.h"

int pthread_mutexattr_init(pthread_mutexattr_t *attributes)
{
	attributes->kind = PTHREAD_MUTEX_DEFAULT;
	return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes)
{
	(void)attributes;
	return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind)
{
	if (kind < PTHREAD_MUTEX_NORMAL || kind > PTHREAD_MUTEX_ERRORCHECK)
		return EINVAL;
	attributes->kind = kind;
	return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *kind)
{
	*kind = attributes->kind;
	return 0;
}

int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol)
{
	(void)attributes;
	return protocol == PTHREAD_PRIO_INHERIT ? 0 : ENOTSUP;
}

int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attributes, int *protocol)
{
	(void)attributes;
	*protocol = PTHREAD_PRIO_INHERIT;
	return 0;
}

int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared)
{
	(void)attributes;
	return shared == PTHREAD_PROCESS_PRIVATE ? 0 : ENOTSUP;
}

int pthread_condattr_init(pthread_condattr_t *attributes)
{
	attributes->clock = CLOCK_REALTIME;
	return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attributes)
{
	(void)attributes;
	return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	attributes->clock = clock;
	return 0;
}

int pthread_condattr_getclock(const pthread_condattr_t *attributes, clockid_t *clock)
{
	*clock = attributes->clock;
	return 0;
}
