// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared: is shared memory as quest.h says? One line for each thing that is not so; the last line counts.
 */
#include <quest.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

#define BYTES	10000

static volatile int *attach(int id)
{
	volatile int *at = shared_mem_attach(id);

	CHECK(!failed((const void *)at));
	return at;
}

static void check_child(void)
{
	int id = shared_mem_alloc(BYTES), pid, go;
	volatile int *at = attach(id);

	CHECK(id >= 0 && at[0] == 0 && at[BYTES / 4] == 0);
	at[1] = 77;
	pid = fork();
	if (!pid) {
		go = shared_mem_free(id) == -EPERM;
		at = attach(id);		/* fork() has not brought it along */
		while (at[0] != 1)
			(void)usleep(1000);
		at[2] = at[1] + 1;
		_exit(go);
	}
	at[0] = 1;
	CHECK(status_of(pid) == 1 << 8 && at[2] == 78);
	CHECK(shared_mem_free(id) == 0 && shared_mem_free(id) == -EINVAL && at[2] == 78);	/* what is attached stays */
	CHECK((long)shared_mem_attach(id) == -EINVAL && shared_mem_detach((void *)at) == 0);
	CHECK(shared_mem_detach((void *)at) == -EINVAL && shared_mem_detach(NULL) == -EINVAL);
}

/* A child that touches it without having attached it is killed, and so is one that does after exec(). */
static void check_not_inherited(void)
{
	int id = shared_mem_alloc(1), pid;
	volatile int *at = attach(id);

	pid = fork();
	if (!pid)
		_exit(at[0]);
	CHECK(status_of(pid) == SIGSEGV);
	CHECK(shared_mem_detach((void *)at) == 0);
	pid = fork();
	if (!pid)
		_exit(at[0]);
	CHECK(status_of(pid) == SIGSEGV && shared_mem_free(id) == 0);
}

/* It outlives its maker while it is attached, and nobody else can get at it then. */
static void check_left_behind(void)
{
	char *argv[] = { "shared", "idle", NULL };
	int fd[2], id = -1, pid;
	volatile int *at;

	CHECK(pipe(fd) == 0);
	pid = fork();
	if (!pid) {
		id = shared_mem_alloc(BYTES);
		at = attach(id);
		at[3] = 3;
		if (!fork()) {
			at = attach(id);
			(void)write(fd[1], &id, sizeof(id));
			(void)usleep(20000);	/* the parent ends meanwhile */
			at[4] = at[3];
			_exit(exec("shared", argv));
		}
		(void)usleep(5000);
		_exit(0);
	}
	CHECK(read(fd[0], &id, sizeof(id)) == sizeof(id));
	CHECK((long)shared_mem_attach(id) == -EPERM && status_of(pid) == 0 && (long)shared_mem_attach(id) == -EINVAL);
	(void)usleep(40000);
	CHECK(close(fd[0]) == 0 && close(fd[1]) == 0);
}

static void check_limits(void)
{
	int id[9], n, i;
	void *at;

	CHECK(shared_mem_alloc(0) == -EINVAL && shared_mem_alloc((1 << 20) + 1) == -EINVAL);
	for (n = 0; n < 9 && (id[n] = shared_mem_alloc(n ? 1 : 1 << 20)) >= 0; n++)
		CHECK(!failed(shared_mem_attach(id[n])));
	CHECK(n == 8 && id[8] == -EAGAIN && (long)shared_mem_attach(id[0]) == -EMFILE);
	CHECK((long)shared_mem_attach(-1) == -EINVAL && (long)shared_mem_attach(32) == -EINVAL);
	CHECK(write(1, (void *)0x40003C000000, 0) == 0 && read(3, NULL, 0) == -EBADF);
	for (i = 1; i < 8; i++)
		CHECK(shared_mem_free(id[i]) == 0);
	at = shared_mem_attach(id[0]);
	CHECK((long)at == -EMFILE && shared_mem_detach((void *)0x40003C000000) == 0);
	at = shared_mem_attach(id[0]);
	CHECK(at == (void *)0x40003C000000);	/* where there is room again */
	memset(at, 1, 1 << 20);
	/* and the rest goes with us */
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "idle"))
		return 0;
	check_child();
	check_not_inherited();
	check_left_behind();
	check_limits();
	return checked("shared");
}
