// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls: checks that each system call does what quest.h says. Prints a line for each failure; the
 * last line has the count.
 */
#include <math.h>
#include <quest.h>
#include <quest/calls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

#define KERNEL_ADDRESS	((void *)0x100000)
#define FPU_ROUNDS	2000000
#define WAIT(w)		quest_syscall(CALL_ipc_wait, (long)(w), 0, 0)

#define NUMBER(number, name, args) CALL_##name = number,
enum { QUEST_CALLS(NUMBER) };

static void check_processes(void)
{
	int pid = fork(), status = 0;

	if (!pid)
		_exit(300 + 7);
	CHECK(pid > 0 && pid != getpid());
	status = status_of(pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (307 & 255));
	CHECK(quest_waitpid(pid, &status, 0) == -ECHILD && quest_waitpid(-1, NULL, 0) == -ECHILD);
	CHECK(WEXITSTATUS(status) == (307 & 255));	/* unchanged */
	CHECK(quest_waitpid(-1, KERNEL_ADDRESS, 0) == -EFAULT &&
	      quest_waitpid(-1, NULL, 77) == -EINVAL);
	pid = fork();
	if (!pid)
		for (;;)
			(void)usleep(1000000);
	CHECK(waitpid(pid, &status, WNOHANG) == 0 && kill(pid, 0) == 0 &&
	      WEXITSTATUS(status) == (307 & 255));
	CHECK(quest_kill(pid, SIGTERM) == 0 && status_of(pid) == SIGTERM &&
	      quest_kill(pid, SIGTERM) == -ESRCH);
	CHECK(quest_kill(getpid(), 99) == -EINVAL && quest_kill(0, SIGKILL) == -ESRCH);
}

/* A child must not be able to end its parent. */
static void check_rights(void)
{
	int parent = getpid(), pid = fork();

	if (!pid)
		_exit(quest_kill(parent, SIGKILL) == -EPERM ? 1 : 2);
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
}

static void check_exec(void)
{
	char *argv[] = { "again", "exec", "two words", NULL };
	char *endless[20];
	int pid = fork(), i;

	if (!pid)
		_exit(exec("calls", argv) == 0);
	CHECK(status_of(pid) == 42 << 8);
	for (i = 0; i < 19; i++)
		endless[i] = "word";
	endless[19] = NULL;
	CHECK(exec("calls", endless) == -E2BIG && exec("no-such-program", argv) == -ENOENT);
	CHECK(exec("frame.pgm", argv) == -ENOEXEC && exec(KERNEL_ADDRESS, argv) == -EFAULT);
	CHECK(exec("calls", KERNEL_ADDRESS) == -EFAULT);
	CHECK(exec("a-name-of-more-than-thirty-one-bytes", argv) == -ENAMETOOLONG);
}

static double series(void)
{
	double sum = 0;
	int i;

	for (i = 1; i < FPU_ROUNDS; i++)
		sum += sqrt(i) / i;
	return sum;
}

static double sums[4];

static void *add_up(void *arg)
{
	sums[(long)arg] = series();
	return (void *)((long)arg + 100);
}

/* Threads and a child calculate at the same time. None of them sees registers of another one. */
static void check_threads(void)
{
	pthread_t t[3];
	void *result;
	long i;
	int pid;

	for (i = 0; i < 3; i++)
		CHECK(pthread_create(&t[i], NULL, add_up, (void *)i) == 0);
	pid = fork();
	sums[3] = series();
	if (!pid)
		_exit(sums[3] == series());
	CHECK(t[0] != pthread_self());
	for (i = 0; i < 3; i++) {
		CHECK(pthread_join(t[i], &result) == 0 && result == (void *)(i + 100));
		CHECK(sums[i] == sums[3]);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
	CHECK(pthread_join(t[0], NULL) == ESRCH && pthread_join(1000, NULL) == ESRCH);
	CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
}

static void *wait_long(void *arg)
{
	(void)usleep(100000000);
	return arg;
}

/* Exits with 1 if fifteen more threads can exist. */
static void have_all_threads(void)
{
	char *argv[] = { "calls", NULL };
	pthread_t t;
	int n, error;

	for (n = 0; (error = pthread_create(&t, NULL, wait_long, NULL)) == 0; n++)
		;
	_exit(n == 15 && error == EAGAIN && exec("calls", argv) == -EBUSY);
}

/*
 * Counts the threads that a program may have. Then counts the threads that a child may have, if one
 * of several threads forked it.
 */
static void check_limits(void)
{
	pthread_t t;
	int pid = fork();

	if (!pid)
		have_all_threads();
	/* this call of _exit() ends all sixteen threads */
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
	pid = fork();
	if (!pid) {
		if (pthread_create(&t, NULL, wait_long, NULL))
			_exit(2);
		pid = fork();
		if (!pid)
			have_all_threads();
		_exit(WEXITSTATUS(status_of(pid)));
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
}

static volatile int done;
static long third;		/* free memory in whole MiB */

static void *wait_always(void *arg)
{
	while (!done)
		(void)waitpid(-1, NULL, 0);
	return arg;
}

static void *move_heap(void *arg)
{
	char *at = sbrk(third / 4);
	long i;

	if (failed(at))
		return NULL;
	for (i = 0; i < third / 4; i += 4096)
		*(void **)(at + i) = arg;
	for (i = 0; i < third / 4; i += 4096)
		if (*(void **)(at + i) != arg)
			return NULL;
	return at;
}

/*
 * Threads that move the heap at the same time get different memory. A thread that waits for a
 * failing fork returns.
 */
static void check_races(void)
{
	struct meminfo info;
	pthread_t t[4];
	void *result;
	long i;

	(void)meminfo(&info);
	third = (long)(info.free_kib / 3 / 1024) << 20;
	for (i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, move_heap, (void *)(i + 1)) == 0);
	for (i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], &result) == 0 && result);
	CHECK(!failed(sbrk(third)));
	CHECK(pthread_create(&t[0], NULL, wait_always, NULL) == 0);
	for (i = 0; i < 12; i++)
		CHECK(quest_fork() == -ENOMEM);
	done = 1;
	CHECK(pthread_join(t[0], NULL) == 0);
	CHECK(!failed(sbrk(-(third / 4 * 4 + third))));
}

/* The kernel ignores the upper half of a register that holds an int. */
static void check_ints(void)
{
	const long junk = 0x123400000000;
	int fd = open("frame.pgm", O_RDONLY), id = vcpu_create_main(1, 200);

	CHECK(quest_syscall(13, (long)"frame.pgm", junk, 0) == fd + 1 &&
	      quest_syscall(14, junk + fd + 1, 0, 0) == 0);
	CHECK(quest_syscall(17, junk + fd, 2, junk) == 2 &&
	      quest_syscall(17, fd, 0, 3) == -EINVAL && quest_close(fd) == 0);
	CHECK(quest_syscall(6, getpid(), junk, 0) == 0 && quest_kill(getpid(), -1) == -EINVAL);
	CHECK(vcpu_bind_task(id) == 0 && quest_syscall(25, id, junk, 0) == -EBUSY &&
	      vcpu_destroy(id, 1) == 0);
}

static unsigned int segments(void)
{
	unsigned int fs, gs;

	__asm__ volatile("movl %%fs, %0; movl %%gs, %1" : "=r"(fs), "=r"(gs));
	return fs | gs;
}

/* A program cannot read another program's segment registers. */
static void check_segments(void)
{
	unsigned int seen = 0;
	int pid = fork(), i;

	if (!pid)
		for (;;)
			__asm__ volatile("movl %0, %%fs; movl %0, %%gs" : : "r"(0x1B));
	for (i = 0; i < 20; i++) {
		(void)usleep(5000);
		seen |= segments();
	}
	CHECK(!seen && kill(pid, SIGKILL) == 0 && status_of(pid) == SIGKILL);
}

static void check_memory(void)
{
	char *at = sbrk(10000), *a, *b;
	struct meminfo info;
	int fits;

	CHECK(!failed(at) && at[0] == 0 && at[9999] == 0);
	memset(at, 1, 10000);
	CHECK((char *)sbrk(0) == at + 10000 && sbrk(-10000) == at + 10000 && sbrk(0) == at);
	CHECK((long)quest_sbrk(1l << 40) == -ENOMEM && (long)quest_sbrk(-(1l << 40)) == -EINVAL);
	CHECK(meminfo(&info) == 0 && info.free_kib < info.total_kib && info.own_kib > 64);
	CHECK(meminfo(KERNEL_ADDRESS) == -EFAULT && meminfo(NULL) == -EFAULT);
	a = malloc(100);
	b = malloc(5000);
	fits = a && b && a != b && !((long)a & 15) && !((long)b & 15);
	CHECK(fits);
	free(a);
	CHECK(malloc(90) == a);
	free(a);
	free(b);
	CHECK(!malloc(1l << 50) && !calloc(1l << 40, 1l << 40));
}

static void check_files(void)
{
	char head[3] = { 0 };
	int fd = open("frame.pgm", O_RDONLY), other;
	long size;

	CHECK(fd >= 3 && read(fd, head, 2) == 2 && !strcmp(head, "P5"));
	size = lseek(fd, 0, SEEK_END);
	CHECK(size > 1000 && read(fd, head, 2) == 0 && lseek(fd, -1, SEEK_CUR) == size - 1 &&
	      read(fd, head, 2) == 1);
	CHECK(quest_lseek(fd, -1, SEEK_SET) == -EINVAL && quest_lseek(fd, 0, 9) == -EINVAL);
	CHECK(quest_lseek(fd, 0x7FFFFFFFFFFFFFFF, SEEK_CUR) == -EINVAL &&
	      quest_lseek(fd, 1l << 40, SEEK_SET) == 1l << 40);
	CHECK(quest_read(fd, head, 2) == 0 && quest_lseek(fd, 0, SEEK_SET) == 0 &&
	      quest_read(fd, KERNEL_ADDRESS, 2) == -EFAULT);
	CHECK(quest_write(fd, head, 1) == -EROFS && quest_write(99, head, 1) == -EBADF &&
	      quest_write(0, head, 1) == -EBADF);
	CHECK(quest_write(1, KERNEL_ADDRESS, 1) == -EFAULT && quest_write(1, head, 0) == 0);
	CHECK(quest_open("frame.pgm", 1) == -EROFS && quest_open("nothing", O_RDONLY) == -ENOENT &&
	      quest_open(NULL, O_RDONLY) == -EFAULT);
	while ((other = quest_open("frame.pgm", O_RDONLY)) >= 0)
		;
	CHECK(other == -EMFILE && quest_close(fd) == 0 && quest_close(fd) == -EBADF &&
	      quest_open("frame.pgm", O_RDONLY) == fd);
	for (fd = 3; quest_close(fd) == 0; fd++)
		;
	CHECK(fd == 11);
}

static void check_time(void)
{
	struct timeval a, b;
	struct quest_tms used;
	struct quest_utsname name;

	CHECK(gettimeofday(&a, NULL) == 0 && usleep(20000) == 0 && gettimeofday(&b, NULL) == 0);
	CHECK((b.tv_sec - a.tv_sec) * 1000000 + b.tv_usec - a.tv_usec >= 20000);
	CHECK(quest_usleep(~0ul) == -EINVAL && quest_gettimeofday(&a, &b) == -EINVAL &&
	      quest_gettimeofday(NULL, NULL) == -EFAULT);
	CHECK(quest_times(&used) == 0 && used.tms_utime > 0 && used.tms_cutime > 0);
	CHECK(quest_uname(&name) == 0 && !strcmp(name.sysname, "Quest") && name.nodename[0]);
}

static void check_vcpus(void)
{
	struct sched_param p = { .type = MAIN_VCPU, .C = 2, .T = 100 }, q;
	int id = vcpu_create(&p), other = vcpu_create_main(3, 150), pid;

	CHECK(id > 0 && other > 0 && other != id);
	CHECK(vcpu_bind_task(id) == 0 && vcpu_getparams(&q) == 0 && q.C == 2 && q.T == 100 &&
	      q.type == MAIN_VCPU);
	CHECK(vcpu_destroy(id, 0) == -EBUSY);
	p.C = 4;
	CHECK(vcpu_setparams(id, &p) == 0 && vcpu_getparams(&q) == 0 && q.C == 4);
	p.C = 99;
	CHECK(vcpu_setparams(id, &p) == -EADMIT && vcpu_create(&p) == -EADMIT &&
	      vcpu_getparams(&q) == 0 && q.C == 4);
	CHECK(vcpu_create_main(0, 10) == -EINVAL && vcpu_create_main(20, 10) == -EINVAL &&
	      vcpu_create_main(1, -1) == -EINVAL);
	CHECK(vcpu_create(NULL) == -EFAULT && vcpu_setparams(id, NULL) == -EFAULT &&
	      vcpu_getparams(NULL) == -EFAULT);
	CHECK(vcpu_bind_task(1) == -ENOVCPU && vcpu_bind_task(9999) == -ENOVCPU &&
	      vcpu_destroy(0, 1) == -EPERM);
	pid = vcpu_fork(other);
	if (!pid) {
		(void)vcpu_getparams(&q);
		_exit(q.C == 3 && q.T == 150 && vcpu_destroy(other, 1) == -EPERM &&
		      vcpu_bind_task(id) == 0);
	}
	CHECK(pid > 0 && WEXITSTATUS(status_of(pid)) == 1);
	CHECK(vcpu_fork(9999) == -ENOVCPU);
	CHECK(vcpu_destroy(id, 1) == 0 && vcpu_getparams(&q) == 0 && q.C == 10 &&
	      vcpu_destroy(id, 1) == -ENOVCPU);
	p.C = 3;
	CHECK(quest_sched_setparam(9999, &p) == -ESRCH &&
	      quest_sched_setparam(-1, NULL) == -EFAULT);
	CHECK(vcpu_destroy(other, 0) == 0);
}

/* A program that started on its own VCPU may destroy it and create another with its budget. */
static void check_vcpu_given_up(void)
{
	struct sched_param p;
	uint64_t left = ~0ul, later;
	int id = vcpu_current(NULL), pid;

	CHECK(vcpu_current(KERNEL_ADDRESS) == -EFAULT);
	CHECK(vcpu_current(&left) == id && vcpu_getparams(&p) == 0 &&
	      left <= (uint64_t)p.C * (p.unit == VCPU_MS ? 1000 : 1));
	pid = vcpu_fork(vcpu_create_main(1, 700));
	if (!pid) {
		id = vcpu_current(&left);
		(void)vcpu_current(&later);
		_exit(id > 0 && left <= 1000 && later <= left && vcpu_destroy(id, 1) == -EPERM &&
		      vcpu_bind_task(0) == 0 && vcpu_current(NULL) == 0);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
	if (id == BEST_EFFORT_VCPU)
		return;			/* no VCPU was left when the shell started this program */
	CHECK(vcpu_destroy(id, 0) == -EBUSY && vcpu_destroy(id, 1) == 0 &&
	      vcpu_current(NULL) == BEST_EFFORT_VCPU);
	id = vcpu_create(&p);
	CHECK(id > 0 && vcpu_bind_task(id) == 0 && vcpu_current(NULL) == id);
}

static void *budget(void *arg)
{
	struct sched_param p;

	(void)arg;
	(void)vcpu_getparams(&p);
	return (void *)(long)p.C;
}

/* Each rule, with a demand within C. A VCPU that other threads have too gives no bound. */
static void check_ipc_wait(void)
{
	struct quest_ipc_wait w = { .demand_ns = 1000000 }, none = { .demand_ns = 1, .sleeps = 2 };
	int id = vcpu_create_main(2, 400), was = vcpu_current(NULL);

	CHECK(vcpu_bind_task(id) == 0 && WAIT(&w) == 0 && w.paper_ns >= 399000000 &&
	      w.paper_ns < 400000000 && w.now_ns >= w.paper_ns && w.any_ns >= 797000000 &&
	      w.any_ns >= w.now_ns && w.wake_ns == 0);
	CHECK(WAIT(&none) == -EINVAL && WAIT(KERNEL_ADDRESS) == -EFAULT);
	none = (struct quest_ipc_wait){ .demand_ns = UINT64_MAX };
	CHECK(WAIT(&none) == -EINVAL);
	CHECK(vcpu_bind_task(BEST_EFFORT_VCPU) == 0 && WAIT(&w) == -ENOVCPU);
	CHECK(vcpu_bind_task(was) == 0 && vcpu_destroy(id, 0) == 0);
}

/* A VCPU is destroyed while a child uses it: the child's new threads run at best effort. */
static void check_vcpu_gone(void)
{
	int id = vcpu_create_main(3, 150), pid = vcpu_fork(id);
	void *c = NULL;
	pthread_t t;

	if (!pid) {
		(void)usleep(50000);
		/* the new VCPU gets the id of the destroyed one */
		if (vcpu_create_main(4, 150) < 0)
			_exit(2);
		_exit(pthread_create(&t, NULL, budget, NULL) == 0 && pthread_join(t, &c) == 0 &&
		      c == (void *)10);
	}
	CHECK(id > 0 && pid > 0 && vcpu_destroy(id, 1) == 0 && WEXITSTATUS(status_of(pid)) == 1);
}

static volatile int doomed, begun;

static void *move_much(void *arg)
{
	begun++;
	(void)sbrk((long)arg);
	(void)sbrk(-(long)arg);
	return NULL;
}

static void *fork_there(void *arg)
{
	int pid;

	(void)arg;
	begun++;
	pid = vcpu_fork(doomed);
	if (!pid)
		_exit(0);
	return (void *)(long)(pid > 0 ? status_of(pid) : pid);
}

/* The VCPU is destroyed while a fork that is to run on it waits. */
static void check_vcpu_gone_in_fork(void)
{
	struct meminfo info;
	pthread_t t[2];
	void *result;
	int i;

	for (i = 0; i < 8; i++) {
		(void)meminfo(&info);
		doomed = vcpu_create_main(1, 500);
		begun = 0;
		CHECK(!pthread_create(&t[0], NULL, move_much,
				      (void *)(long)(info.free_kib / 2 * 1024)));
		CHECK(!pthread_create(&t[1], NULL, fork_there, NULL));
		while (begun < 2)
			(void)usleep(100);
		CHECK(vcpu_destroy(doomed, 1) == 0);
		CHECK(!pthread_join(t[0], NULL) && !pthread_join(t[1], &result));
		/* between the two calls of move_much(), half of the memory is in use */
		CHECK(!result || result == (void *)-ENOVCPU || result == (void *)-ENOMEM);
	}
}

/*
 * This program may use the best-effort VCPU and, if the shell could create one, the VCPU that it
 * started on.
 */
static void check_vcpus_of_others(void)
{
	struct sched_param p;
	int own = BEST_EFFORT_VCPU, usable = 0, id;

	for (id = 255; id >= 0; id--) {
		if (vcpu_bind_task(id))
			continue;
		usable++;
		if (vcpu_getparams(&p) == 0 && p.C == 20)
			own = id;
	}
	CHECK(usable == 1 + (own != BEST_EFFORT_VCPU) && vcpu_bind_task(own) == 0);
}

static void check_vcpu_limit(void)
{
	int id[17], n = 0, pid = fork();

	if (!pid) {
		do
			id[n] = vcpu_create_main(1, 1000000);
		while (id[n] >= 0 && ++n < 17);
		_exit(n == 16 && id[16] == -EAGAIN);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
}

/* Destroyed VCPUs count until what they have used would have been replenished. */
static void check_vcpus_that_are_gone(void)
{
	int id = 0, n, pid = fork();

	if (!pid) {
		for (n = 0; n < 17 && (id = vcpu_create_main(1, 1000000)) >= 0; n++)
			if (vcpu_bind_task(id) || vcpu_bind_task(BEST_EFFORT_VCPU) ||
			    vcpu_destroy(id, 0))
				_exit(2);
		_exit(n == 16 && id == -EAGAIN);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
}

/* All programs together may have eight. */
static void check_io_vcpu_limit(void)
{
	struct sched_param p = { .type = IO_VCPU, .C = 1, .T = 1000000 };
	int id, n = 0, pid = fork();

	if (!pid) {
		while ((id = vcpu_create(&p)) >= 0)
			n++;
		_exit(n == 8 && id == -EAGAIN && vcpu_create_main(1, 1000000) >= 0);
	}
	CHECK(WEXITSTATUS(status_of(pid)) == 1);
}

static void check_numbers(void)
{
	CHECK(quest_syscall(1000, 0, 0, 0) == -ENOSYS && quest_syscall(-1, 0, 0, 0) == -ENOSYS);
	CHECK(!memcmp(strerror(-ENOSYS), "there is no such", 16));
	CHECK(exp(0) == 1 && fabs(exp(1) - 2.718281828459045) < 1e-12 &&
	      fabs(exp(-20) * 485165195.40979 - 1) < 1e-12);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "exec"))
		return !strcmp(argv[0], "again") && !strcmp(argv[2], "two words") ? 42 : 1;
	check_processes();
	check_rights();
	check_exec();
	check_threads();
	check_limits();
	check_memory();
	check_races();
	check_files();
	check_ints();
	check_time();
	check_vcpus_of_others();
	check_vcpus();
	check_vcpu_given_up();
	check_ipc_wait();
	check_vcpu_gone();
	check_vcpu_gone_in_fork();
	check_vcpu_limit();
	check_io_vcpu_limit();
	check_vcpus_that_are_gone();
	check_segments();
	check_numbers();
	return checked("calls");
}
