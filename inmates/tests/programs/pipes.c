// SPDX-License-Identifier: GPL-2.0-only
/*
 * pipes: checks that pipes and copied descriptors do what quest.h says. Prints a line for each
 * failure; the last line has the count. pipes flood: writes until it is killed.
 */
#include <quest.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

#define MANY		200000		/* number of bytes, more than the 4096 that a pipe holds */
#define KERNEL_ADDRESS	((void *)0x100000)

static unsigned char bytes[3000];

static void check_ends(void)
{
	char text[8] = "";
	int fd[2] = { -1, -1 };

	CHECK(pipe(fd) == 0 && fd[0] == 3 && fd[1] == 4);
	CHECK(write(fd[1], "abcdef", 6) == 6 && read(fd[0], text, 4) == 4 && !strcmp(text, "abcd"));
	CHECK(read(fd[0], text, 8) == 2 && text[0] == 'e' && read(fd[0], text, 0) == 0 &&
	      write(fd[1], text, 0) == 0);
	CHECK(quest_write(fd[0], "x", 1) == -EBADF && quest_read(fd[1], text, 1) == -EBADF &&
	      quest_lseek(fd[0], 0, SEEK_SET) == -ESPIPE);
	CHECK(quest_write(fd[1], KERNEL_ADDRESS, 1) == -EFAULT && quest_write(fd[1], "y", 1) == 1);
	CHECK(quest_read(fd[0], KERNEL_ADDRESS, 1) == -EFAULT && quest_read(fd[0], text, 1) == 1 &&
	      text[0] == 'y');
	CHECK(quest_write(fd[1], "z", 1) == 1 && quest_close(fd[1]) == 0 &&
	      quest_close(fd[1]) == -EBADF);
	CHECK(read(fd[0], text, 8) == 1 && text[0] == 'z' && read(fd[0], text, 8) == 0 &&
	      close(fd[0]) == 0);
	CHECK(quest_pipe(KERNEL_ADDRESS) == -EFAULT && quest_pipe(fd) == 0 && fd[0] == 3 &&
	      quest_close(fd[0]) == 0 && quest_close(fd[1]) == 0);
}

/* Sends more than a pipe holds from one program to another, in pieces of odd lengths. */
static void check_flow(void)
{
	unsigned long i, n, sum = 0, total = 0;
	long got;
	int fd[2], pid;

	CHECK(pipe(fd) == 0);
	pid = fork();
	if (!pid) {
		(void)close(fd[0]);
		for (i = 0; i < MANY; i += n) {
			for (n = 0; n < 1 + i % sizeof(bytes) && i + n < MANY; n++)
				bytes[n] = (unsigned char)((i + n) * 7);
			if (write(fd[1], bytes, n) != (long)n)
				_exit(1);
		}
		_exit(0);
	}
	(void)close(fd[1]);
	while ((got = read(fd[0], bytes, 700)) > 0)
		for (n = 0; n < (unsigned long)got; n++, total++)
			sum += bytes[n] == (unsigned char)(total * 7);
	CHECK(got == 0 && total == MANY && sum == MANY && status_of(pid) == 0 && close(fd[0]) == 0);
}

/* A program that only uses its standard output writes to the pipe. */
static void check_exec(void)
{
	char *argv[] = { "hello", "the pipe", NULL }, text[64] = "";
	int fd[2], pid, n = 0;
	long got;

	CHECK(pipe(fd) == 0);
	pid = fork();
	if (!pid) {
		if (dup2(fd[1], 1) != 1 || close(fd[0]) || close(fd[1]))
			_exit(9);
		_exit(exec("hello", argv));
	}
	(void)close(fd[1]);
	while ((got = read(fd[0], text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += (int)got;
	CHECK(!strcmp(text, "hello from the pipe\n") && status_of(pid) == 0 && close(fd[0]) == 0);
}

static void check_broken(void)
{
	int fd[2], pid;

	CHECK(pipe(fd) == 0);
	pid = fork();
	if (!pid) {
		(void)close(fd[0]);
		(void)usleep(3000);
		for (;;)
			(void)write(fd[1], bytes, sizeof(bytes));
	}
	(void)close(fd[1]);
	CHECK(read(fd[0], bytes, 1) == 1 && close(fd[0]) == 0 && status_of(pid) == SIGPIPE);
}

static void check_copies(void)
{
	char text[4] = "";
	int fd[2], fds, other;

	CHECK(pipe(fd) == 0);
	CHECK(dup(fd[1]) == 5 && close(fd[1]) == 0 && write(5, "hi", 2) == 2 &&
	      read(fd[0], text, 4) == 2);
	CHECK(dup2(5, 7) == 7 && dup2(7, 7) == 7 && close(5) == 0 && write(7, "ho", 2) == 2 &&
	      read(fd[0], text, 4) == 2);
	CHECK(quest_dup(99) == -EBADF && quest_dup2(99, 4) == -EBADF &&
	      quest_dup2(7, 11) == -EBADF && quest_dup2(7, -1) == -EBADF &&
	      quest_dup(-1) == -EBADF);
	/* after this close, no write end is open */
	CHECK(dup2(fd[0], 7) == 7 && read(7, text, 1) == 0);
	CHECK(close(7) == 0 && close(fd[0]) == 0);
	CHECK(close(0) == 0 && open("frame.pgm", O_RDONLY) == 0 && read(0, text, 2) == 2 &&
	      text[0] == 'P');
	CHECK(dup2(2, 0) == 0 && write(0, "", 0) == 0 && close(0) == 0);
	for (fds = 0; pipe(fd) == 0; fds++)
		;
	CHECK(fds == 4 && (other = quest_dup(2)) >= 0 && quest_pipe(fd) == -EMFILE &&
	      quest_dup(2) == -EMFILE);
	for (fds = 0; fds < 11; fds++)
		if (fds != 1 && fds != 2)
			(void)close(fds);
}

static int shared[2];
static unsigned char large[64 << 10];

static void *close_soon(void *unused)
{
	(void)usleep(5000);
	(void)close(shared[0]);
	return unused;
}

/* A waiting process can be killed, and a waiter returns if another thread closes the descriptor. */
static void check_waiters(void)
{
	pthread_t t;
	int pid;

	CHECK(pipe(shared) == 0);
	pid = fork();
	if (!pid)
		_exit((int)read(shared[0], bytes, 1));
	(void)usleep(3000);
	CHECK(kill(pid, SIGKILL) == 0 && status_of(pid) == SIGKILL);
	/* the process may be killed before it has written: then this byte ends the loop of reads */
	CHECK(write(shared[1], bytes, 1) == 1);
	pid = fork();
	if (!pid)
		for (;;)
			(void)write(shared[1], bytes, sizeof(bytes));
	(void)usleep(3000);
	CHECK(kill(pid, SIGKILL) == 0 && status_of(pid) == SIGKILL);
	while (read(shared[0], bytes, sizeof(bytes)) == sizeof(bytes))
		;
	CHECK(pthread_create(&t, NULL, close_soon, NULL) == 0);
	CHECK(quest_read(shared[0], bytes, 1) == -EBADF && pthread_join(t, NULL) == 0 &&
	      quest_close(shared[1]) == 0);
}

/*
 * A piece of up to PIPE_BUF bytes is not mixed with other pieces, although several programs write.
 */
static void check_pieces(void)
{
	char piece[PIPE_BUF];
	int fd[2], i, whole = 0;
	long got, n;

	CHECK(pipe(fd) == 0);
	for (i = 0; i < 3; i++) {
		if (fork())
			continue;
		memset(piece, 'a' + i, sizeof(piece));
		for (n = 0; n < 40; n++)
			(void)write(fd[1], piece, sizeof(piece));
		_exit(0);
	}
	(void)close(fd[1]);
	for (;;) {
		for (n = 0; n < PIPE_BUF; n += got) {
			got = read(fd[0], piece + n, (size_t)(PIPE_BUF - n));
			if (got <= 0)
				break;
		}
		if (n < PIPE_BUF)
			break;
		for (i = 1; i < PIPE_BUF && piece[i] == piece[0]; i++)
			;
		whole += i == PIPE_BUF;
	}
	CHECK(whole == 120 && n == 0);
	for (i = 0; i < 3; i++)
		CHECK(wait(NULL) > 0);
	CHECK(close(fd[0]) == 0);
}

static void *reads_all(void *unused)
{
	while (read(shared[0], bytes, sizeof(bytes)) > 0)
		;
	return unused;
}

/*
 * A program ends at whichever point of its calls it is killed, although its other thread, for which
 * a call waits, has ended first. The thread that kills is on a VCPU, so it interrupts the calls.
 */
static void check_kills(void)
{
	const struct sched_param own = { .type = MAIN_VCPU, .C = 1, .T = 5 };
	int id = vcpu_create(&own), round, pid, killed = 0;
	pthread_t t;

	CHECK(id >= 0 && vcpu_bind_task(id) == 0);
	for (round = 0; round < 100; round++) {
		pid = fork();
		if (!pid) {
			CHECK(pipe(shared) == 0 && pthread_create(&t, NULL, reads_all, NULL) == 0);
			for (;;)
				(void)write(shared[1], large, sizeof(large));
		}
		(void)usleep(10000 + round * 37);
		killed += kill(pid, SIGKILL) == 0 && status_of(pid) == SIGKILL;
	}
	CHECK(killed == 100);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "flood"))
		for (;;)
			printf("more ");
	check_ends();
	check_flow();
	check_exec();
	check_broken();
	check_waiters();
	check_pieces();
	check_copies();
	check_kills();
	return checked("pipes");
}
