// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures channels, and other ways to pass items between two processes.
 *
 * chanbench cost ROUNDS			a write and a read, both ends in this process
 * chanbench copy ROUNDS			the same by a copy and in place, with the program's
 *						work: to fill in an item, to add up its words
 * chanbench pair ROUNDS ITEMS CPU CPU [WAY]	between two processes, each on its CPU; all ways, or
 *						those whose names begin with WAY
 * chanbench cell ROUNDS ITEMS CPU		with the inmate tests/lab/echo
 * chanbench bell ROUNDS 0 CPU			bells to handlers, with two cells of tests/lab/echo
 *
 * Lines: `WAY SIZE OPERATION rounds=N min=T p50=T p99=T`, in ticks of the TSC; a `batch` is 100
 * items, one way (in a cell: there and back, 16 on the way). `tick` has the ticks of a second and
 * of 1000 instructions. ITEMS is a multiple of 100. `rang T`: a cell rang Linux at tick T.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include <linux/qv_channel.h>
#include <qv/libqv.h>
#include "../../../lib/linux/manage.h"
#include "chanways.h"

#define BATCH	100	/* items whose time is taken together */

static uint64_t *took;

void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "chanbench: %s: %s; %s\n", what, strerror(errno), qv_detail());
	exit(1);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "affinity");
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print(const char *way, size_t size, const char *op, uint64_t rounds)
{
	qsort(took, rounds, sizeof(*took), ascending);
	printf("%s %zu %s rounds=%lu min=%lu p50=%lu p99=%lu\n", way, size, op, rounds, took[0],
	       took[rounds / 2], took[rounds * 99 / 100]);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The least ticks of 200,000 instructions, and the ticks of a second */
static void print_tick(void)
{
	uint64_t least = ~0ull, start, i;
	double begin;

	for (i = 0; i < 20; i++) {
		uint32_t n = 100000;

		start = __rdtsc();
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
		start = __rdtsc() - start;
		least = start < least ? start : least;
	}
	start = __rdtsc();
	for (begin = seconds(); seconds() < begin + 0.2;)
		;
	printf("tick second=%.0f instructions=%.1f\n",
	       (double)(__rdtsc() - start) / (seconds() - begin), (double)least / 200);
}

/* ---- cost ---- */

static void *window_of(struct qv_chan_page plan)
{
	void *window;
	uint32_t i;

	must(!qv_chan_lay_out(&plan), "plan");
	window = aligned_alloc(QV_CHAN_PAGE, plan.length);
	must(window != NULL, "memory");
	memset(window, 0, plan.length);
	manage_make(window, &plan, 0x1000);
	for (i = 0; i < plan.ends; i++)
		manage_start(window, i);
	return window;
}

/* Writes and reads item by item. A mailbox sends back an empty message, which counts as no write */
static void cost(const char *way, struct qv_chan_page plan, uint64_t rounds)
{
	uint64_t *reads = took + rounds, start, i;
	struct qv_end writer, reader;
	struct qv_item item;
	char *data = malloc(plan.item);
	void *window = window_of(plan);

	qv_chan_lay_out(&plan);
	must(data && !qv_end_attach(&writer, window, plan.length, 0) &&
	     !qv_end_attach(&reader, window, plan.length, 1), "attach");
	memset(data, 1, plan.item);
	for (i = 0; i < rounds; i++) {
		start = __rdtsc();
		must(!qv_end_write(&writer, data, plan.item), "write");
		took[i] = __rdtsc() - start;
		start = __rdtsc();
		must(!qv_end_read(&reader, data, plan.item, &item), "read");
		reads[i] = __rdtsc() - start;
		if (plan.type == QV_CHAN_MAILBOX)
			must(!qv_end_write(&reader, data, 0) &&
			     !qv_end_read(&writer, data, plan.item, &item), "answer");
	}
	print(way, plan.item, "write", rounds);
	memcpy(took, reads, rounds * sizeof(*took));
	print(way, plan.item, "read", rounds);
	free(window);
	free(data);
}

static void costs(uint64_t rounds)
{
	static const char *const names[] = { "", "mailbox", "four-slot", "ring" };
	uint64_t item, i, start;
	uint32_t type;

	for (i = 0; i < rounds; i++) {
		start = __rdtsc();
		took[i] = __rdtsc() - start;
	}
	print("clock", 0, "read", rounds);
	for (type = QV_CHAN_MAILBOX; type <= QV_CHAN_RING; type++)
		for (item = 64; item <= 4096; item *= 64)
			cost(names[type], (struct qv_chan_page){
				.type = type, .item = item, .ends = 2,
				.slots = type == QV_CHAN_RING ? 16 : 1,
				.full = type == QV_CHAN_RING ? QV_CHAN_FULL_ERROR : 0 }, rounds);
}

/* ---- copy ---- */

static void fill(void *item, size_t size, uint64_t value)
{
	uint64_t *words = item;
	size_t i;

	for (i = 0; i < size / sizeof(*words); i++)
		words[i] = value + i;
}

static uint64_t sum(const void *item, size_t size)
{
	const uint64_t *words = item;
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < size / sizeof(*words); i++)
		found += words[i];
	return found;
}

/* One item through the ring. Stores the time of each end. Returns what the reader has added up */
static uint64_t copied(struct qv_end *writer, struct qv_end *reader, void *data, uint64_t times[2])
{
	size_t size = writer->page.item;
	uint64_t start = __rdtsc(), found;
	struct qv_item item;

	fill(data, size, start);
	must(!qv_end_write(writer, data, size), "write");
	times[0] = __rdtsc() - start;
	start = __rdtsc();
	must(!qv_end_read(reader, data, size, &item), "read");
	found = sum(data, size);
	times[1] = __rdtsc() - start;
	return found;
}

static uint64_t in_place(struct qv_end *writer, struct qv_end *reader, uint64_t times[2])
{
	size_t size = writer->page.item;
	uint64_t start = __rdtsc(), found;
	struct qv_item item;
	const void *data;
	void *room;

	must(!qv_end_claim(writer, &room), "claim");
	fill(room, size, start);
	must(!qv_end_commit(writer, size), "commit");
	times[0] = __rdtsc() - start;
	start = __rdtsc();
	must(!qv_end_peek(reader, &data, &item), "peek");
	found = sum(data, size);
	must(!qv_end_release(reader), "release");
	times[1] = __rdtsc() - start;
	return found;
}

static void copies(size_t size, uint64_t rounds)
{
	static const char *const names[2][2] = { { "write", "read" }, { "claim", "peek" } };
	struct qv_chan_page plan = { .type = QV_CHAN_RING, .item = size, .ends = 2, .slots = 16,
				     .full = QV_CHAN_FULL_ERROR };
	static volatile uint64_t sink;
	uint64_t *times[2] = { malloc(rounds * sizeof(*took)), malloc(rounds * sizeof(*took)) };
	void *window = window_of(plan), *data = malloc(size);
	struct qv_end writer, reader;
	uint64_t of[2], i, way, end;

	qv_chan_lay_out(&plan);
	must(times[0] && times[1] && data && !qv_end_attach(&writer, window, plan.length, 0) &&
	     !qv_end_attach(&reader, window, plan.length, 1), "attach");
	for (way = 0; way < 2; way++) {
		for (i = 0; i < rounds; i++) {
			sink += way ? in_place(&writer, &reader, of) :
				      copied(&writer, &reader, data, of);
			times[0][i] = of[0];
			times[1][i] = of[1];
		}
		for (end = 0; end < 2; end++) {
			memcpy(took, times[end], rounds * sizeof(*took));
			print("copy", size, names[way][end], rounds);
		}
	}
	free(times[0]);
	free(times[1]);
	free(window);
	free(data);
}

/* ---- pair ---- */

/* The other process: sends back `rounds` items, then takes `items` and sends one back */
static void answer(const struct way *way, uint64_t rounds, uint64_t items, size_t size)
{
	char *data = malloc(size);
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		way->receive(1, data, size);
		way->send(1, data, size);
	}
	if (way->receive_n)
		way->receive_n(1, data, size, items);
	for (i = 0; i < items && !way->in_turn && !way->receive_n; i++)
		way->receive(1, data, size);
	if (!way->in_turn)
		way->send(1, data, size);
	_exit(0);
}

/* Sends batches of items one way. Prints the batches, in which the sender also waits for room */
static void stream(const struct way *way, size_t size, uint64_t items, void *data)
{
	uint64_t n, i, start;

	for (n = 0; n < items / BATCH; n++) {
		start = __rdtsc();
		if (way->send_n)
			way->send_n(0, data, size, BATCH);
		for (i = 0; i < BATCH && !way->send_n; i++)
			way->send(0, data, size);
		took[n] = __rdtsc() - start;
	}
	way->receive(0, data, size);
	print(way->name, size, "batch", n);
}

static void pair(const struct way *way, size_t size, uint64_t rounds, uint64_t items,
		 const int cpus[2])
{
	uint64_t warm = rounds / 10, start, i;
	char *data = calloc(1, size);
	int status;
	pid_t child;

	way->make(size);
	fflush(stdout);
	child = fork();
	must(child >= 0 && data, "fork");
	on_cpu(cpus[!child]);
	if (way->join)
		way->join(!child);
	if (!child)
		answer(way, warm + rounds, items, size);
	for (i = 0; i < warm + rounds; i++) {
		start = __rdtsc();
		way->send(0, data, size);
		way->receive(0, data, size);
		if (i >= warm)
			took[i - warm] = __rdtsc() - start;
	}
	print(way->name, size, "round-trip", rounds);
	if (!way->in_turn)
		stream(way, size, items, data);
	must(waitpid(child, &status, 0) == child && !status, "the other process");
	way->end();
	free(data);
}

/* ---- cell ---- */

static void cell_send(struct qv_channel *c, const void *data, size_t size)
{
	while (qv_write(c, data, size, 0))
		_mm_pause();
}

static void cell_receive(struct qv_channel *c, void *data, size_t size)
{
	while (qv_read(c, data, size, NULL, 0))
		_mm_pause();
}

/* Polled round trips, then items that go there and back, with up to 16 on the way */
static void cell(const char *to, const char *from, uint64_t rounds, uint64_t items)
{
	struct qv_channel *out, *in;
	uint64_t start, i, back = 0;
	size_t size;
	char *data;

	must(!qv_open(&out, to), to);
	in = out;
	must(!from || !qv_open(&in, from), to);
	size = qv_page(out)->item;
	data = calloc(1, size);
	for (i = 0; i < rounds; i++) {
		start = __rdtsc();
		cell_send(out, data, size);
		cell_receive(in, data, size);
		took[i] = __rdtsc() - start;
	}
	print(to, size, "round-trip", rounds);
	start = __rdtsc();
	for (i = 0; from && back < items;) {
		if (i < items && i - back < 16 && !qv_write(out, data, size, 0))
			i++;
		if (qv_read(in, data, size, NULL, 0))
			continue;
		if (++back % BATCH == 0) {
			took[back / BATCH - 1] = __rdtsc() - start;
			start = __rdtsc();
		}
	}
	if (from)
		print(to, size, "batch", items / BATCH);
	qv_close(out);
	if (from)
		qv_close(in);
	free(data);
}

/* ---- bell ---- */

/*
 * Sends an item and waits for the item that comes back on another channel. Its words: 1 the TSC
 * before the write that rang, 2 the TSC at which the handler of a cell began.
 */
static void bell(const char *to, const char *from, uint64_t rounds, bool linux_hears)
{
	struct qv_channel *out, *in;
	uint64_t words[8] = { 0 }, i;

	must(!qv_open(&out, to) && !qv_open(&in, from), to);
	for (i = 0; i < rounds; i++) {
		words[0] = i + 1;
		words[1] = __rdtsc();
		cell_send(out, words, sizeof(words));
		do
			cell_receive(in, words, sizeof(words));
		while (words[0] != i + 1);
		if (linux_hears)
			printf("rang %lu\n", words[1]);
		else
			took[i] = words[2] - words[1];
	}
	if (!linux_hears)
		print(to, sizeof(words), "bell", rounds);
	qv_close(out);
	qv_close(in);
}

static uint64_t number(int argc, char **argv, int n)
{
	return n < argc ? strtoull(argv[n], NULL, 10) : 0;
}

static bool wanted(const struct way *way, int argc, char **argv)
{
	return argc <= 6 || !strncmp(way->name, argv[6], strlen(argv[6]));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t rounds = number(argc, argv, 2), items = number(argc, argv, 3), size, i;
	const int cpus[2] = { (int)number(argc, argv, 4), (int)number(argc, argv, 5) };

	if (rounds < 100 || rounds > 10000000 || items > 100 * rounds || items % BATCH)
		return 2;
	took = calloc(2 * rounds, sizeof(*took));
	must(took != NULL, "memory");
	on_cpu(cpus[0]);
	print_tick();
	if (!strcmp(what, "cost"))
		costs(rounds);
	else if (!strcmp(what, "copy"))
		for (size = 8; size <= 4096; size *= 2)
			copies(size, rounds);
	else if (!strcmp(what, "pair"))
		for (i = 0; ways[i].name; i++)
			for (size = 64; size <= 4096 && wanted(&ways[i], argc, argv); size *= 64)
				pair(&ways[i], size, rounds, items, cpus);
	else if (!strcmp(what, "cell")) {
		cell("small", "small-back", rounds, items);
		cell("large", "large-back", rounds, items);
		cell("talk", NULL, rounds, items);
	} else if (!strcmp(what, "bell")) {
		bell("down", "down-back", rounds, false);
		bell("go", "go-back-back", rounds, false);
		bell("ask", "ask-back", rounds, true);
	} else
		return 2;
	return 0;
}
