// SPDX-License-Identifier: GPL-2.0-only
/*
 * worst [NAME|all [N]]: makes every system call with the arguments that keep the kernel busy
 * longest, in a loop in a child at best effort, or only the call NAME. Meanwhile a thread on a VCPU
 * of its own sleeps N times (400) for short times. Prints how late it wakes at most, in ns, next to
 * each call:
 *
 *   worst: NAME late=NS
 *
 * worst threads: waits, with all threads that a program can have.
 *
 * The first line is for a child without a system call. The table is made of QUEST_CALLS: without
 * its worst case here, a new call does not compile.
 */
#include <quest.h>
#include <quest/calls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <channel.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#define WAKE_UPS	400
#define LEAST_NS	100000
#define SPREAD_NS	200000
#define PERIOD_MS	5
#define MUCH		(4l << 20)
#define MIB		(1l << 20)
#define CHANNEL		"vshm-5"	/* of the fake cell */

#define NUMBER(number, name, args) CALL_##name = number,
enum { QUEST_CALLS(NUMBER) };
#define DO(name, a, b, c) quest_syscall(CALL_##name, (long)(a), (long)(b), (long)(c))

static char large[2 * MIB];		/* more than a pipe, a file or a line has */
static char pieces[128];
static uint32_t word;
static int channel, shared, vcpu;
static int both[2];			/* a pipe */

/* ---- the worst arguments ---- */

static void *waits(void *arg)
{
	for (;;)
		(void)usleep(1000000);
	return arg;
}

/* Starts all threads that a program can have. */
static void crowd(void)
{
	pthread_t t;

	while (!pthread_create(&t, NULL, waits, NULL))
		;
}

static void child_waits(void)
{
	crowd();
	(void)waits(NULL);
}

static int forked(void (*child)(void))
{
	int pid = fork();

	if (pid)
		return pid;
	child();
	_exit(0);
}

static void reap(int pid)
{
	if (pid > 0)
		(void)DO(waitpid, pid, 0, 0);
}

static void nothing(void)
{
}

static void *returns(void *arg)
{
	return arg;
}

static void *ends(void *arg)
{
	pthread_exit(arg);
}

static void thread_of(void *(*fn)(void *), int detach)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL))
		return;
	if (detach)
		(void)pthread_detach(t);
	else
		(void)pthread_join(t, NULL);
}

static const struct sched_param small = { .type = MAIN_VCPU, .C = 1, .T = 1000 };

static void worst__exit(void) { reap(forked(nothing)); }
static void worst_getpid(void) { (void)DO(getpid, 0, 0, 0); }
static void worst_fork(void) { reap(forked(nothing)); }

static void worst_vcpu_fork(void)
{
	int pid = vcpu_fork(vcpu);

	if (!pid)
		_exit(0);
	reap(pid);
}

static void exec_long(void)
{
	char *argv[16] = { "worst", "nothing" };
	int i;

	(void)memset(large, 'x', 70);
	large[70] = 0;
	for (i = 2; i < 14; i++)
		argv[i] = large;
	(void)DO(exec, "worst", argv, 0);
}

static void worst_exec(void) { reap(forked(exec_long)); }
static void worst_waitpid(void) { (void)DO(waitpid, -1, &word, 1); }

static void worst_kill(void)
{
	int pid = forked(child_waits);

	(void)DO(kill, pid, 9, 0);
	reap(pid);
}

static void worst_usleep(void) { (void)DO(usleep, 1, 0, 0); }
static void worst_gettimeofday(void) { (void)DO(gettimeofday, large, 0, 0); }
static void worst_times(void) { (void)DO(times, large, 0, 0); }

static void worst_sbrk(void)
{
	if (DO(sbrk, MUCH, 0, 0) > 0)
		(void)DO(sbrk, -MUCH, 0, 0);
}

static void worst_meminfo(void) { (void)DO(meminfo, large, 0, 0); }
static void worst_uname(void) { (void)DO(uname, large, 0, 0); }

static void read_file(long offset)
{
	int fd = (int)DO(open, "frame.pgm", 0, 0);

	(void)DO(lseek, fd, offset, 0);
	(void)DO(read, fd, large, sizeof(large));
	(void)DO(close, fd, 0, 0);
}

static void worst_open(void) { (void)DO(open, "a-name-that-no-file-has-at-all", 0, 0); }
static void worst_close(void) { read_file(1 << 30); }
static void worst_read(void) { read_file(0); }
static void worst_lseek(void) { read_file(1); }

static void *reads(void *arg)
{
	while (read(both[0], large + MIB, 4096) > 0)
		;
	return arg;
}

/* To a pipe, whose other end takes all, and to the console, which scrolls. */
static void worst_write(void)
{
	pthread_t t;

	if (pipe(both) || pthread_create(&t, NULL, reads, NULL))
		return;
	(void)DO(write, both[1], large, 64 << 10);
	(void)DO(close, both[1], 0, 0);
	(void)pthread_join(t, NULL);
	(void)DO(close, both[0], 0, 0);
	(void)DO(write, 1, pieces, sizeof(pieces));
}

static void worst_thread_create(void) { thread_of(returns, 0); }
static void worst_pthread_exit(void) { thread_of(ends, 0); }
static void worst_thread_join(void) { thread_of(returns, 0); }
static void worst_pthread_self(void) { (void)DO(pthread_self, 0, 0, 0); }
static void worst_pthread_detach(void) { thread_of(returns, 1); }

static void worst_vcpu_create(void)
{
	int id = (int)DO(vcpu_create, &small, 0, 0);

	if (id >= 0)
		(void)DO(vcpu_destroy, id, 1, 0);
}

static void worst_vcpu_create_main(void) { (void)DO(vcpu_create_main, 1000, 1000, 0); }

static void worst_vcpu_bind_task(void)
{
	(void)DO(vcpu_bind_task, vcpu, 0, 0);
	(void)DO(vcpu_bind_task, 0, 0, 0);
}

/* Its threads move to another VCPU. */
static void worst_vcpu_destroy(void)
{
	int id = (int)DO(vcpu_create, &small, 0, 0);

	(void)DO(vcpu_bind_task, id, 0, 0);
	(void)DO(vcpu_destroy, id, 1, 0);
}

static void worst_vcpu_getparams(void) { (void)DO(vcpu_getparams, large, 0, 0); }
static void worst_vcpu_setparams(void) { (void)DO(vcpu_setparams, vcpu, &small, 0); }
static void worst_sched_setparam(void) { (void)DO(sched_setparam, -1, &small, 0); }
static void worst_vcpu_current(void) { (void)DO(vcpu_current, large, 0, 0); }
static void worst_wait_word(void) { (void)DO(wait_word, &word, word, 1); }
static void worst_wake_words(void) { (void)DO(wake_words, 0, 0, 0); }

static void worst_wait_word_until(void)
{
	struct timespec past = { 0, 1 };

	(void)DO(wait_word_until, &word, word, &past);
}

static void worst_lock_word(void)
{
	struct timespec past = { 0, 1 };
	uint32_t lock = 0;

	(void)DO(lock_word, &lock, &past, 0);
	(void)DO(lock_word, &lock, &past, 0);
	(void)DO(unlock_word, &lock, 0, 0);
}

static void worst_unlock_word(void) { worst_lock_word(); }
static void worst_clock_gettime(void) { (void)DO(clock_gettime, CLOCK_MONOTONIC, large, 0); }

static void worst_clock_nanosleep(void)
{
	struct timespec t = { 0, 1000 };

	(void)DO(clock_nanosleep, CLOCK_MONOTONIC, 0, &t);
}

static void worst_pipe(void)
{
	int fd[2];

	if (DO(pipe, fd, 0, 0))
		return;
	(void)DO(close, fd[0], 0, 0);
	(void)DO(close, fd[1], 0, 0);
}

static void worst_dup(void) { (void)DO(close, DO(dup, 1, 0, 0), 0, 0); }
static void worst_dup2(void) { (void)DO(dup2, 1, 10, 0); }

static void worst_shared_mem_alloc(void)
{
	long id = DO(shared_mem_alloc, MIB, 0, 0);

	if (id >= 0)
		(void)DO(shared_mem_free, id, 0, 0);
}

static void worst_shared_mem_attach(void)
{
	long at = DO(shared_mem_attach, shared, 0, 0);

	if (at > 0)
		(void)DO(shared_mem_detach, at, 0, 0);
}

static void worst_shared_mem_detach(void) { worst_shared_mem_attach(); }
static void worst_shared_mem_free(void) { worst_shared_mem_alloc(); }

static void worst_channel_attach(void)
{
	long n = DO(channel_attach, CHANNEL, large, 0);

	if (n >= 0)
		(void)DO(channel_detach, n, 0, 0);
}

static void worst_channel_detach(void) { worst_channel_attach(); }

static void worst_channel_sleep(void)
{
	struct timespec past = { 0, 1 };

	(void)DO(channel_sleep, channel, 0, &past);
}

static void worst_channel_ring(void) { (void)DO(channel_ring, channel, 0, 0); }

static void worst_channel_open_key(void)
{
	struct quest_key key = { .key = 1, .writes = 1, .type = QV_CHAN_MAILBOX, .item = 32,
				 .flags = QV_CHAN_BELL, .peer = "echo" };
	long n = DO(channel_open_key, &key, large, 0);

	if (n >= 0)
		(void)DO(channel_detach, n, 0, 0);
}

/* The request is refused, since the cell has no link. */
static void worst_vcpu_migration(void) { (void)DO(vcpu_migration, 0, DEST_ANY, MIG_RELAX); }
static void worst_vcpu_migration_status(void) { (void)DO(vcpu_migration_status, large, 0, 0); }

static void worst_vcpu_migration_dest(void)
{
	(void)DO(vcpu_migration_dest, "a cell that no link reaches", 0, 0);
}

/* Best effort has no bound, so the child takes a VCPU of its own. */
static void worst_ipc_wait(void)
{
	struct quest_ipc_wait w = { .demand_ns = 1ull << 40 };

	if (DO(ipc_wait, &w, 0, 0) == -ENOVCPU && vcpu >= 0)
		(void)DO(vcpu_bind_task, vcpu, 0, 0);
}

/* The cell of test_worst_calls.py has no network: test_net.py and test_tcp.py have one. */
static int socket_of(int type) { return (int)DO(socket, type, 0, 0); }
static void worst_socket(void) { (void)DO(close, socket_of(SOCK_STREAM), 0, 0); }

static void worst_socket_bind(void)
{
	struct quest_address port = { .port = 7 };
	int fd = socket_of(SOCK_DGRAM);

	(void)DO(socket_bind, fd, &port, 0);
	(void)DO(close, fd, 0, 0);
}

/* Returns a stream to the other end of test_tcp.py, which sends everything back; -1: none */
static int stream(void)
{
	struct quest_address to = { .ip = 0x6402000A, .port = 9 };
	static int fd = -1;

	if (fd < 0) {
		fd = socket_of(SOCK_STREAM);
		if (DO(socket_connect, fd, &to, 0)) {
			(void)DO(close, fd, 0, 0);
			fd = -1;
		}
	}
	return fd;
}

/* The longest datagram, to the other end of test_net.py, and a long piece of a stream */
static void worst_socket_send(void)
{
	struct quest_datagram d = {
		.data = (uintptr_t)large, .length = QUEST_DATAGRAM,
		.address = { .ip = 0x0107A8C0, .port = 9 },
	};
	int fd = socket_of(SOCK_DGRAM);

	(void)DO(socket_send, fd, &d, 0);
	(void)DO(close, fd, 0, 0);
	if (stream() < 0)
		return;
	d = (struct quest_datagram){ .data = (uintptr_t)large, .length = 10000 };
	(void)DO(socket_send, stream(), &d, 0);
	(void)DO(socket_receive, stream(), &d, 0);
}

/* Takes each datagram to port 9, or the bytes that come back by the stream */
static void worst_socket_receive(void)
{
	struct quest_datagram d = { .data = (uintptr_t)large, .length = QUEST_DATAGRAM };
	struct quest_address port = { .port = 9 };
	static int fd;

	if (stream() >= 0) {
		worst_socket_send();
		return;
	}
	if (!fd) {
		fd = socket_of(SOCK_DGRAM);
		(void)DO(socket_bind, fd, &port, 0);
	}
	(void)DO(socket_receive, fd, &d, 0);
}

/* An address of the other end that answers nothing; the connection is given up at once. */
static void worst_socket_connect(void)
{
	struct quest_address to = { .ip = 0x0107A8C0, .port = 9 };
	int fd = socket_of(SOCK_STREAM);

	(void)DO(fcntl, fd, F_SETFL, O_NONBLOCK);
	(void)DO(socket_connect, fd, &to, 0);
	(void)DO(close, fd, 0, 0);
}

/* A listener for which nothing comes */
static int listener(void)
{
	struct quest_address port = { .port = 10 };
	int fd = socket_of(SOCK_STREAM);

	(void)DO(socket_bind, fd, &port, 0);
	(void)DO(socket_listen, fd, SOMAXCONN, 0);
	return fd;
}

static void worst_socket_listen(void) { (void)DO(close, listener(), 0, 0); }

static void worst_socket_accept(void)
{
	int fd = listener();

	(void)DO(socket_set, fd, QUEST_RECEIVE_US, 100);
	(void)DO(socket_accept, fd, large, 0);
	(void)DO(close, fd, 0, 0);
}

static void worst_socket_shutdown(void) { (void)DO(socket_shutdown, stream(), SHUT_RD, 0); }
static void worst_socket_name(void) { (void)DO(socket_name, stream(), 1, large); }
static void worst_socket_set(void) { (void)DO(socket_set, stream(), QUEST_NO_DELAY, 1); }
static void worst_socket_get(void) { (void)DO(socket_get, stream(), QUEST_NO_DELAY, 0); }

/* All descriptors that a program can have */
static void worst_poll(void)
{
	static struct pollfd fds[11];
	int i;

	for (i = 3; i < 11 && !fds[i].fd; i++)
		fds[i] = (struct pollfd){ socket_of(SOCK_DGRAM), POLLIN, 0 };
	(void)DO(poll, fds + 3, 8, 100);
	(void)DO(poll, fds, 11, 0);
}

static void worst_fcntl(void) { (void)DO(fcntl, 1, F_GETFL, 0); }

/* The program is no component: a component of test_recovery.py saves. */
static void worst_recovery_beat(void) { (void)DO(recovery_beat, 0, 0, 0); }
static void worst_recovery_save(void) { (void)DO(recovery_save, large, 65536, 0); }
static void worst_recovery_vote(void) { (void)DO(recovery_vote, 1, large, 65536); }
static void worst_recovery_resume(void) { (void)DO(recovery_resume, large, 65536, 0); }

/* The program is no driver: that of test_apart.py drives a function. */
static void worst_driver_open(void) { (void)DO(driver_open, large, 0, 0); }
static void worst_driver_wait(void) { (void)DO(driver_wait, 0, 1, 0); }

/* All names are taken, so all are compared. */
static void worst_latency_count(void)
{
	static char name[] = "a-name-of-15-a.";
	char *last = &name[sizeof(name) - 2];

	for (*last = 'a'; *last < 'a' + 8; ++*last)
		(void)DO(latency_count, name, 1, 1);
}

#define ROW(number, name, args) { #name, worst_##name },
static const struct {
	const char *name;
	void (*make)(void);
} rows[] = {
	{ "nothing", nothing },
	QUEST_CALLS(ROW)
};

/* ---- the thread that sleeps ---- */

static long now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static long latest(int wake_ups)
{
	uint64_t seed = 1;
	long due, late, most = 0;
	struct timespec t;
	int i;

	for (i = 0; i < wake_ups; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		due = now_ns() + LEAST_NS + (long)((seed >> 33) % SPREAD_NS);
		t = (struct timespec){ due / 1000000000, due % 1000000000 };
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		late = now_ns() - due;
		most = late > most ? late : most;
	}
	return most;
}

/* Makes the things that the calls use, in the child that makes the calls. */
static void prepare(const char *name)
{
	(void)memset(pieces, '\n', sizeof(pieces));
	vcpu = vcpu_create(&small);
	shared = shared_mem_alloc(MIB);
	channel = -1;
	if (!strcmp(name, "fork") || !strcmp(name, "vcpu_fork"))
		crowd();
	if (!strcmp(name, "channel_sleep") || !strcmp(name, "channel_ring"))
		channel = (int)DO(channel_attach, CHANNEL, large, 0);
}

static void try_row(unsigned int row, int wake_ups)
{
	int pid = fork();
	long late;

	if (!pid) {
		prepare(rows[row].name);
		for (;;)
			rows[row].make();
	}
	/* fork() used budget. It comes back a period later. */
	(void)usleep(2 * PERIOD_MS * 1000);
	late = latest(wake_ups);
	(void)kill(pid, SIGKILL);
	reap(pid);
	printf("worst: %s late=%ld\n", rows[row].name, late);
}

int main(int argc, char **argv)
{
	const struct sched_param own = { .type = MAIN_VCPU, .C = 1, .T = PERIOD_MS };
	unsigned int i;
	int id = vcpu_create(&own);

	if (argc > 3)			/* exec_long() */
		return 0;
	if (argc > 1 && !strcmp(argv[1], "threads"))
		child_waits();
	if (id < 0 || vcpu_bind_task(id)) {
		printf("worst: no VCPU for the thread that sleeps\n");
		return 1;
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], rows[i].name))
			try_row(i, argc > 2 ? atoi(argv[2]) : WAKE_UPS);
	return 0;
}
