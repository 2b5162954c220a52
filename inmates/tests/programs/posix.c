// SPDX-License-Identifier: GPL-2.0-only
/*
 * posix: checks that functions with POSIX names behave as POSIX says. Prints a line for each
 * failure; the last line has the count.
 */
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

#define THREADS	8
#define ROUNDS	2000

static void check_calls(void)
{
	int fd[2], status;
	char byte = 0;

	CHECK(FAILS(open("nothing", O_RDONLY), ENOENT) && FAILS(open("frame.pgm", O_RDWR), EROFS));
	CHECK(FAILS(close(99), EBADF) && FAILS(read(99, &byte, 1), EBADF) &&
	      FAILS(write(99, &byte, 1), EBADF));
	CHECK(FAILS(lseek(0, 0, SEEK_SET), ESPIPE) && FAILS(dup(99), EBADF) &&
	      FAILS(dup2(99, 4), EBADF));
	CHECK(FAILS(pipe((int *)0x100000), EFAULT) && pipe(fd) == 0 && write(fd[1], "x", 1) == 1);
	CHECK(read(fd[0], &byte, 1) == 1 && byte == 'x' && close(fd[1]) == 0 &&
	      read(fd[0], &byte, 1) == 0 && close(fd[0]) == 0);
	CHECK(FAILS(waitpid(-1, &status, 0), ECHILD) && FAILS(wait(NULL), ECHILD) &&
	      FAILS(waitpid(-1, NULL, 77), EINVAL));
	CHECK(FAILS(kill(getpid(), 99), EINVAL) && FAILS(kill(30000, 0), ESRCH) && raise(0) == 0);
	CHECK(FAILS(execv("nothing", (char *[]){ "a", NULL }), ENOENT) &&
	      FAILS(execlp("frame.pgm", "a", (char *)NULL), ENOEXEC));
	CHECK(FAILS(execl("posix", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
			  "13", "14", "15", "16", "17", (char *)NULL),
		    E2BIG));
	CHECK((long)sbrk(1l << 40) == -1 && errno == ENOMEM && sysconf(_SC_PAGESIZE) == 4096 &&
	      FAILS(sysconf(99), EINVAL));
	CHECK(FAILS(sched_setparam(9999, &(struct sched_param){ .C = 1, .T = 1000 }), ESRCH) &&
	      sched_yield() == 0);
	errno = 5;
	/* a call that succeeds does not change errno */
	CHECK(close(dup(1)) == 0 && errno == 5);
	/* functions with Quest's own names do not change errno */
	CHECK(vcpu_create_main(-1, 10) == -EINVAL && errno == 5);
}

static void check_exec(void)
{
	int status, pid = fork();

	if (!pid)
		_exit(execlp("posix", "posix", "exec", "two words", (char *)NULL));
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42 &&
	      !WIFSTOPPED(status));
	pid = fork();
	if (!pid)
		abort();
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGABRT);
}

static void check_time(void)
{
	struct timespec t = { 0, 1000000 }, bad = { 0, 1000000000 }, a, b;
	struct utsname name;
	struct timeval tv;
	struct tms used;

	CHECK(clock_gettime(CLOCK_MONOTONIC, &a) == 0 && nanosleep(&t, NULL) == 0 &&
	      usleep(1000) == 0 && sleep(0) == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, &b) == 0 &&
	      (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 2000000);
	CHECK(FAILS(clock_gettime(99, &t), EINVAL) && FAILS(nanosleep(&bad, NULL), EINVAL) &&
	      clock_getres(CLOCK_REALTIME, &t) == 0);
	errno = 5;
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL &&
	      clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &t, NULL) == ENOTSUP);
	CHECK(errno == 5 && gettimeofday(&tv, NULL) == 0 && tv.tv_sec <= time(NULL) && clock() > 0);
	CHECK(times(&used) > 0 && used.tms_utime > 0 && used.tms_stime == 0 &&
	      sysconf(_SC_CLK_TCK) == 1000000);
	CHECK(uname(&name) == 0 && !strcmp(name.sysname, "Quest") && name.version[0]);
}

static void *set_errno(void *arg)
{
	long own = (long)arg, i, bad = errno != 0;

	for (i = 0; i < ROUNDS; i++) {
		errno = (int)own;
		if (i % 100 == 0)
			(void)usleep(100);
		bad += errno != own;
	}
	return (void *)bad;
}

/* Each thread has its own errno, which starts at 0. */
static void check_errno(void)
{
	pthread_t t[THREADS];
	void *bad;
	long i;

	errno = 77;
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, set_errno, (void *)(i + 1)) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], &bad) == 0 && !bad);
	CHECK(errno == 77);
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int destroyed, done;

static void destroy(void *value)
{
	(void)__atomic_fetch_add(&destroyed, (int)(long)value, __ATOMIC_RELAXED);
}

static void do_once(void)
{
	(void)usleep(1000);
	done++;
}

static void *use_key(void *arg)
{
	long bad = pthread_getspecific(key) != NULL;

	bad += pthread_once(&once, do_once) != 0 || done != 1;
	bad += pthread_setspecific(key, arg) != 0;
	(void)usleep(1000);
	return (void *)(bad + (pthread_getspecific(key) != arg));
}

static void check_keys(void)
{
	pthread_t t[THREADS];
	void *bad;
	long i, round;

	CHECK(pthread_key_create(&key, destroy) == 0 && pthread_getspecific(key) == NULL &&
	      pthread_setspecific(99, &i) == EINVAL);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < THREADS; i++)
			CHECK(pthread_create(&t[i], NULL, use_key, (void *)(i + 1)) == 0);
		for (i = 0; i < THREADS; i++)
			CHECK(pthread_join(t[i], &bad) == 0 && !bad);
	}
	CHECK(destroyed == 2 * THREADS * (THREADS + 1) / 2 && pthread_key_delete(key) == 0 &&
	      pthread_key_delete(key) == EINVAL);
}

static void *try_lock(void *mutex)
{
	return (void *)(long)pthread_mutex_trylock(mutex);
}

static void check_attributes(void)
{
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_cond;
	pthread_mutex_t mutex;
	pthread_attr_t of_thread;
	pthread_cond_t cond;
	void *result;
	pthread_t t;
	int n;

	CHECK(pthread_mutexattr_init(&of_mutex) == 0 &&
	      pthread_mutexattr_settype(&of_mutex, 9) == EINVAL);
	CHECK(pthread_mutexattr_setprotocol(&of_mutex, PTHREAD_PRIO_INHERIT) == 0 &&
	      pthread_mutexattr_setprotocol(&of_mutex, PTHREAD_PRIO_PROTECT) == ENOTSUP);
	CHECK(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED) == ENOTSUP);
	CHECK(pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_RECURSIVE) == 0 &&
	      pthread_mutex_init(&mutex, &of_mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0 &&
	      pthread_mutex_trylock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_create(&t, NULL, try_lock, &mutex) == 0 && pthread_join(t, &result) == 0 &&
	      result == (void *)EBUSY);
	CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == EPERM &&
	      pthread_mutex_destroy(&mutex) == 0);
	CHECK(pthread_condattr_init(&of_cond) == 0 &&
	      pthread_condattr_setclock(&of_cond, CLOCK_MONOTONIC) == 0);
	CHECK(pthread_condattr_setclock(&of_cond, CLOCK_THREAD_CPUTIME_ID) == EINVAL &&
	      pthread_cond_init(&cond, &of_cond) == 0);
	CHECK(pthread_attr_init(&of_thread) == 0 &&
	      pthread_attr_setstacksize(&of_thread, 1 << 20) == EINVAL);
	CHECK(pthread_attr_setstacksize(&of_thread, PTHREAD_STACK_MIN) == 0 &&
	      pthread_attr_setdetachstate(&of_thread, PTHREAD_CREATE_DETACHED) == 0);
	for (n = 0; n < 40; n++) {
		CHECK(pthread_create(&t, &of_thread, try_lock, &mutex) == 0);
		(void)usleep(500);
	}
	CHECK(pthread_join(t, NULL) == ESRCH && pthread_equal(pthread_self(), pthread_self()));
}

static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static volatile int books[2], met_wrong, serial;

/* Writers leave both numbers equal, and readers find them equal. All threads meet in each round. */
static void *read_and_write(void *arg)
{
	int round;

	for (round = 0; round < 20; round++) {
		if ((long)arg % 2) {
			(void)pthread_rwlock_wrlock(&shelf);
			books[0]++;
			(void)usleep(100);
			books[1]++;
		} else {
			(void)pthread_rwlock_rdlock(&shelf);
			met_wrong += books[0] != books[1];
		}
		(void)pthread_rwlock_unlock(&shelf);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			serial++;
		met_wrong += books[1] < (round + 1) * THREADS / 2;
	}
	return NULL;
}

static void check_rwlocks_and_barriers(void)
{
	pthread_t t[THREADS];
	long i;

	CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL &&
	      pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, read_and_write, (void *)i) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	CHECK(!met_wrong && books[0] == 20 * THREADS / 2 && serial == 20 &&
	      pthread_barrier_destroy(&barrier) == 0);
	CHECK(pthread_rwlock_tryrdlock(&shelf) == 0 && pthread_rwlock_rdlock(&shelf) == 0 &&
	      pthread_rwlock_trywrlock(&shelf) == EBUSY);
	CHECK(pthread_rwlock_unlock(&shelf) == 0 && pthread_rwlock_destroy(&shelf) == EBUSY &&
	      pthread_rwlock_unlock(&shelf) == 0);
	CHECK(pthread_rwlock_unlock(&shelf) == EPERM && pthread_rwlock_wrlock(&shelf) == 0 &&
	      pthread_rwlock_tryrdlock(&shelf) == EBUSY);
	CHECK(pthread_rwlock_rdlock(&shelf) == EDEADLK &&
	      pthread_rwlock_wrlock(&shelf) == EDEADLK && pthread_rwlock_unlock(&shelf) == 0);
	CHECK(pthread_rwlock_destroy(&shelf) == 0);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void at_exit(void)
{
	(void)write(1, "!", 1);
}

static void check_library(void)
{
	int numbers[] = { 5, 3, 9, -1, 3, 8, 0, 7 }, *found, five = 5, fd[2], pid;
	char text[40], *rest, *copy = strdup("a b");
	FILE *file;

	qsort(numbers, 8, sizeof(int), by_value);
	CHECK(numbers[0] == -1 && numbers[1] == 0 && numbers[3] == 3 && numbers[7] == 9);
	found = bsearch(&five, numbers, 8, sizeof(int), by_value);
	CHECK(found == &numbers[4] && *found == 5);
	errno = 0;
	CHECK(strtol("9223372036854775807", NULL, 10) == LONG_MAX && errno == 0 &&
	      strtol("9223372036854775808", NULL, 10) == LONG_MAX && errno == ERANGE);
	CHECK(strtol("-9223372036854775808", NULL, 10) == LONG_MIN &&
	      strtoul("0xFFFFFFFFFFFFFFFF", NULL, 16) == ULONG_MAX);
	CHECK(snprintf(text, sizeof(text), "%.2f %5.1e %g", 2.5, 1234.5, 0.1) == 16 &&
	      !strcmp(text, "2.50 1.2e+03 0.1"));
	CHECK(!strcmp(strtok_r(copy, " ", &rest), "a") &&
	      !strcmp(strtok_r(NULL, " ", &rest), "b") && !strtok_r(NULL, " ", &rest));
	CHECK(strstr("one two", "two") && !strstr("one", "two") && strspn("aab", "a") == 2 &&
	      isalpha('x') && toupper('x') == 'X');
	file = fopen("frame.pgm", "r");
	CHECK(file && fgets(text, sizeof(text), file) && !strcmp(text, "P5\n") &&
	      fclose(file) == 0);
	CHECK(!fopen("frame.pgm", "w") && errno == EROFS && !fopen("nothing", "r") &&
	      errno == ENOENT && fprintf(stderr, "%s", "") == 0);
	CHECK(!malloc((size_t)1 << 50) && errno == ENOMEM && !getenv("PATH"));
	CHECK(pipe(fd) == 0);
	pid = fork();
	if (!pid) {
		(void)dup2(fd[1], 1);
		(void)atexit(at_exit);
		exit(3);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 3 && read(fd[0], text, 2) == 1 && text[0] == '!');
	pid = fork();
	if (!pid) {
		(void)dup2(fd[1], 2);
		errno = ENOENT;
		perror("a file");
		(void)write(2, "!", 1);
		exit(errno == ENOENT ? 0 : 1);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 0 && read(fd[0], text, sizeof(text)) > 8 &&
	      !strncmp(text, "a file: ", 8));
	CHECK(close(fd[0]) == 0 && close(fd[1]) == 0);
	free(copy);
}

/* A program may use Quest's own names for its own functions. */
int meminfo(struct meminfo *info)
{
	info->total_kib = 1;
	return 4711;
}

int main(int argc, char **argv)
{
	struct meminfo info;

	if (argc == 3 && !strcmp(argv[1], "exec"))
		return !strcmp(argv[2], "two words") ? 42 : 1;
	check_calls();
	check_exec();
	check_time();
	check_errno();
	check_keys();
	check_attributes();
	check_rwlocks_and_barriers();
	check_library();
	CHECK(meminfo(&info) == 4711);
	assert(right > 0);
	return checked("posix");
}
