// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/process/children.h"
#include "../kernel/process/process.h"
#include "../kernel/wait.h"
#include "../mm/pages.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "memory.h"
#include "replica.h"

#define VERSION		1
#define LOOKS_MIN	3		/* TIME has so many looks at least */
#define POLL_US		200		/* between two looks of a program that waits */
#define FIRST_US	100000		/* a program has so much more time for its first vote */
#define COMES_US	10000000	/* a cell may come so much later than this one */
#define TRIES		8		/* to copy a state that its cell may replace meanwhile */
#define HASH_BYTES	1024		/* hashed with interrupts off */

_Static_assert(sizeof(struct vote_memory) <= PAGE_SIZE, "the states begin at the next page");
_Static_assert(CHECKPOINT_MAX <= VOTE_PAGES * PAGE_SIZE, "each page has a hash");

/* Another cell, as the thread `recovery` sees it */
struct other {
	const uint64_t *life;
	const char *name;
	bool seen;			/* it has voted */
	uint64_t judged;		/* all votes up to this number have been compared */
	uint64_t since;			/* when it was not behind for the last time */
	bool late;
};

static struct replica {
	struct vote_memory *own;	/* NULL: it is no replica */
	const struct vote_memory *all[VOTE_CELLS];	/* of this cell and of the others */
	size_t room[VOTE_CELLS];
	struct other others[VOTE_OTHERS];
	uint64_t limit;			/* TIME */
	uint64_t awaits;		/* until when cells that have never voted may still come */
	uint64_t last, agreed;		/* number of the last vote, and of the last agreed vote */
	uint64_t two;			/* bit k % VOTE_RING: another cell agreed with vote k */
	bool open;			/* the last vote is not agreed */
	bool first;			/* the program has not voted */
	uint64_t since;			/* of the last vote, or of the start */
	uint64_t behind;		/* since when the others agree without this cell */
	struct hash root, pages[VOTE_PAGES];	/* of the last vote */
	struct vote covered;		/* the vote whose place the last vote has taken */
	struct hash draft[VOTE_PAGES];	/* of the vote that the program is about to make */
	struct replica_counts counts;
} replicas[COMPONENTS_MAX];

static struct wait_queue waiting;	/* programs, until another cell agrees */

static size_t room_in(uint64_t item)
{
	return item <= PAGE_SIZE ? 0 : (item - PAGE_SIZE) / VOTE_STATES & ~(PAGE_SIZE - 1);
}

static const unsigned char *state_at(const struct replica *r, unsigned int cell, uint64_t number)
{
	return (const unsigned char *)r->all[cell] + PAGE_SIZE +
	       number % VOTE_STATES * r->room[cell];
}

static const char *open_all(struct replica *r, const struct component_rule *rule)
{
	const struct qv_end *end;
	unsigned int i;
	uint64_t bytes;
	void *data;

	for (i = 0; i < VOTE_CELLS; i++) {
		end = memory_open(rule->replica[i], !i, VOTE_CELLS, &data, &bytes);
		if (!end)
			return i ? "its channels RECEIVE are not memories of three cells that each "
				   "other one writes" :
				   "its channel SEND is not a memory of three cells that this one "
				   "writes";
		r->all[i] = data;
		r->room[i] = room_in(bytes);
		if (!i)			/* votes of a life before, if the cell is on standby */
			memset(data, 0, bytes);
		if (r->room[i] < rule->checkpoint_bytes)
			return "its channels are too small: 4 KiB and four states each, in whole "
			       "pages of 4 KiB";
		if (!i)
			continue;
		r->others[i - 1].life = memory_life(end);
		r->others[i - 1].name = end->page.end[0].name;
	}
	return NULL;
}

const char *replica_init(unsigned int n, const struct component_rule *rule, uint64_t period)
{
	struct replica *r = &replicas[n];
	const char *wrong;

	*r = (struct replica){ .limit = timer_from_us(rule->limit[DETECT_BEHIND]) };
	r->awaits = rdtsc() + timer_from_us(COMES_US);
	if (r->limit < LOOKS_MIN * period)
		return "the time of replica= is shorter than three periods of the VCPU recovery";
	wrong = open_all(r, rule);
	if (wrong)
		return wrong;
	r->own = (struct vote_memory *)r->all[0];
	vote_store(&r->own->version, VERSION);
	return NULL;
}

bool replica_used(unsigned int n)
{
	return replicas[n].own;
}

static size_t part_of(size_t bytes, size_t done, size_t most)
{
	return bytes - done < most ? bytes - done : most;
}

/* Hashes a page. Lets interrupts in. */
static struct hash hash_page(const unsigned char *page, size_t bytes)
{
	struct digest d;
	size_t done, part;

	digest_begin(&d);
	for (done = 0; done < bytes; done += part) {
		part = part_of(bytes, done, HASH_BYTES);
		digest_add(&d, page + done, part);
		let_interrupts_in();
	}
	return digest_end(&d);
}

static void hash_state(const unsigned char *state, size_t bytes, struct hash *pages)
{
	size_t done, part;

	for (done = 0; done < bytes; done += part) {
		part = part_of(bytes, done, PAGE_SIZE);
		*pages++ = hash_page(state + done, part);
	}
}

/* Writes the vote of the draft to this cell's memory. Returns false if program `p` ends. */
static bool publish(struct replica *r, uint64_t number, const struct hash *root,
		    const struct process *p, const unsigned char *state, size_t bytes)
{
	struct vote_state *s = &r->own->states[number % VOTE_STATES];
	unsigned char *to = (unsigned char *)state_at(r, 0, number);
	size_t done, part;

	vote_take_back(r->own, number - 1);	/* those that a fault left there */
	vote_store(&s->number, 0);
	for (done = 0; done < bytes; done += part) {
		part = part_of(bytes, done, PAGE_SIZE);
		memcpy(to + done, state + done, part);
		let_interrupts_in();
		if (p && p->ending)
			return false;
	}
	memcpy(r->pages, r->draft, sizeof(r->pages));
	memcpy(s->pages, r->draft, sizeof(s->pages));
	vote_store(&s->bytes, bytes);
	vote_store(&s->number, number);
	r->covered = r->own->ring[number % VOTE_RING];
	vote_publish(r->own, number, root);
	r->root = *root;
	r->last = number;
	r->two &= ~(1ull << number % VOTE_RING);
	r->open = true;
	return true;
}

/*
 * Judges another cell that has not voted. It is late after TIME, and has failed if it does not run.
 * A cell that has never voted may still come and decide, if no vote was agreed without it. It also
 * may while cells start: else a hostile cell agrees with the first one, then makes it restart.
 */
static void judge_silent(const struct replica *r, unsigned int i, struct vote_other *other)
{
	const struct other *o = &r->others[i];
	bool runs = QV_CHAN_STATE(vote_load(o->life)) == QV_CHAN_IS_RUNNING;
	uint64_t now = rdtsc(), newest = vote_newest(r->all[1 + i]);
	bool late = now > r->since && now - r->since > r->limit;

	other->gone = (o->seen && !runs) ||
		      (late && (o->seen || (r->agreed && now > r->awaits)));
	/* if its newest vote is agreed, it is slow, or needs the vote that is covered */
	other->elsewhere = runs && late && newest && newest != r->last &&
			   (newest > r->agreed || newest == r->covered.number);
}

static enum vote_verdict judge(struct replica *r, struct vote_other others[VOTE_OTHERS],
			       unsigned int *agree)
{
	unsigned int i;

	for (i = 0; i < VOTE_OTHERS; i++) {
		others[i] = (struct vote_other){ .voted = false };
		others[i].voted = vote_read(r->all[1 + i], r->last, &others[i].root);
		r->others[i].seen |= others[i].voted;
		if (!others[i].voted)
			judge_silent(r, i, &others[i]);
	}
	return vote_judge(&r->root, others, agree);
}

static void agree_on(struct replica *r)
{
	r->open = false;
	r->behind = 0;
	r->agreed = r->last;
	r->two |= 1ull << r->last % VOTE_RING;
}

/* The last vote on which the others agree. */
static uint64_t others_agreed(const struct replica *r, struct hash *root)
{
	return vote_agreed(r->all + 1, VOTE_OTHERS, UINT64_MAX, root);
}

/*
 * Whether the others have begun afresh, and agree on vote `number`, since both had lost what this
 * cell agreed on. Else they are on their way to its last vote, from an earlier vote of this cell.
 */
static bool is_afresh(const struct replica *r, uint64_t number, const struct hash *root)
{
	struct hash own;
	unsigned int i;

	for (i = 1; i < VOTE_CELLS; i++)
		if (vote_newest(r->all[i]) + VOTE_RING > r->agreed)
			return false;
	return number && !(vote_read(r->own, number, &own) && hash_equal(&own, root));
}

/* Whether the others agree on a vote that this cell has not made. */
static bool is_behind(const struct replica *r)
{
	struct hash root;
	uint64_t number = others_agreed(r, &root);

	/* the number of an open vote may be a wrong one, above all others */
	return number > (r->open ? r->agreed : r->last) || is_afresh(r, number, &root);
}

/* Compares the votes of another cell with those on which this one has agreed with any other. */
static void compare(struct replica *r, unsigned int i, uint64_t now)
{
	struct other *o = &r->others[i];
	uint64_t newest = vote_newest(r->all[1 + i]), next;
	struct hash own, other;

	o->seen |= newest;
	if (r->agreed > o->judged + VOTE_RING)
		o->judged = r->agreed - VOTE_RING;
	while (o->judged < r->agreed) {
		next = o->judged + 1;
		if (vote_read(r->all[1 + i], next, &other)) {
			if (r->two >> next % VOTE_RING & 1 && vote_read(r->own, next, &own) &&
			    !hash_equal(&own, &other))
				r->counts.outvoted[1 + i]++;
		} else if (newest <= next) {
			break;
		}
		o->judged = next;
		o->late = false;
		o->since = now;
	}
	if (o->judged == r->agreed) {
		o->since = now;
	} else if (o->seen && !o->late && now - o->since > r->limit) {
		o->late = true;
		r->counts.late[1 + i]++;
	}
}

static void compare_all(struct replica *r, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < VOTE_OTHERS; i++)
		compare(r, i, now);
}

static long await(struct replica *r, const struct process *p)
{
	uint64_t until = rdtsc() + r->limit, next;
	struct vote_other others[VOTE_OTHERS];
	enum vote_verdict verdict;
	unsigned int agree;
	bool told = false;

	while (!p->ending) {
		verdict = judge(r, others, &agree);
		if (verdict == VOTE_AGREED) {
			r->counts.votes += r->open;
			agree_on(r);
			compare_all(r, rdtsc());
			return (long)agree | (is_behind(r) ? RECOVERY_BEHIND : 0);
		}
		next = rdtsc() + timer_from_us(POLL_US);
		if (next >= until)
			return -ETIMEDOUT;
		if (verdict != VOTE_OPEN && !told) {
			told = true;
			wake_all(process_kernel_children());
		}
		(void)wait_on_until(&waiting, next);
	}
	return -EINTR;
}

long replica_vote(unsigned int n, const struct process *p, uint64_t number, const void *state,
		  size_t bytes)
{
	struct replica *r = &replicas[n];
	struct hash root;

	if (!number || number > VOTE_MAX || number < r->last)
		return -EINVAL;
	hash_state(state, bytes, r->draft);
	root = vote_root(number, bytes, r->draft);
	if (number == r->last)
		return hash_equal(&root, &r->root) ? await(r, p) : -EINVAL;
	compare_all(r, rdtsc());	/* a cell that was outvoted may take its vote back soon */
	if (!publish(r, number, &root, p, state, bytes))
		return -EINTR;
	r->since = rdtsc();
	r->first = false;
	return await(r, p);
}

/*
 * Copies the state of vote `number` from the memory of a cell, if that has it and its hash is
 * `root`, with the hashes of its pages to the draft. Returns its size, or 0.
 */
static size_t copy_state(struct replica *r, unsigned int cell, uint64_t number,
			 const struct hash *root, unsigned char *to, size_t room)
{
	const struct vote_state *s = &r->all[cell]->states[number % VOTE_STATES];
	const unsigned char *from = state_at(r, cell, number);
	uint64_t bytes = vote_load(&s->bytes);
	size_t done, part;
	struct hash found;

	if (vote_load(&s->number) != number || !bytes || bytes > room || bytes > r->room[cell])
		return 0;
	for (done = 0; done < bytes; done += part) {
		part = part_of(bytes, done, PAGE_SIZE);
		memcpy(to + done, from + done, part);
		let_interrupts_in();
	}
	hash_state(to, bytes, r->draft);
	found = vote_root(number, bytes, r->draft);
	return hash_equal(&found, root) ? bytes : 0;
}

size_t replica_fetch(unsigned int n, void *to, size_t room, bool kept)
{
	struct replica *r = &replicas[n];
	uint64_t number, below = UINT64_MAX;
	unsigned int tries, cell;
	struct hash root;
	size_t bytes = 0;

	for (tries = 0; tries < TRIES; tries++) {
		number = vote_agreed(r->all, VOTE_CELLS, below, &root);
		if (kept && number && number < r->agreed && !is_afresh(r, number, &root))
			return 0;
		for (cell = 0; number && !bytes && cell < VOTE_CELLS; cell++)
			bytes = copy_state(r, cell, number, &root, to, room);
		if (bytes)
			break;
		below = number ? number : UINT64_MAX;	/* older ones, then again the newest */
	}
	if (!bytes)
		return 0;
	/* if two cells fail before the next vote, the third one finds it here, too */
	(void)publish(r, number, &root, NULL, to, bytes);
	agree_on(r);
	return bytes;
}

void replica_begin(unsigned int n, bool resumes)
{
	struct replica *r = &replicas[n];
	unsigned int i;

	if (!resumes)
		r->agreed = 0;
	r->last = r->agreed;
	vote_take_back(r->own, r->last);
	if (r->open && r->covered.number && r->covered.number <= r->last)
		vote_publish(r->own, r->covered.number, &r->covered.root);
	(void)vote_read(r->own, r->last, &r->root);
	r->covered.number = 0;
	r->open = false;
	r->first = true;
	r->since = rdtsc();
	r->behind = 0;
	for (i = 0; i < VOTE_OTHERS; i++) {
		r->others[i].judged = r->agreed;
		r->others[i].since = r->since;
		r->others[i].late = false;
	}
}

void replica_look(unsigned int n, uint64_t now)
{
	struct replica *r = &replicas[n];

	compare_all(r, now);
	if (!is_behind(r)) {
		r->behind = 0;
	} else if (!r->behind) {
		r->behind = r->since + (r->first ? timer_from_us(FIRST_US) : 0);
		if (r->behind < now)
			r->behind = now;
	}
}

/* The first page that differs from the state with the hash `root` of another cell, from 1. */
static unsigned int differing_page(const struct replica *r, const struct hash *root)
{
	static struct hash pages[VOTE_PAGES];
	const struct vote_state *s;
	unsigned int cell, i;
	struct hash found;
	uint64_t bytes;

	for (cell = 1; cell < VOTE_CELLS; cell++) {
		s = &r->all[cell]->states[r->last % VOTE_STATES];
		bytes = vote_load(&s->bytes);
		if (bytes > sizeof(pages) / sizeof(pages[0]) * PAGE_SIZE)
			continue;
		memcpy(pages, s->pages, sizeof(pages));
		found = vote_root(r->last, bytes, pages);
		if (!hash_equal(&found, root))
			continue;
		for (i = 0; i < vote_pages(bytes); i++)
			if (!hash_equal(&pages[i], &r->pages[i]))
				return i + 1;
	}
	return VOTE_PAGES + 1;
}

unsigned int replica_outvoted(unsigned int n)
{
	struct replica *r = &replicas[n];
	struct vote_other others[VOTE_OTHERS];
	unsigned int agree;

	if (!r->open || judge(r, others, &agree) != VOTE_OUTVOTED)
		return 0;
	r->counts.outvoted[0]++;
	r->counts.number = r->last;
	r->counts.page = differing_page(r, &others[0].root);
	return r->counts.page;
}

unsigned int replica_split(unsigned int n)
{
	struct replica *r = &replicas[n];
	struct vote_other others[VOTE_OTHERS];
	unsigned int agree;

	if (!r->open || judge(r, others, &agree) != VOTE_SPLIT)
		return 0;
	/* they agree on a later vote: behind */
	if (r->behind && !others[0].voted && !others[1].voted)
		return 0;
	return 1 + (others[0].voted || others[0].elsewhere) +
	       (others[1].voted || others[1].elsewhere);
}

uint64_t replica_behind(unsigned int n, uint64_t now)
{
	struct replica *r = &replicas[n];
	uint64_t time = r->behind && now > r->behind ? now - r->behind : 0;

	if (time > r->limit)
		r->counts.late[0]++;
	return time;
}

const struct replica_counts *replica_counts(unsigned int n)
{
	return &replicas[n].counts;
}

const char *replica_cell(unsigned int n, unsigned int cell)
{
	return replicas[n].others[cell - 1].name;
}
