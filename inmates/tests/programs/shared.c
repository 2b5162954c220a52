// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared: checks that shared memory does what quest.h says. Prints a line for each failure; the
 * last line has the count.
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
		at = attach(id);		/* fork() does not copy the attachment */
		while (at[0] != 1)
			(void)usleep(1000);
		at[2] = at[1] + 1;
		_exit(go);
	}
	at[0] = 1;
	CHECK(status_of(pid) == 1 << 8 && at[2] == 78);
	/* memory that is attached already stays attached */
	CHECK(shared_mem_free(id) == 0 && shared_mem_free(id) == -EINVAL && at[2] == 78);
	CHECK((long)shared_mem_attach(id) == -EINVAL && shared_mem_detach((void *)at) == 0);
	CHECK(shared_mem_detach((void *)at) == -EINVAL && shared_mem_detach(NULL) == -EINVAL);
}

/*
 * A child that accesses it without attaching it is killed, and so is a child that accesses it after
 * exec().
 */
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

static int up[2], first[2], second[2];

static void grandchild(int id)
{
	char *argv[] = { "shared", "idle", NULL };
	volatile int *at = shared_mem_attach(id);
	char go;

	(void)write(up[1], &id, sizeof(id));
	(void)read(second[0], &go, 1);
	at[4] = at[3] + 1;			/* the program that made the memory has ended */
	id = at[4];
	(void)write(up[1], &id, sizeof(id));
	_exit(exec("shared", argv));
}

static void child(void)
{
	int id = shared_mem_alloc(BYTES);
	volatile int *at = shared_mem_attach(id);
	char go;

	at[3] = 3;
	if (!fork())
		grandchild(id);
	(void)read(first[0], &go, 1);
	_exit(0);
}

/*
 * The memory exists after its creator has ended, while it is attached. No other program can attach
 * it then.
 */
static void check_left_behind(void)
{
	int id = -1, pid, value = 0;

	CHECK(pipe(up) == 0 && pipe(first) == 0 && pipe(second) == 0);
	pid = fork();
	if (!pid)
		child();
	(void)close(up[1]);
	CHECK(quest_read(up[0], &id, sizeof(id)) == sizeof(id) &&
	      (long)shared_mem_attach(id) == -EPERM);
	CHECK(quest_write(first[1], "", 1) == 1 && status_of(pid) == 0 &&
	      (long)shared_mem_attach(id) == -EINVAL);
	CHECK(write(second[1], "", 1) == 1 && read(up[0], &value, sizeof(value)) == sizeof(value) &&
	      value == 4);
	CHECK(read(up[0], &value, 1) == 0);	/* the child has ended now */
	for (pid = 3; pid < 11; pid++)
		(void)close(pid);
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
	CHECK(quest_write(1, (void *)0x40003C000000, 0) == 0 && quest_read(3, NULL, 0) == -EBADF);
	for (i = 1; i < 8; i++)
		CHECK(shared_mem_free(id[i]) == 0);
	at = shared_mem_attach(id[0]);
	CHECK((long)at == -EMFILE && shared_mem_detach((void *)0x40003C000000) == 0);
	at = shared_mem_attach(id[0]);
	CHECK(at == (void *)0x40003C000000);	/* the first free address */
	memset(at, 1, 1 << 20);
	/* the program's end frees the memory that is still attached */
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
