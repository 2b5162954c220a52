// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile race [ROUNDS]   one thread asks for more memory than there is, and another writes to the
 *                         pages that the failing request maps and takes back. It must be killed
 *                         without effect on others
 * hostile flood           writes 16 MiB to the console in one call: ^C must end it
 * hostile wait [ROUNDS]   forks fail at the last moment, since all threads (or pages) are taken,
 *                         while another thread waits for children. That thread's wait must return
 *                         each time
 * hostile admit [MS]      creates as many VCPUs as possible, and for MS milliseconds asks for more
 *                         that are rejected. Prints how late a thread with a short period wakes
 *                         meanwhile
 * hostile tree            a grandchild reads keys after the program that the shell started has
 *                         ended: it must not get any
 * hostile family          a child never ends, and its parent waits: ^C must end both
 * hostile vcpus           uses and destroys VCPUs of a very long period until there are too many:
 *                         it must have no effect on others
 * hostile orphan          as family, but the process between the two has exited
 * hostile bomb            each process forks twice and exits, again and again, so pids change all
 *                         the time
 * hostile threads         starts as many threads as possible, in as many children as possible
 * hostile hoard           takes all memory, page by page, and keeps it
 * hostile full            starts as many children as possible, and tries a thousand more forks,
 *                         until it ends
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		4096
#define MUCH		(16l << 20)
#define ROUNDS		10
#define STALE		3		/* exit code if unmapped memory could still be written */

static volatile char *edge;		/* the end of the heap at the start */
static volatile long asked;

/* Returns true if the memory is mapped: uname() finds out without a fault. */
static int there(void)
{
	return quest_uname((void *)edge) == 0;
}

/*
 * Runs while the other thread requests memory. Pages that a failed request has mapped are unmapped
 * again, so a write to them must kill this program.
 */
static void *use(void *arg)
{
	int vcpu = vcpu_create_main(2, 50);
	long now;

	if (vcpu >= 0)
		(void)vcpu_bind_task(vcpu);
	for (;;) {
		now = asked;
		if (!there())
			continue;
		while (there()) {
			*edge = 1;
			(void)usleep(100);
		}
		*edge = 2;
		if (asked == now)
			_exit(STALE);
	}
	return arg;
}

static _Noreturn void ask_too_much(void)
{
	struct meminfo info;
	pthread_t t;

	edge = (char *)(((uintptr_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1ul));
	if (pthread_create(&t, NULL, use, NULL))
		_exit(1);
	for (;;) {
		(void)meminfo(&info);
		asked++;
		if (!failed(sbrk((long)info.free_kib * 1024 + PAGE)))
			_exit(2);
	}
}

static int race(long rounds)
{
	int pid, status, killed = 0, stale = 0;
	long i;

	for (i = 0; i < rounds; i++) {
		pid = fork();
		if (!pid)
			ask_too_much();
		if (waitpid(pid, &status, 0) != pid)
			return 1;
		killed += WIFSIGNALED(status);
		stale += WEXITSTATUS(status) == STALE;
	}
	printf("hostile: %ld rounds, %d killed, %d wrote what was gone\n", rounds, killed, stale);
	return stale != 0;
}

/* Writes characters that no console displays, so that only the kernel's work takes time. */
static int flood(void)
{
	char *room = malloc(MUCH);

	if (!room) {
		perror_of("hostile", -ENOMEM);
		return 1;
	}
	memset(room, 1, MUCH);
	if (write(1, room, MUCH) < 0)
		return 1;
	printf("hostile: the flood is over\n");
	return 0;
}

static void *sleep_always(void *arg)
{
	for (;;)
		(void)usleep(1000000);
	return arg;
}

static _Noreturn void hoard_threads(void)
{
	pthread_t t;

	for (;;) {
		(void)pthread_create(&t, NULL, sleep_always, NULL);
		(void)usleep(2000);
	}
}

static volatile long looks;

/* Gives the other thread time between two checks. */
static void *wait_always(void *arg)
{
	int vcpu = vcpu_create_main(2, 50);

	if (vcpu >= 0)
		(void)vcpu_bind_task(vcpu);
	for (;;) {
		(void)waitpid(-1, NULL, 0);
		looks++;
		(void)usleep(200);
	}
	return arg;
}

/* Returns true if the other thread checks again within a second, so it is not stuck. */
static int is_told(void)
{
	long before = looks;
	int i;

	for (i = 0; i < 1000 && looks == before; i++)
		(void)usleep(1000);
	return looks != before;
}

static _Noreturn void fork_in_vain(long rounds)
{
	pthread_t t;
	int pid;

	if (failed(sbrk(2l << 20)) || pthread_create(&t, NULL, wait_always, NULL))
		_exit(1);
	while (rounds) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			continue;
		if (!is_told())
			_exit(STALE);
		rounds--;
	}
	_exit(0);
}

static int wait_in_vain(long rounds)
{
	int victim = fork(), hoards[32], n = 0, pid, status;

	if (!victim)
		fork_in_vain(rounds);
	while (!(pid = waitpid(victim, &status, WNOHANG))) {
		pid = n < 32 ? quest_fork() : -EAGAIN;
		if (!pid)
			hoard_threads();
		if (pid > 0)
			hoards[n++] = pid;
		(void)usleep(5000);
	}
	while (n) {
		(void)kill(hoards[--n], SIGKILL);
		(void)waitpid(hoards[n], NULL, 0);
	}
	if (pid == victim && status == 0)
		printf("hostile: %ld forks failed, who waited was told each time\n", rounds);
	else
		printf("hostile: who waited was left waiting (status %x)\n", status);
	return status != 0;
}

static uint64_t now_us(void)
{
	struct timeval tv;

	(void)gettimeofday(&tv, NULL);
	return (uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec;
}

/* Creates sixteen VCPUs with little budget, which make each admission test longer. */
static _Noreturn void hoard_vcpus(void)
{
	while (vcpu_create_main(1, 1000000) >= 0)
		;
	sleep_always(NULL);
	_exit(0);
}

static _Noreturn void be_refused(void)
{
	int vcpu;

	for (;;) {
		vcpu = vcpu_create_main(999, 1000);
		if (vcpu >= 0)
			(void)vcpu_destroy(vcpu, 1);
	}
}

static uint64_t latest_of(long ms)
{
	uint64_t end = now_us() + (uint64_t)ms * 1000, due, late, latest = 0;

	while (now_us() < end) {
		due = now_us() + 1000;
		(void)usleep(1000);
		late = now_us() - due;
		if (late > latest)
			latest = late;
	}
	return latest;
}

static int admit(long ms)
{
	int vcpu = vcpu_create_main(2, 10), pids[13], n;
	uint64_t alone, beside;

	if (vcpu < 0) {
		perror_of("hostile: vcpu_create_main(2, 10)", vcpu);
		return 1;
	}
	(void)vcpu_bind_task(vcpu);
	alone = latest_of(ms);
	for (n = 0; n < 13; n++) {
		pids[n] = fork();
		if (!pids[n] && n < 12)
			hoard_vcpus();
		if (!pids[n])
			be_refused();
		(void)usleep(10000);
	}
	beside = latest_of(ms);
	while (n--)
		if (pids[n] > 0) {
			(void)kill(pids[n], SIGKILL);
			(void)waitpid(pids[n], NULL, 0);
		}
	printf("hostile: latest wake-up %lu us alone, %lu us beside one that is refused VCPUs\n",
	       alone, beside);
	return 0;
}

static int tree(void)
{
	int child = fork();
	char key;

	if (!child) {
		if (fork())
			sleep_always(NULL);
		(void)read(0, &key, 1);
		_exit(0);
	}
	(void)usleep(50000);
	printf("hostile: child %d stays\n", child);
	return 0;
}

static int family(void)
{
	if (!fork())
		sleep_always(NULL);
	printf("hostile: a family\n");
	(void)waitpid(-1, NULL, 0);
	return 0;
}

static int orphan(void)
{
	if (!fork()) {
		if (!fork())
			sleep_always(NULL);
		_exit(0);
	}
	(void)waitpid(-1, NULL, 0);
	printf("hostile: an orphan\n");
	sleep_always(NULL);
	return 0;
}

static int bomb(void)
{
	if (!fork())
		for (;;)
			if (fork() > 0 && fork() > 0)
				_exit(0);
	printf("hostile: a bomb\n");
	sleep_always(NULL);
	return 0;
}

static int threads(void)
{
	pthread_t t;
	int pid = 0;

	while (!pthread_create(&t, NULL, sleep_always, NULL) || !(pid = fork()))
		;
	if (pid < 0)
		printf("hostile: no more threads\n");
	sleep_always(NULL);
	return 0;
}

static int hoard(void)
{
	long step;

	printf("hostile: takes all memory\n");
	for (step = 1l << 20; step >= PAGE; step /= 2)
		while (!failed(sbrk(step)))
			;
	printf("hostile: all memory is taken\n");
	sleep_always(NULL);
	return 0;
}

static int full(void)
{
	int me = getpid(), n, pid, i;

	for (n = 0; (pid = quest_fork()) > 0; n++)
		;
	for (i = 0; pid < 0 && i < 1000; i++)
		(void)fork();
	while (!pid && quest_kill(me, 0) != -ESRCH)
		(void)usleep(10000);
	if (!pid)
		_exit(0);
	printf("hostile: %d children, then %s\n", n, strerror(pid));
	sleep_always(NULL);
	return 0;
}

static long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Uses some of the budget, since only used budget counts as past use. No budget is left in two
 * cases: the VCPU begins late (here up to 100 ms), or an emulator that pauses for a millisecond
 * uses all of it between two checks.
 */
static void use_some(void)
{
	long begun = now_ms();
	uint64_t left;

	do
		left = 0;
	while (vcpu_current(&left) >= 0 && (left == 1000 || (!left && now_ms() - begun < 1000)));
}

static int vcpus(void)
{
	int id, n;

	for (n = 0; n < 300; n++) {
		id = vcpu_create_main(1, 1000000);
		if (id < 0)
			break;
		(void)vcpu_bind_task(id);
		use_some();
		(void)vcpu_bind_task(BEST_EFFORT_VCPU);
		(void)vcpu_destroy(id, 1);
	}
	printf("hostile: %d VCPUs came and went, then: %s\n", n, id < 0 ? strerror(id) : "enough");
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (argc > 1 && !strcmp(argv[1], "race"))
		return race(n ? n : ROUNDS);
	if (argc > 1 && !strcmp(argv[1], "flood"))
		return flood();
	if (argc > 1 && !strcmp(argv[1], "wait"))
		return wait_in_vain(n ? n : ROUNDS);
	if (argc > 1 && !strcmp(argv[1], "admit"))
		return admit(n ? n : 1000);
	if (argc > 1 && !strcmp(argv[1], "tree"))
		return tree();
	if (argc > 1 && !strcmp(argv[1], "family"))
		return family();
	if (argc > 1 && !strcmp(argv[1], "vcpus"))
		return vcpus();
	if (argc > 1 && !strcmp(argv[1], "orphan"))
		return orphan();
	if (argc > 1 && !strcmp(argv[1], "bomb"))
		return bomb();
	if (argc > 1 && !strcmp(argv[1], "threads"))
		return threads();
	if (argc > 1 && !strcmp(argv[1], "hoard"))
		return hoard();
	if (argc > 1 && !strcmp(argv[1], "full"))
		return full();
	printf("usage: hostile race [ROUNDS] | flood | wait [ROUNDS] | admit [MS] "
	       "| tree | family | orphan | bomb |\n"
	       "       threads | vcpus | hoard | full\n");
	return 2;
}
