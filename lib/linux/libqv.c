// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The calls of libqv: those of qv/end.h, with waiting and bells. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

/* Longest sleep in ms. A peer of a channel without bells, or a peer that died, may ring no bell. */
#define SLEEP_BELL	100
#define SLEEP_NO_BELL	1
/* Before the first sleep of a call, it tries again for this time, if Linux has several CPUs. */
#define SPIN_NS		50000
#define SPIN_TRIES	32		/* between two looks at the clock */

int lib_attach(struct qv_channel *c, const char *path, uint64_t length, uint32_t self)
{
	const struct qv_chan_page *life_page;
	const struct qv_chan_end *own;
	const char *wrong;
	int result;

	c->length = length;
	c->window = mmap(NULL, length, PROT_READ, MAP_SHARED, c->file, 0);
	if (c->window == MAP_FAILED) {
		c->window = NULL;
		return lib_fail_system("mmap", path);
	}
	life_page = c->window;
	c->end.page = *life_page;
	wrong = qv_chan_check(&c->end.page, length);
	if (wrong)
		return lib_fail(QV_CHAN_LAYOUT, "%s: %s", path, wrong);
	if (self >= c->end.page.ends)
		return lib_fail(QV_CHAN_USAGE, "%s: the channel has %u ends, so there is no end %u",
				path, c->end.page.ends, self);
	own = &c->end.page.end[self];
	if (c->end.page.type == QV_CHAN_MEMORY && own->flags & QV_CHAN_END_WRITES)
		own = &c->end.page.end[0];
	if (own->size && mmap((char *)c->window + own->offset, own->size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, c->file, (off_t)own->offset) == MAP_FAILED)
		return lib_fail_system("mmap of the section for writing", path);
	result = qv_end_attach(&c->end, c->window, length, self);
	return result ? lib_fail(result, "%s: %s", path, qv_chan_sentence(result)) : 0;
}

void qv_close(struct qv_channel *c)
{
	if (!c)
		return;
	/* a program without this library may use the end next, and arm nothing */
	if (c->waited)
		qv_end_will_arm(&c->end, false);
	if (c->window)
		munmap(c->window, c->length);
	c->source->close(c);
	free(c);
}

const struct qv_chan_page *qv_page(const struct qv_channel *c)
{
	return &c->end.page;
}

void qv_status(const struct qv_channel *c, struct qv_end_status *status)
{
	qv_end_status(&c->end, status);
}

int qv_expect(const struct qv_channel *c, uint32_t type, uint64_t item, const char *schema)
{
	const struct qv_chan_page *page = &c->end.page;

	if (type && type != page->type)
		return lib_fail(QV_LIB_MISMATCH, "%s has type %u, the program expects %u",
				page->name, page->type, type);
	if (item && item != page->item)
		return lib_fail(QV_LIB_MISMATCH,
				"%s has items of %lu bytes, the program expects %lu", page->name,
				(unsigned long)page->item, (unsigned long)item);
	if (schema && strcmp(schema, page->schema))
		return lib_fail(QV_LIB_MISMATCH,
				"%s has the schema \"%s\", the program expects \"%s\"", page->name,
				page->schema, schema);
	return 0;
}

#define NS_PER_MS 1000000LL

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool several_cpus(void)
{
	static int cpus;
	int known = __atomic_load_n(&cpus, __ATOMIC_RELAXED);

	if (!known) {
		known = (int)sysconf(_SC_NPROCESSORS_ONLN);
		__atomic_store_n(&cpus, known, __ATOMIC_RELAXED);
	}
	return known > 1;
}

/* Sleeps until a bell, or for a while. Returns 0, or QV_LIB_TIMEOUT after `end`. */
static int sleep_until(struct qv_channel *c, int timeout_ms, int64_t end)
{
	int longest = c->end.page.flags & QV_CHAN_BELL ? SLEEP_BELL : SLEEP_NO_BELL;
	struct pollfd wait = { .fd = c->waits, .events = POLLIN };
	/* rounded up: a wait never ends before its time */
	int64_t left = timeout_ms < 0 ? longest : (end - now_ns() + NS_PER_MS - 1) / NS_PER_MS;

	if (left <= 0)
		return lib_fail(QV_LIB_TIMEOUT, "%s: no success in %d ms", c->end.page.name,
				timeout_ms);
	if (poll(&wait, 1, left < longest ? (int)left : longest) < 0)
		return errno != EINTR ? lib_fail_system("poll", c->end.page.name) :
		       lib_fail(QV_LIB_INTERRUPTED, "%s: a signal arrived", c->end.page.name);
	return 0;
}

/* One call of qv/end.h that may have to wait */
struct attempt {
	int (*call)(struct qv_channel *channel, struct attempt *with);
	void *to;
	const void *from;
	size_t size;
	struct qv_item item;
	bool writes;
};

static bool may_wait(const struct qv_channel *c, const struct attempt *a, int result)
{
	if (!a->writes)
		return result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT ||
		       result == QV_CHAN_LAPPED;
	return (result == QV_CHAN_FULL || result == QV_CHAN_ABSENT) &&
	       (c->end.page.full == QV_CHAN_FULL_BLOCK || c->end.page.type == QV_CHAN_MAILBOX);
}

/* The manager clears the life page when no cell lists the channel. */
static bool exists(const struct qv_channel *c)
{
	const volatile struct qv_chan_page *life_page = c->window;

	return life_page->session == c->end.page.session;
}

static int gone(const struct qv_channel *c)
{
	return exists(c) ? 0 : lib_fail(QV_LIB_NOT_FOUND, "%s: this channel no longer exists",
					c->end.page.name);
}

/* Says that this end arms its bell, once a call may have to wait. */
static void will_arm(struct qv_channel *c, int timeout_ms)
{
	if (!timeout_ms || c->waited)
		return;
	c->waited = true;
	qv_end_will_arm(&c->end, true);
}

/* Begins a call that may have to wait. */
static int begin(struct qv_channel *c, int timeout_ms)
{
	will_arm(c, timeout_ms);
	return gone(c);
}

/* A call of a ring's writer counts a refused item if the ring is still full, so it looks before. */
static bool worth_a_call(const struct qv_channel *c, const struct attempt *a)
{
	return !a->writes || !qv_end_full(&c->end);
}

/* Tries again for a short time, in which a peer on another CPU often answers. */
static int spin(struct qv_channel *c, struct attempt *a, int result)
{
	int64_t end = now_ns() + SPIN_NS;
	int tries;

	if (!several_cpus())
		return result;
	do
		for (tries = 0; tries < SPIN_TRIES && may_wait(c, a, result); tries++) {
			__builtin_ia32_pause();
			if (worth_a_call(c, a))
				result = a->call(c, a);
		}
	while (may_wait(c, a, result) && now_ns() < end);
	return result;
}

/*
 * Tries a call, again for a short time, arms the bell, tries again, sleeps: a bell between the
 * steps is not lost.
 */
static int carry_on(struct qv_channel *c, struct attempt *a, int result, int timeout_ms)
{
	int64_t end = timeout_ms > 0 ? now_ns() + timeout_ms * NS_PER_MS : 0;
	int slept = 0;

	if (may_wait(c, a, result) && timeout_ms)
		result = spin(c, a, result);
	while (may_wait(c, a, result) && timeout_ms) {
		qv_arm(c);
		result = a->call(c, a);
		if (!may_wait(c, a, result))
			break;
		slept = sleep_until(c, timeout_ms, end);
		if (!slept)
			slept = gone(c);
		if (slept)
			break;
		result = a->call(c, a);
	}
	if (timeout_ms)
		qv_end_arm(&c->end, false);
	if (slept)
		return slept;
	if (result >= 0)
		return result;
	return lib_fail_call(result, c->end.page.name);
}

/* A write rings. So does each read of a ring: its writer may wait for a slot. */
static int ring_after(struct qv_channel *c, int result, bool writes)
{
	if (!result && c->end.page.flags & QV_CHAN_BELL &&
	    (writes || c->end.page.type == QV_CHAN_RING) && qv_end_rings(&c->end))
		c->source->ring(c);
	return result;
}

/* Continues a call after its first try, which had this result. */
static int go_on(struct qv_channel *c, struct attempt *a, int result, int timeout_ms)
{
	if (timeout_ms && result < 0)
		result = carry_on(c, a, result, timeout_ms);
	else if (result < 0)
		result = lib_fail_call(result, c->end.page.name);
	return result;
}

static int try_write(struct qv_channel *c, struct attempt *a)
{
	return qv_end_write(&c->end, a->from, a->size);
}

static int try_read(struct qv_channel *c, struct attempt *a)
{
	return qv_end_read(&c->end, a->to, a->size, &a->item);
}

static int try_claim(struct qv_channel *c, struct attempt *a)
{
	return qv_end_claim(&c->end, a->to);
}

static int try_peek(struct qv_channel *c, struct attempt *a)
{
	return qv_end_peek(&c->end, (const void **)a->to, &a->item);
}

int qv_write(struct qv_channel *c, const void *data, size_t size, int timeout_ms)
{
	struct attempt a;
	int result = begin(c, timeout_ms);

	if (result)
		return result;
	result = qv_end_write(&c->end, data, size);
	if (result) {
		if (!timeout_ms)
			return lib_fail_call(result, c->end.page.name);
		a = (struct attempt){ .call = try_write, .from = data, .size = size,
				      .writes = true };
		result = carry_on(c, &a, result, timeout_ms);
	}
	return ring_after(c, result, true);
}

int qv_read(struct qv_channel *c, void *data, size_t size, struct qv_item *item, int timeout_ms)
{
	struct qv_item about;
	struct attempt a;
	int result = begin(c, timeout_ms);

	if (!item)
		item = &about;
	*item = (struct qv_item){ 0 };
	if (result)
		return result;
	if (size != c->end.page.item)
		return lib_fail(QV_CHAN_SIZE, "%s: an item has %lu bytes, the buffer %lu",
				  c->end.page.name, (unsigned long)c->end.page.item,
				  (unsigned long)size);
	result = qv_end_read(&c->end, data, size, item);
	if (result) {
		if (!timeout_ms)
			return lib_fail_call(result, c->end.page.name);
		a = (struct attempt){ .call = try_read, .to = data, .size = size };
		result = carry_on(c, &a, result, timeout_ms);
		*item = a.item;
	}
	return ring_after(c, result, false);
}

int qv_read_again(struct qv_channel *c, void *data, size_t size, struct qv_item *item)
{
	struct qv_item ignored;
	int result = qv_end_read_again(&c->end, data, size, item ? item : &ignored);

	return result ? lib_fail(result, "%s: %s", c->end.page.name, qv_chan_sentence(result)) : 0;
}

int qv_claim(struct qv_channel *c, void **data, int timeout_ms)
{
	struct attempt a = { .call = try_claim, .to = data, .writes = true };
	int result = begin(c, timeout_ms);

	return result ? result : go_on(c, &a, try_claim(c, &a), timeout_ms);
}

int qv_commit(struct qv_channel *c, size_t size)
{
	return ring_after(c, qv_end_commit(&c->end, size), true);
}

int qv_abort(struct qv_channel *c)
{
	return qv_end_abort(&c->end);
}

int qv_peek(struct qv_channel *c, const void **data, struct qv_item *item, int timeout_ms)
{
	struct attempt a = { .call = try_peek, .to = data };
	int result = begin(c, timeout_ms);

	if (!result)
		result = go_on(c, &a, try_peek(c, &a), timeout_ms);
	if (item)
		*item = a.item;
	return result;
}

int qv_release(struct qv_channel *c)
{
	return ring_after(c, qv_end_release(&c->end), false);
}

static int try_claim_n(struct qv_channel *c, struct attempt *a)
{
	return qv_end_claim_n(&c->end, (uint32_t)a->size);
}

static int try_peek_n(struct qv_channel *c, struct attempt *a)
{
	return qv_end_peek_n(&c->end, (uint32_t)a->size);
}

int qv_claim_n(struct qv_channel *c, uint32_t n, int timeout_ms)
{
	struct attempt a = { .call = try_claim_n, .size = n, .writes = true };
	int result = begin(c, timeout_ms);

	return result ? result : go_on(c, &a, try_claim_n(c, &a), timeout_ms);
}

void *qv_claimed(const struct qv_channel *c, uint32_t i)
{
	return qv_end_claimed(&c->end, i);
}

int qv_commit_n(struct qv_channel *c, uint32_t n)
{
	return ring_after(c, qv_end_commit_n(&c->end, n), true);
}

int qv_peek_n(struct qv_channel *c, uint32_t n, int timeout_ms)
{
	struct attempt a = { .call = try_peek_n, .size = n };
	int result = begin(c, timeout_ms);

	return result ? result : go_on(c, &a, try_peek_n(c, &a), timeout_ms);
}

const void *qv_peeked(const struct qv_channel *c, uint32_t i, struct qv_item *item)
{
	return qv_end_peeked(&c->end, i, item);
}

int qv_release_n(struct qv_channel *c, uint32_t n)
{
	return ring_after(c, qv_end_release_n(&c->end, n), false);
}

int qv_memory(struct qv_channel *c, void **data, uint64_t *size, bool *writable)
{
	return qv_end_memory(&c->end, data, size, writable);
}

int qv_fd(const struct qv_channel *c)
{
	return c->waits;
}

int qv_arm(struct qv_channel *c)
{
	c->source->arm(c);
	will_arm(c, -1);
	qv_end_arm(&c->end, true);
	return 0;
}

int qv_ring(struct qv_channel *c)
{
	c->source->ring(c);
	return 0;
}
