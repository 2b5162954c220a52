/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Semaphores for the threads of one program. The functions return -1 and set errno. */
#ifndef QUEST_SEMAPHORE_H
#define QUEST_SEMAPHORE_H

#include <quest/posix_types.h>

#define SEM_FAILED	((sem_t *)0)

/* ENOSYS: `shared` is not 0; EINVAL: `value` is too large */
int sem_init(sem_t *sem, int shared, unsigned int value);
int sem_destroy(sem_t *sem);				/* EBUSY */
int sem_wait(sem_t *sem);
int sem_timedwait(sem_t *sem, const struct timespec *until);	/* ETIMEDOUT, EINVAL */
int sem_trywait(sem_t *sem);				/* EAGAIN: the value is 0 */
int sem_post(sem_t *sem);				/* EOVERFLOW */
int sem_getvalue(sem_t *sem, int *value);

#endif
