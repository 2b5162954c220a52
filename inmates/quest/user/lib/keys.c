// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Thread-specific values, by key. */
#include <string.h>
#include "raw.h"

static struct {
	int used;
	void (*at_exit)(void *);
} keys[PTHREAD_KEYS_MAX];
static void *values[QUEST_THREADS][PTHREAD_KEYS_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void begin(void)
{
	(void)memset(values[quest_thread()], 0, sizeof(values[0]));
}

static void end(void)
{
	void **own = values[quest_thread()], *value;
	int round, called = 1;
	unsigned int n;

	for (round = 0; called && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++)
		for (n = called = 0; n < PTHREAD_KEYS_MAX; n++) {
			value = own[n];
			if (!value || !keys[n].used || !keys[n].at_exit)
				continue;
			own[n] = NULL;
			keys[n].at_exit(value);
			called = 1;
		}
}

int pthread_key_create(pthread_key_t *key, void (*at_exit)(void *))
{
	unsigned int n, i;

	(void)pthread_mutex_lock(&mutex);
	quest_keys_begin = begin;
	quest_keys_end = end;
	for (n = 0; n < PTHREAD_KEYS_MAX && keys[n].used; n++)
		;
	if (n < PTHREAD_KEYS_MAX) {
		keys[n].used = 1;
		keys[n].at_exit = at_exit;
		for (i = 0; i < QUEST_THREADS; i++)
			values[i][n] = NULL;
	}
	(void)pthread_mutex_unlock(&mutex);
	*key = n;
	return n < PTHREAD_KEYS_MAX ? 0 : EAGAIN;
}

int pthread_key_delete(pthread_key_t key)
{
	if (key >= PTHREAD_KEYS_MAX || !keys[key].used)
		return EINVAL;
	keys[key].at_exit = NULL;
	keys[key].used = 0;
	return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	if (key >= PTHREAD_KEYS_MAX || !keys[key].used)
		return EINVAL;
	values[quest_thread()][key] = (void *)value;
	return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
	return key < PTHREAD_KEYS_MAX ? values[quest_thread()][key] : NULL;
}
