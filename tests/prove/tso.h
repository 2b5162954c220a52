/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explores all executions of a few threads on x86-TSO: the shared accesses of the code under test
 * (lib/channel/shared.h) go to this model. A store enters its thread's buffer; the buffer's oldest
 * store reaches memory at any later time; a load finds the newest store to its word in its
 * thread's buffer, else memory; a fenced store waits until the buffer is empty.
 * (P. Sewell et al., "x86-TSO", CACM 53(7), 2010.)
 *
 * A thread is deterministic, so the values that it has loaded determine its state. To find the next
 * access of a thread, its function is run again from its start with these values. Entering the
 * buffer is no choice: no other thread can see it. The choices are a pending load, and a flush.
 * Each state is visited once.
 *
 * The proof defines `tso_threads`, and each thread's function in tso_thread(). It prints as CBMC
 * does, so that the same runner judges it.
 */
#ifndef TSO_H
#define TSO_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TSO_THREADS	3
#define TSO_WORDS	192	/* words that any thread accesses */
#define TSO_LOADS	160	/* loads of one thread */
#define TSO_STORES	128	/* stores of one thread */

struct tso_store {
	uint16_t word;
	bool fenced;
	uint64_t value;
};

struct tso_state {
	uint64_t memory[TSO_WORDS];
	struct {
		uint64_t loaded[TSO_LOADS];
		uint32_t loads;
		uint32_t flushed;	/* stores that reached memory */
	} thread[TSO_THREADS];
};

/* One thread, as far as it runs with the values of a state */
struct tso_run {
	struct tso_store store[TSO_STORES];
	uint32_t stores;
	uint32_t loads;
	bool ended;
	int pending;		/* word of the load that has no value yet; -1: none */
};

extern const uint32_t tso_threads;
void tso_thread(uint32_t thread);

static const uint64_t *tso_address[TSO_WORDS];
static uint32_t tso_words, tso_running;
static struct tso_run tso_run;
static const struct tso_state *tso_now;
static jmp_buf tso_stop;
static const uint64_t *tso_fixed, *tso_fixed_end;	/* never written: a load is no choice */

static inline void tso_violated(const char *what)
{
	printf("Violated property:\n  thread %u\n  %s\n", tso_running, what);
	exit(10);
}

#define TSO_PROVE(condition, what) do { if (!(condition)) tso_violated(what); } while (0)

static inline uint32_t tso_word(const uint64_t *address)
{
	uint32_t i;

	for (i = 0; i < tso_words; i++)
		if (tso_address[i] == address)
			return i;
	if (tso_words == TSO_WORDS)
		abort();
	tso_address[tso_words] = address;
	return tso_words++;
}

uint64_t shared_load(const uint64_t *word)
{
	uint32_t at = tso_run.loads;

	if (word >= tso_fixed && word < tso_fixed_end)
		return *word;
	if (at == tso_now->thread[tso_running].loads) {
		tso_run.pending = (int)tso_word(word);
		longjmp(tso_stop, 1);
	}
	if (++tso_run.loads > TSO_LOADS)
		abort();
	return tso_now->thread[tso_running].loaded[at];
}

static void tso_enter(uint64_t *word, uint64_t value, bool fenced)
{
	if (tso_run.stores == TSO_STORES)
		abort();
	tso_run.store[tso_run.stores++] =
		(struct tso_store){ (uint16_t)tso_word(word), fenced, value };
	/* behind a fenced store, the thread continues only after the whole buffer was flushed */
	if (fenced && tso_now->thread[tso_running].flushed < tso_run.stores)
		longjmp(tso_stop, 1);
}

void shared_store(uint64_t *word, uint64_t value)
{
	tso_enter(word, value, false);
}

void shared_store_fenced(uint64_t *word, uint64_t value)
{
	tso_enter(word, value, true);
}

static void tso_replay(const struct tso_state *state, uint32_t thread)
{
	tso_now = state;
	tso_running = thread;
	memset(&tso_run, 0, offsetof(struct tso_run, pending));
	tso_run.stores = tso_run.loads = 0;
	tso_run.pending = -1;
	if (!setjmp(tso_stop)) {
		tso_thread(thread);
		tso_run.ended = true;
	}
}

/* ---- the set of visited states: 128 bits of hash for each ---- */

static struct { uint64_t a, b; } *tso_seen;
static uint64_t tso_room = 1 << 16, tso_states;

static uint64_t tso_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
	return hash ^ hash >> 29;
}

static void tso_insert(uint64_t a, uint64_t b)
{
	uint64_t i = a & (tso_room - 1);

	while (tso_seen[i].a || tso_seen[i].b)
		i = (i + 1) & (tso_room - 1);
	tso_seen[i].a = a;
	tso_seen[i].b = b;
}

static bool tso_new(const struct tso_state *state)
{
	uint64_t a = 1, b = 2, i, n, room = tso_room;
	uint32_t t;

	for (i = 0; i < TSO_WORDS; i++)
		if (state->memory[i]) {
			a = tso_mix(a, state->memory[i] * TSO_WORDS + i);
			b = tso_mix(b, state->memory[i] + (i << 40));
		}
	for (t = 0; t < tso_threads; t++) {
		a = tso_mix(a, (uint64_t)state->thread[t].loads << 32 | state->thread[t].flushed);
		b = tso_mix(b, state->thread[t].flushed);
		for (n = 0; n < state->thread[t].loads; n++) {
			a = tso_mix(a, state->thread[t].loaded[n]);
			b = tso_mix(b, state->thread[t].loaded[n] + n);
		}
	}
	for (i = a & (room - 1); tso_seen[i].a || tso_seen[i].b; i = (i + 1) & (room - 1))
		if (tso_seen[i].a == a && tso_seen[i].b == b)
			return false;
	if (++tso_states * 2 > room) {
		void *old = tso_seen;
		struct { uint64_t a, b; } *from = old;

		tso_room *= 2;
		tso_seen = calloc(tso_room, sizeof(*tso_seen));
		if (!tso_seen)
			abort();
		for (i = 0; i < room; i++)
			if (from[i].a || from[i].b)
				tso_insert(from[i].a, from[i].b);
		free(old);
	}
	tso_insert(a, b);
	return true;
}

/* ---- the search: a stack of states ---- */

static struct tso_state *tso_stack;
static uint64_t tso_depth, tso_stack_room;

static struct tso_state *tso_push(const struct tso_state *state)
{
	if (tso_depth == tso_stack_room) {
		tso_stack_room = tso_stack_room ? 2 * tso_stack_room : 256;
		tso_stack = realloc(tso_stack, tso_stack_room * sizeof(*tso_stack));
		if (!tso_stack)
			abort();
	}
	tso_stack[tso_depth] = *state;
	return &tso_stack[tso_depth++];
}

static uint64_t tso_value(const struct tso_state *state, uint32_t thread, int word)
{
	uint32_t i;

	for (i = tso_run.stores; i > state->thread[thread].flushed; i--)
		if (tso_run.store[i - 1].word == word)
			return tso_run.store[i - 1].value;
	return state->memory[word];
}

/* Pushes the states that follow by a step of a thread, or by a flush of its buffer. */
static void tso_expand(const struct tso_state *state, uint32_t thread)
{
	struct tso_state *next;

	tso_replay(state, thread);
	if (tso_run.pending >= 0) {
		uint64_t value = tso_value(state, thread, tso_run.pending);

		next = tso_push(state);
		next->thread[thread].loaded[next->thread[thread].loads++] = value;
		if (!tso_new(next))
			tso_depth--;
	}
	if (state->thread[thread].flushed < tso_run.stores) {
		struct tso_store *oldest = &tso_run.store[state->thread[thread].flushed];

		next = tso_push(state);
		next->memory[oldest->word] = oldest->value;
		next->thread[thread].flushed++;
		if (!tso_new(next))
			tso_depth--;
	}
}

static struct tso_state tso_first;	/* memory at the start; zero except for tso_start() */

/* Sets a word's value at the start. */
static inline void tso_start(const uint64_t *word, uint64_t value)
{
	tso_first.memory[tso_word(word)] = value;
}

/* Explores everything that follows from memory as it is. Words in the given range never change. */
static int tso_explore(const void *fixed, const void *fixed_end)
{
	struct tso_state state;
	uint32_t t;

	tso_fixed = fixed;
	tso_fixed_end = fixed_end;
	tso_seen = calloc(tso_room, sizeof(*tso_seen));
	if (!tso_seen)
		abort();
	tso_push(&tso_first);
	while (tso_depth) {
		state = tso_stack[--tso_depth];
		for (t = 0; t < tso_threads; t++)
			tso_expand(&state, t);
	}
	printf("** 0 of %lu failed (states of x86-TSO)\n", (unsigned long)tso_states);
	return 0;
}

#endif
