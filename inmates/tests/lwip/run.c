// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs lwIP's own tests for the files of lwIP in Quest, each in a process of its own. In place of
 * the library `check` and of lwip_unittests.c.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lwip_check.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/stats.h"

#define LIMIT_S		60
#define SUITES_MAX	16
#define CASES_MAX	128
#define NEEDS_IPV6	"test_udp_bind"

struct check_case {
	SFun set_up, tear_down;
	const TTest *test;
	struct check_case *next;
};

struct check_suite {
	const char *name;
	struct check_case *first, **last;
};

/* Of lwIP's test/unit */
#define SUITES(EACH)	EACH(udp) EACH(tcp) EACH(tcp_oos) EACH(tcp_state) EACH(def) EACH(mem) \
			EACH(netif) EACH(pbuf) EACH(timers) EACH(etharp) EACH(dhcp) EACH(ip4)
#define DECLARE(NAME)	Suite *NAME##_suite(void);
#define NAME(NAME)	NAME##_suite,
SUITES(DECLARE)
static Suite *(*const suites[])(void) = { SUITES(NAME) };

u32_t lwip_sys_now;		/* in ms: the tests' clock */
unsigned char *net_heap;

u32_t sys_now(void)
{
	return lwip_sys_now;
}

unsigned int net_random(void)
{
	return (unsigned int)rand();
}

void net_broken(const char *what)
{
	check_failed("lwIP", 0, what);
}

void tcpip_thread_poll_one(void)
{
	netif_poll_all();
}

/* ---- check ---- */

static Suite made_suites[SUITES_MAX];
static TCase cases[CASES_MAX];
static unsigned int num_suites, num_cases;

void check_failed(const char *file, int line, const char *what)
{
	printf("# %s:%d: not so: %s\n", file, line, what);
	fflush(stdout);
	_exit(1);
}

Suite *suite_create(const char *name)
{
	Suite *s = &made_suites[num_suites++];

	if (num_suites > SUITES_MAX)
		abort();
	s->name = name;
	s->last = &s->first;
	return s;
}

TCase *tcase_create(const char *name)
{
	(void)name;
	if (num_cases == CASES_MAX)
		abort();
	return &cases[num_cases++];
}

void tcase_add_checked_fixture(TCase *c, SFun set_up, SFun tear_down)
{
	c->set_up = set_up;
	c->tear_down = tear_down;
}

void tcase_add_test(TCase *c, const TTest *test)
{
	c->test = test;
}

void suite_add_tcase(Suite *s, TCase *c)
{
	*s->last = c;
	s->last = &c->next;
}

/* ---- of lwip_unittests.c ---- */

Suite *create_suite(const char *name, testfunc *tests, size_t number, SFun set_up, SFun tear_down)
{
	Suite *s = suite_create(name);
	TCase *c;
	size_t i;

	for (i = 0; i < number; i++) {
		c = tcase_create(name);
		tcase_add_checked_fixture(c, set_up, tear_down);
		tcase_add_test(c, tests[i]);
		suite_add_tcase(s, c);
	}
	return s;
}

void lwip_check_ensure_no_alloc(unsigned int skip)
{
	unsigned int i;

	fail_unless(skip & SKIP_HEAP || !lwip_stats.mem.used);
	for (i = 0; i < MEMP_MAX; i++)
		fail_unless(skip & 1u << i || !lwip_stats.memp[i]->used);
}

/* ---- all ---- */

static void run(const TCase *c)
{
	alarm(LIMIT_S);
	if (c->set_up)
		c->set_up();
	c->test->run(0);
	if (c->tear_down)
		c->tear_down();
	_exit(0);
}

static bool passes(const TCase *c)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		run(c);
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

int main(void)
{
	unsigned int i, number = 0, failed = 0;
	const TCase *c;
	bool fine;

	lwip_init();
	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		for (c = suites[i]()->first; c; c = c->next) {
			if (!strcmp(c->test->name, NEEDS_IPV6))
				continue;
			fine = passes(c);
			failed += !fine;
			printf("%s %u - lwip_%s\n", fine ? "ok" : "not ok", ++number,
			       c->test->name);
		}
	printf("1..%u\n", number);
	return failed > 0;
}
