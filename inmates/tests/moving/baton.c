// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include "baton.h"

static struct runner {
	pthread_t thread;
	sem_t go;
	bool begun;
	void (*fn)(void *arg);
	void *arg;
} runners[BATONS];
static sem_t back;

void baton_init(void)
{
	sem_init(&back, 0, 0);
}

static void *run(void *arg)
{
	const struct runner *r = arg;

	r->fn(r->arg);
	abort();
}

void baton_give(unsigned int n, void (*fn)(void *arg), void *arg)
{
	struct runner *r = &runners[n];

	if (r->begun) {
		sem_post(&r->go);
	} else {
		*r = (struct runner){ .begun = true, .fn = fn, .arg = arg };
		sem_init(&r->go, 0, 0);
		if (pthread_create(&r->thread, NULL, run, r))
			abort();
	}
	sem_wait(&back);
}

void baton_return(unsigned int n)
{
	sem_post(&back);
	sem_wait(&runners[n].go);
}

_Noreturn void baton_end(void)
{
	sem_post(&back);
	pthread_exit(NULL);
}

void baton_join(unsigned int n)
{
	pthread_join(runners[n].thread, NULL);
	runners[n].begun = false;
}
