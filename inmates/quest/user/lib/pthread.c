// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "raw.h"

void (*quest_keys_begin)(void);
void (*quest_keys_end)(void);

/* The kernel starts each thread here. Its stack is aligned as after a CALL instruction. */
static void thread_begin(void *(*fn)(void *), void *arg)
{
	errno = 0;
	if (quest_keys_begin)
		quest_keys_begin();
	pthread_exit(fn(arg));
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *),
		   void *arg)
{
	int id = quest_thread_create(thread_begin, fn, arg);

	if (id < 0)
		return -id;
	*thread = id;
	/*
	 * The thread may have ended by now. Its number stays taken until it is joined or detached.
	 */
	return attributes && attributes->detached ? -quest_pthread_detach(id) : 0;
}

_Noreturn void pthread_exit(void *result)
{
	if (quest_keys_end)
		quest_keys_end();
	quest_pthread_exit(result);
}

int pthread_join(pthread_t thread, void **result)
{
	return -quest_thread_join(thread, result);
}

int pthread_detach(pthread_t thread)
{
	return -quest_pthread_detach(thread);
}

int pthread_equal(pthread_t a, pthread_t b)
{
	return a == b;
}

int pthread_attr_init(pthread_attr_t *attributes)
{
	attributes->detached = PTHREAD_CREATE_JOINABLE;
	return 0;
}

int pthread_attr_destroy(pthread_attr_t *attributes)
{
	(void)attributes;
	return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state)
{
	if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
		return EINVAL;
	attributes->detached = state;
	return 0;
}

int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state)
{
	*state = attributes->detached;
	return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes)
{
	(void)attributes;
	return bytes == QUEST_STACK_BYTES ? 0 : EINVAL;
}

int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *bytes)
{
	(void)attributes;
	*bytes = QUEST_STACK_BYTES;
	return 0;
}
