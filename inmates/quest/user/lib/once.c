// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "raw.h"

int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	if (__atomic_load_n(&once->done, __ATOMIC_ACQUIRE))
		return 0;
	(void)pthread_mutex_lock(&once->mutex);
	if (!once->done)
		fn();
	__atomic_store_n(&once->done, 1, __ATOMIC_RELEASE);
	(void)pthread_mutex_unlock(&once->mutex);
	return 0;
}
