// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../mm/pages.h"
#include "memory.h"
#include "takeover.h"

#define VERSION		1
#define BUFFERS		3		/* one may change while another one is spoilt */
#define LOOKS_MIN	3		/* the time of a pair has so many looks at least */
#define HASH_FACTOR	0x9E3779B97F4A7C15ull
#define LONGEST_US	10000000	/* an older time of a fault is not used */
#define NUMBER_MAX	(1ull << 62)	/* of a save of the other cell: none is lost by overflow */

/*
 * The memory of a cell, which it alone writes. Each word is stored once. Save k is in buffer
 * k % BUFFERS. `number` of a buffer is 0 while its contents change; the hash is of its other words
 * and contents, so a buffer that a fault has spoilt is not used. Both cells count saves in one
 * sequence: a cell that takes the component over continues with the other's number.
 */
struct memory {
	uint64_t version;
	uint64_t word;			/* role and epoch: pair.h */
	uint64_t beat;			/* TSC of its last look or save */
	uint64_t offered;		/* TSC of the fault after which it offers the component */
	struct buffer {
		uint64_t number, bytes, saved, hash;	/* saved: TSC */
	} buffers[BUFFERS];
};

static struct takeover {
	struct pair pair;
	struct memory *own;		/* NULL: it has no pair */
	const struct memory *other;
	size_t own_room, other_room;	/* of a checkpoint */
	uint64_t saves;			/* number of the last checkpoint, of whichever cell */
	const uint64_t *life;		/* of the other cell */
	uint64_t limit;			/* of the pair */
	struct pair_other view;		/* of the last look */
	uint64_t beat, changed;		/* the other's last look, and the TSC at which it came */
	uint64_t generation, ran;	/* of the other cell, and the last TSC at which it ran */
} takeovers[COMPONENTS_MAX];

/* The other cell may change each word at any time: loaded once, then checked. */
static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Room of each buffer in a memory of `item` bytes. The first page has the words. */
static size_t room_in(uint64_t item)
{
	return item <= PAGE_SIZE ? 0 : (item - PAGE_SIZE) / BUFFERS & ~7ull;
}

static unsigned char *buffer_at(const struct memory *m, size_t room, uint64_t save)
{
	return (unsigned char *)m + PAGE_SIZE + save % BUFFERS * room;
}

static const char *open_both(struct takeover *t, const struct component_rule *r)
{
	const struct qv_end *from;
	void *own, *other;
	uint64_t bytes;

	if (!memory_open(r->send, true, 2, &own, &bytes))
		return "its channel SEND is not a memory of two cells that this one writes";
	t->own_room = room_in(bytes);
	from = memory_open(r->receive, false, 2, &other, &bytes);
	if (!from)
		return "its channel RECEIVE is not a memory of two cells that the other one writes";
	t->other_room = room_in(bytes);
	if (!t->own_room || !t->other_room || t->own_room < r->checkpoint_bytes ||
	    t->other_room < r->checkpoint_bytes)
		return "its channels are too small: 4 KiB and three checkpoints each";
	t->life = memory_life(from);
	t->own = own;
	t->other = other;
	return NULL;
}

/*
 * The memory is as it was, if the cell is on standby and has begun again: its epoch continues. If
 * it had the component, it starts it at its last save, unless the other cell has it by then.
 */
static void begin(struct takeover *t, bool first)
{
	struct pair_word before = pair_unpack(load(&t->own->word));
	bool had = before.role >= PAIR_CLAIMS;

	t->pair = (struct pair){ .first = first, .seen = had,
				 .own = { .role = PAIR_WAITS, .epoch = before.epoch } };
	t->ran = had ? load(&t->own->beat) : 0;
}

const char *takeover_init(unsigned int n, const struct component_rule *r, uint64_t period)
{
	struct takeover *t = &takeovers[n];
	const char *wrong;

	*t = (struct takeover){ .limit = timer_from_us(r->takeover_us) };
	if (t->limit < LOOKS_MIN * period)
		return "the time of takeover= is shorter than three periods of the VCPU recovery";
	wrong = open_both(t, r);
	if (wrong)
		return wrong;
	begin(t, !r->standby);
	t->changed = rdtsc();
	store(&t->own->version, VERSION);
	return NULL;
}

bool takeover_used(unsigned int n)
{
	return takeovers[n].own;
}

static struct pair_other view_of(const struct takeover *t, uint64_t now)
{
	unsigned int state = QV_CHAN_STATE(load(t->life));

	return (struct pair_other){
		.word = pair_unpack(load(&t->other->word)),
		.runs = state == QV_CHAN_IS_RUNNING,
		.ended = state == QV_CHAN_IS_STOPPED || state == QV_CHAN_IS_FAILED,
		.fresh = now - t->changed <= t->limit,
	};
}

/* The time is read after the beat, so that TIME since a beat has passed when it is not fresh. */
static void note_beat(struct takeover *t)
{
	uint64_t beat = load(&t->other->beat);
	uint64_t generation = QV_CHAN_GENERATION(load(t->life));

	if (beat == t->beat && generation == t->generation)
		return;
	t->beat = beat;
	t->generation = generation;
	t->changed = rdtsc();
}

void takeover_publish(unsigned int n)
{
	struct takeover *t = &takeovers[n];

	/* the next look loads the other's word after this */
	(void)__atomic_exchange_n(&t->own->word, pair_pack(&t->pair.own), __ATOMIC_SEQ_CST);
}

enum pair_act takeover_look(unsigned int n)
{
	struct takeover *t = &takeovers[n];
	enum pair_act act;
	uint64_t now;
	bool claimed;

	do {
		note_beat(t);
		now = rdtsc();
		t->view = view_of(t, now);
		claimed = t->pair.own.role == PAIR_CLAIMS;
		act = pair_step(&t->pair, &t->view);
		store(&t->own->beat, now);
		if (act != PAIR_STOP)
			takeover_publish(n);
	} while (t->pair.own.role == PAIR_CLAIMS && !claimed);
	if (t->view.runs && act != PAIR_START)
		t->ran = now;
	return act;
}

void takeover_beat(unsigned int n)
{
	struct takeover *t = &takeovers[n];

	/* the caller's next load of the other's word comes after this */
	if (t->own)
		(void)__atomic_exchange_n(&t->own->beat, rdtsc(), __ATOMIC_SEQ_CST);
}

bool takeover_possible(unsigned int n)
{
	const struct takeover *t = &takeovers[n];
	struct pair_other o;

	if (!t->own)
		return false;
	o = view_of(t, rdtsc());
	return o.runs && o.fresh && o.word.role == PAIR_WAITS;
}

void takeover_leave(unsigned int n, bool offer, uint64_t fault)
{
	struct takeover *t = &takeovers[n];

	if (!t->own)
		return;
	t->pair.own.role = offer ? PAIR_OFFERS : PAIR_LOST;
	store(&t->own->offered, fault);
	takeover_publish(n);
}

void takeover_wait(unsigned int n)
{
	takeovers[n].pair.own.role = PAIR_WAITS;
	takeover_publish(n);
}

bool takeover_has(unsigned int n)
{
	return !takeovers[n].own || takeovers[n].pair.own.role == PAIR_HAS;
}

bool takeover_is_over(unsigned int n)
{
	struct takeover *t = &takeovers[n];
	struct pair_other o;

	if (!t->own)
		return false;
	o = view_of(t, rdtsc());
	return pair_is_over(&t->pair.own, &o);
}

uint64_t takeover_fault(unsigned int n, uint64_t now)
{
	const struct takeover *t = &takeovers[n];
	uint64_t before = t->beat - load(&t->other->offered), at = t->ran;

	if (t->view.word.role < PAIR_CLAIMS && !t->pair.seen)
		return 0;
	if (t->view.runs && t->view.word.role >= PAIR_OFFERS)
		at = before < timer_from_us(LONGEST_US) ? t->changed - before : now;
	else if (t->view.runs && !t->view.fresh)
		at = t->changed + t->limit;
	return at && at < now ? at : now;
}

/* Copies whole words, and returns their hash, which continues `hash`. */
static uint64_t copy_words(void *to, const void *from, size_t bytes, uint64_t hash)
{
	const uint64_t *word = from, *end = word + (bytes + 7) / 8;
	uint64_t *copy = to;

	for (; word < end; word++, copy++) {
		*copy = load(word);
		hash = (hash ^ *copy) * HASH_FACTOR;
		hash ^= hash >> 32;
	}
	return hash;
}

static uint64_t hash_head(uint64_t number, uint64_t bytes, uint64_t saved)
{
	const uint64_t head[] = { number, bytes, saved };
	uint64_t copy[3];

	return copy_words(copy, head, sizeof(head), 0);
}

static size_t part_of(size_t bytes, size_t done)
{
	return bytes - done < PAGE_SIZE ? bytes - done : PAGE_SIZE;
}

/*
 * Writes a checkpoint as number `save`, which was complete at TSC `saved`, to this cell's memory.
 * Returns false if program `p` (NULL: none) ends meanwhile. Lets interrupts in.
 */
static bool write(struct takeover *t, uint64_t save, uint64_t saved, const struct process *p,
		  const unsigned char *from, size_t bytes)
{
	struct buffer *b = &t->own->buffers[save % BUFFERS];
	unsigned char *to = buffer_at(t->own, t->own_room, save);
	uint64_t hash = hash_head(save, bytes, saved);
	size_t done, part;

	store(&b->number, 0);
	for (done = 0; done < bytes; done += part) {
		part = part_of(bytes, done);
		hash = copy_words(to + done, from + done, part, hash);
		let_interrupts_in();
		if (p && p->ending)
			return false;
	}
	store(&b->bytes, bytes);
	store(&b->saved, saved);
	store(&b->hash, hash);
	store(&b->number, save);
	return true;
}

bool takeover_save(unsigned int n, const struct process *p, const void *from, size_t bytes)
{
	struct takeover *t = &takeovers[n];
	uint64_t save = t->saves + 1;

	if (!t->own)
		return true;
	if (!write(t, save, rdtsc(), p, from, bytes))
		return false;
	/*
	 * Either the other cell finds this beat and the save when it has claimed, or its claim is
	 * found here.
	 */
	takeover_beat(n);
	if (takeover_is_over(n)) {
		store(&t->own->buffers[save % BUFFERS].number, 0);
		return false;
	}
	t->saves = save;
	return true;
}

/*
 * Copies checkpoint `number` in buffer `i` of either cell. Returns its size; 0: it is not whole.
 */
static size_t fetch(const struct takeover *t, bool own, unsigned int i, uint64_t number,
		    unsigned char *to, size_t room, uint64_t *age)
{
	const struct memory *m = own ? t->own : t->other;
	size_t most = own ? t->own_room : t->other_room, done, part;
	const struct buffer *b = &m->buffers[i];
	uint64_t bytes = load(&b->bytes), saved = load(&b->saved);
	uint64_t hash = hash_head(number, bytes, saved);
	const unsigned char *from = buffer_at(m, most, i);

	if (number > NUMBER_MAX || number % BUFFERS != i || bytes > room || bytes > most)
		return 0;
	for (done = 0; done < bytes; done += part) {
		part = part_of(bytes, done);
		hash = copy_words(to + done, from + done, part, hash);
		let_interrupts_in();
	}
	if (load(&b->number) != number || load(&b->hash) != hash)
		return 0;
	/* the clocks of the cells are not compared */
	*age = own ? rdtsc() - saved :
	       rdtsc() - t->changed + (t->beat > saved ? t->beat - saved : 0);
	return bytes;
}

size_t takeover_fetch(unsigned int n, void *to, size_t room, uint64_t *age)
{
	struct takeover *t = &takeovers[n];
	/* of the other cell, then of this one, whose save with the same number did not succeed */
	uint64_t numbers[2 * BUFFERS] = { 0 };
	unsigned int tried, i, newest;
	size_t bytes;

	for (i = 0; t->own && i < 2 * BUFFERS; i++)
		numbers[i] = load(&(i < BUFFERS ? t->other : t->own)->buffers[i % BUFFERS].number);
	for (tried = 0; tried < 2 * BUFFERS; tried++) {
		for (i = 1, newest = 0; i < 2 * BUFFERS; i++)
			if (numbers[i] > numbers[newest])
				newest = i;
		/* the last checkpoint of this life may be the newer one */
		if (numbers[newest] <= t->saves)
			return 0;
		bytes = fetch(t, newest >= BUFFERS, newest % BUFFERS, numbers[newest], to, room,
			      age);
		if (bytes) {
			/* if this cell fails before its first save, the other one finds it here */
			if (newest < BUFFERS)
				(void)write(t, numbers[newest], rdtsc() - *age, NULL, to, bytes);
			t->saves = numbers[newest];
			return bytes;
		}
		numbers[newest] = 0;
	}
	return 0;
}
