// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib: checks that the C library does what its headers say. Prints a line for each failure; the
 * last line has the count.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

#define THREADS		4
#define ROUNDS		50
#define FULL_SPEED	20000
#define DETACHED	40	/* more threads than can exist at once */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int turn, sum, inside, met, gone;

/*
 * Reads a counter, lets other threads run, and writes it. Without the mutex, updates would be lost.
 */
static void *count_slowly(void *unused)
{
	int i, was;

	for (i = 0; i < ROUNDS; i++) {
		(void)pthread_mutex_lock(&mutex);
		met += inside++ != 0;
		was = sum;
		(void)usleep(100);
		sum = was + 1;
		inside--;
		(void)pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *count_fast(void *unused)
{
	int i;

	for (i = 0; i < FULL_SPEED; i++) {
		(void)pthread_mutex_lock(&mutex);
		sum = sum + 1;
		(void)pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void together(void *(*fn)(void *))
{
	pthread_t t[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, fn, NULL) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
}

static void check_mutex(void)
{
	together(count_slowly);
	CHECK(sum == THREADS * ROUNDS && met == 0);
	sum = 0;
	together(count_fast);
	CHECK(sum == THREADS * FULL_SPEED);
	CHECK(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_trylock(&mutex) == EBUSY);
	CHECK(pthread_mutex_unlock(&mutex) == 0 && mutex.word == 0);
}

/* The threads run in a fixed order. Each one waits until its number is next. */
static void *in_order(void *arg)
{
	int me = (int)(long)arg, i;

	for (i = 0; i < ROUNDS; i++) {
		(void)pthread_mutex_lock(&mutex);
		while (turn % THREADS != me)
			(void)pthread_cond_wait(&changed, &mutex);
		turn++;
		(void)pthread_cond_broadcast(&changed);
		(void)pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void check_condition(void)
{
	pthread_t t[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, in_order, (void *)i) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	CHECK(turn == THREADS * ROUNDS);
}

static void check_words(void)
{
	static const uint32_t word = 7;
	struct timeval before, after;

	CHECK(wait_word(&word, 8, -1) == -EAGAIN &&
	      wait_word((const uint32_t *)((const char *)&word + 1), 7, 0) == -EINVAL);
	CHECK(wait_word((const uint32_t *)0x100000, 0, 0) == -EFAULT &&
	      wait_word(&word, 7, 1l << 50) == -EINVAL);
	(void)gettimeofday(&before, NULL);
	CHECK(wait_word(&word, 7, 3000) == -ETIMEDOUT);
	(void)gettimeofday(&after, NULL);
	CHECK((after.tv_sec - before.tv_sec) * 1000000 + after.tv_usec - before.tv_usec >= 3000);
	CHECK(wake_words() == 0);
}

static void *go(void *unused)
{
	(void)__atomic_fetch_add(&gone, 1, __ATOMIC_RELAXED);
	return unused;
}

static void check_detach(void)
{
	pthread_t t;
	int i, bad = 0;

	for (i = 0; i < DETACHED; i++) {
		bad += pthread_create(&t, NULL, go, NULL) != 0;
		bad += pthread_detach(t) != 0;
		while (gone <= i)
			(void)usleep(100);
		(void)usleep(100);
	}
	CHECK(bad == 0 && gone == DETACHED);
	CHECK(pthread_join(t, NULL) == ESRCH && pthread_detach(t) == ESRCH &&
	      pthread_detach(99) == ESRCH);
}

/* A thread that waits without end does not keep its program alive. */
static void *wait_for_ever(void *unused)
{
	static const uint32_t word = 7;

	(void)wait_word(&word, 7, -1);
	return unused;
}

static void check_end(void)
{
	pthread_t t;
	int status, pid = fork();

	if (!pid) {
		(void)pthread_create(&t, NULL, wait_for_ever, NULL);
		(void)usleep(1000);
		_exit(5);
	}
	CHECK(wait(&status) == pid && status == 5 << 8);
}

static void check_text(void)
{
	char text[16] = "one", *end;

	CHECK(!strcmp(strcat(text, " two"), "one two") && strchr(text, 't') == text + 4 &&
	      !strchr(text, 'x'));
	CHECK(strrchr(text, 'o') == text + 6 && strchr(text, 0) == text + 7 &&
	      !strncmp("abc", "abd", 2));
	CHECK(strncmp("abc", "abd", 3) < 0 && !strncmp("ab", "ab", 9) &&
	      !strcmp(strcpy(text, "x"), "x"));
	CHECK(strtol(" -12x", &end, 10) == -12 && *end == 'x' && strtol("0x1F", &end, 0) == 31 &&
	      !*end);
	CHECK(strtol("017", NULL, 0) == 15 && strtol("zz", NULL, 36) == 35 * 37 && atoi("+7") == 7);
	CHECK(strtol("none", &end, 10) == 0 && !strcmp(end, "none") &&
	      strtol("0x", &end, 16) == 0 && *end == 'x');
}

static void check_memory(void)
{
	char *p = realloc(NULL, 20);

	CHECK(p != NULL);
	(void)strcpy(p, "keep this");
	p = realloc(p, 20000);
	CHECK(p && !strcmp(p, "keep this"));
	CHECK(realloc(p, 5) == p && !realloc(p, (size_t)1 << 50) && !strcmp(p, "keep this"));
	free(p);
}

int main(void)
{
	check_mutex();
	check_condition();
	check_words();
	check_detach();
	check_end();
	check_text();
	check_memory();
	return checked("lib");
}
