// SPDX-License-Identifier: GPL-2.0-only
/*
 * clocks: checks that the clocks and the VCPUs' times in microseconds do what quest.h says. Prints
 * a line for each failure; the last line has the count. clocks drift: prints how late a periodic
 * loop is after some periods.
 */
#include <quest.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

#define NS_PER_S	1000000000l
#define PERIOD_NS	3000000l
#define PERIODS		20

static long ns_of(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static long now_ns(clockid_t clock)
{
	struct timespec t = { -1, -1 };

	CHECK(clock_gettime(clock, &t) == 0 && t.tv_nsec >= 0 && t.tv_nsec < NS_PER_S);
	return ns_of(t);
}

static struct timespec later(struct timespec t, long ns)
{
	ns += ns_of(t);
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static void spin(long ns)
{
	long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	struct timespec t;

	do
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (ns_of(t) < end);
}

static void check_clocks(void)
{
	long before = now_ns(CLOCK_MONOTONIC), own = now_ns(CLOCK_THREAD_CPUTIME_ID),
	     cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct timespec t;

	CHECK(before > 0 && now_ns(CLOCK_REALTIME) >= before && own <= cpu);
	spin(2000000);
	CHECK(now_ns(CLOCK_MONOTONIC) - before >= 2000000 &&
	      now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu >= 2000000);
	CHECK(quest_clock_gettime(99, &t) == -EINVAL && quest_clock_gettime(-1, &t) == -EINVAL);
	CHECK(quest_clock_gettime(CLOCK_MONOTONIC, NULL) == -EFAULT);
}

static void check_sleep(void)
{
	struct timespec t = { 0, 3000000 }, bad = { 0, NS_PER_S }, left = { 7, 7 };
	long before = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);

	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &left) == 0 && nanosleep(&t, NULL) == 0 &&
	      left.tv_sec == 7);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	/* the way into a sleep takes CPU time too, and the sleep has begun then */
	CHECK(now_ns(CLOCK_MONOTONIC) - before >= 6000000 &&
	      now_ns(CLOCK_MONOTONIC) - before > cpu);
	/* 3 ms after the start: in the past */
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0);
	CHECK(quest_clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == -EINVAL &&
	      quest_clock_nanosleep(99, 0, &t, NULL) == -EINVAL);
	CHECK(quest_clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &t, NULL) == -EINVAL);
	CHECK(quest_clock_nanosleep(CLOCK_MONOTONIC, 2, &t, NULL) == -EINVAL &&
	      FAILS(nanosleep(NULL, NULL), EFAULT));
	bad = (struct timespec){ -1, 0 };
	CHECK(quest_clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &bad, NULL) == -EINVAL);
}

/*
 * Runs a periodic loop that works for a tenth of each period. With drift, it would be late by at
 * least a period after half of the rounds.
 */
static long run_periods(void)
{
	long late, least = NS_PER_S;
	struct timespec due;
	int i;

	(void)clock_gettime(CLOCK_MONOTONIC, &due);
	for (i = 0; i < PERIODS; i++) {
		spin(PERIOD_NS / 10);
		due = later(due, PERIOD_NS);
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		late = now_ns(CLOCK_MONOTONIC) - ns_of(due);
		CHECK(late >= 0);
		if (i >= PERIODS / 2 && late < least)
			least = late;
	}
	return least;
}

static void check_far(void)
{
	struct timespec far = { 1l << 62, 0 };
	int pid = fork();

	if (!pid)
		_exit(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &far, NULL));
	(void)usleep(3000);
	CHECK(waitpid(pid, NULL, WNOHANG) == 0 && kill(pid, SIGKILL) == 0 &&
	      status_of(pid) == SIGKILL);
}

static void check_microseconds(void)
{
	struct sched_param p = { .type = MAIN_VCPU, .C = 250, .T = 20500, .unit = VCPU_US }, q;
	int id = vcpu_create(&p);

	CHECK(id > 0 && vcpu_bind_task(id) == 0 && vcpu_getparams(&q) == 0);
	CHECK(q.C == 250 && q.T == 20500 && q.unit == VCPU_US);
	CHECK(vcpu_setparams(id, &q) == 0);
	p = (struct sched_param){ .type = MAIN_VCPU, .C = 1000, .T = 50000, .unit = VCPU_US };
	CHECK(vcpu_setparams(id, &p) == 0 && vcpu_getparams(&q) == 0 && q.C == 1 && q.T == 50 &&
	      q.unit == VCPU_MS);
	p.unit = 2;
	CHECK(vcpu_setparams(id, &p) == -EINVAL && vcpu_create(&p) == -EINVAL);
	p.unit = -1;
	CHECK(vcpu_create(&p) == -EINVAL);
	p = (struct sched_param){ .type = MAIN_VCPU, .C = 10, .T = 20000, .unit = VCPU_US };
	CHECK(vcpu_setparams(id, &p) == 0);
	p.C = 9;
	CHECK(vcpu_setparams(id, &p) == -EINVAL && vcpu_create(&p) == -EINVAL);
	CHECK(vcpu_destroy(id, 1) == 0);
}

static void check_io_class(void)
{
	struct sched_param p = { .type = IO_VCPU, .C = 1, .T = 1000, .io_class = IOVCPU_CLASS_NET };
	struct sched_param q;
	int id = vcpu_create(&p);

	CHECK(id > 0 && vcpu_bind_task(id) == 0 && vcpu_getparams(&q) == 0 &&
	      q.io_class == IOVCPU_CLASS_NET);
	p.io_class |= IOVCPU_CLASS_USB;
	CHECK(vcpu_setparams(id, &p) == 0 && vcpu_getparams(&q) == 0 && q.io_class == p.io_class);
	p.io_class = 128;
	CHECK(vcpu_setparams(id, &p) == -EINVAL && vcpu_create(&p) == -EINVAL &&
	      vcpu_destroy(id, 1) == 0);
	p = (struct sched_param){
		.type = MAIN_VCPU, .C = 1, .T = 1000, .io_class = IOVCPU_CLASS_NET
	};
	CHECK(vcpu_create(&p) == -EINVAL && vcpu_getparams(&q) == 0 && q.io_class == 0);
}

static void check_latency(void)
{
	int most = latency_count("0.A-z_56789abcd", 1000000000000ul, 1000000000000ul);

	/* other programs of the cell may have all names */
	CHECK(most == 0 || most == -ENFILE);
	CHECK(latency_count("0.A-z_56789abcde", 1, 1) == -ENAMETOOLONG &&
	      latency_count("", 1, 1) == -EINVAL && latency_count("a/b", 1, 1) == -EINVAL &&
	      latency_count("\xc3\xa4", 1, 1) == -EINVAL && latency_count("a b", 1, 1) == -EINVAL &&
	      latency_count("a", 1000000000001ul, 0) == -EINVAL &&
	      latency_count("a", 0, 1000000000001ul) == -EINVAL &&
	      latency_count(NULL, 1, 1) == -EFAULT);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "drift")) {
		printf("clocks: late by %ld ns at least\n", run_periods());
		return 0;
	}
	check_clocks();
	check_sleep();
	(void)run_periods();
	check_far();
	check_microseconds();
	check_io_class();
	check_latency();
	return checked("clocks");
}
