// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <quest.h>

/* The calls that these two stand on, and start.S. */
int thread_create(void (*begin)(void), void *(*fn)(void *), void *arg);
int thread_join(int thread, void **result);
void thread_begin(void);

int pthread_create(pthread_t *thread, const void *attributes, void *(*fn)(void *), void *arg)
{
	int id = attributes ? -EINVAL : thread_create(thread_begin, fn, arg);

	if (id < 0)
		return id;
	*thread = id;
	return 0;
}

int pthread_join(pthread_t thread, void **result)
{
	return thread_join(thread, result);
}
