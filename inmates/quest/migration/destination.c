// SPDX-License-Identifier: GPL-2.0-only
/* The destination's side of a link: receives programs, and lets them run. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../arch/user.h"
#include "../drivers/bell.h"
#include "../ipc/cellset.h"
#include "../kernel/dispatch.h"
#include "../kernel/machine.h"
#include "../kernel/process/move.h"
#include "../kernel/process/process.h"
#include "../kernel/vcpu/vcpu.h"
#include "../mm/space.h"
#include "../user/include/quest/errors.h"
#include "build.h"
#include "channels.h"
#include "check.h"
#include "costs.h"
#include "delay.h"
#include "link.h"
#include "load.h"
#include "pack.h"
#include "room.h"
#include "turn.h"

#define DAMAGED_US	1000000		/* time between two looks at a link that is damaged */
/* a source moves a program with MIG_STRICT so long after the answer, at most (strict.c) */
#define TERMS_US	100000

/* One program that comes. Only the link's thread uses it. */
struct coming {
	struct mig_link *link;
	struct mig_stream *s;
	enum mig_destination state;
	struct process *p;		/* NULL: not yet */
	int error;			/* why the program cannot come: minus an error */
	enum mig_event why;		/* and the event by which this end learned it */
};

/* Records `error`, unless it is 0 or there is one. Returns whether the program can still come. */
static bool note(struct coming *c, int error)
{
	if (!c->error)
		c->error = error;
	return !c->error;
}

/* Answers the message that was released. */
static bool answer(struct coming *c, enum mig_event event)
{
	static const uint32_t kinds[EV_COUNT] = {
		[EV_ACCEPTS] = MSG_ACCEPTED, [EV_REFUSES] = MSG_REFUSED, [EV_RUNS] = MSG_RUNNING,
	};
	struct mig_message header = { .kind = kinds[mig_answer(event)], .error = c->error };

	if (!mig_claim(c->s))
		return false;
	header.clock = rdtsc();
	return mig_commit(c->s, &header);
}

/* The source is gone, or writes messages that cannot be. */
static bool lost(struct coming *c)
{
	c->why = EV_LOST;
	return note(c, -EBADMSG);
}

/* Waits for the next message. Gives up if the source is silent, or the program was killed here. */
static bool receive(struct coming *c)
{
	uint64_t until = rdtsc() + timer_from_us(MIG_SILENCE_US);

	while (!mig_receive(c->s, rdtsc() + timer_from_us(MIG_KILL_US))) {
		if (c->s->error != ETIMEDOUT)
			return lost(c);
		if (c->p && c->p->ending)
			return note(c, -EINTR);
		if (rdtsc() >= until)
			return note(c, -ETIMEDOUT);
	}
	return true;
}

/* The present message was taken, and another one must follow. */
static bool next_message(struct coming *c)
{
	if (c->s->message.last)
		return note(c, -EBADMSG);
	if (!mig_release(c->s))
		return lost(c);
	c->state = mig_destination_next(c->state, EV_TOOK);
	if (!answer(c, EV_TOOK))
		return lost(c);
	mig_ring(c->s);
	if (!receive(c))
		return false;
	if (c->s->message.kind != MSG_MORE) {
		c->why = EV_ABORTS;
		return note(c, -EINTR);
	}
	/* the source could send many in a short time: they must bring something */
	return note(c, c->p && c->p->ending ? -EINTR : c->s->message.bytes ? 0 : -EBADMSG);
}

/* Copies the next `n` bytes of the stream. */
static bool get(struct coming *c, void *data, size_t n)
{
	uint8_t *to = data;
	size_t part, left;

	while (n) {
		left = sizeof(c->s->message) + c->s->message.bytes - c->s->at;
		if (!left && !next_message(c))
			return false;
		left = sizeof(c->s->message) + c->s->message.bytes - c->s->at;
		part = n < left ? n : left;
		memcpy(to, c->s->slot + c->s->at, part);
		c->s->at += part;
		to += part;
		n -= part;
	}
	return true;
}

/*
 * Creates the process, as an orphan: no parent learns of it if it does not come. Its channels are
 * attached first, so nothing more is sent of a program that cannot use them here.
 */
static bool new_process(struct coming *c)
{
	const struct mig_header *h = &c->link->header;
	struct process *p;

	if (!mig_has_room(h))
		return note(c, -ENOMEM);
	p = process_new(NULL, BEST_EFFORT_VCPU, h->name);
	if (!p)
		return note(c, -EAGAIN);
	p->state = PROCESS_MOVING;
	p->parent = ORPHAN;
	p->background = true;
	c->p = p;
	if (!space_create(&p->space) || move_image(p))
		return note(c, -ENOMEM);
	p->image->num_threads = h->num_threads;
	p->image->num_vcpus = h->num_vcpus;
	return note(c, mig_unpack(p, h)) && note(c, mig_channels_attach(p, h));
}

/*
 * Returns -EADMIT if the VCPUs cannot be admitted: then the pages need not be sent. admit()
 * decides in the end.
 */
static int would_admit(const struct coming *c, const struct program_image *image)
{
	struct bounds_end here;

	cellset_end(&here, c->link->set, BEST_EFFORT_VCPU);
	return mig_check_admission(image, dispatch_sched()->config.admission, c->link->set,
				   here.n);
}

static bool get_header(struct coming *c)
{
	struct mig_header *h = &c->link->header;
	struct program_image *image;
	bool made;

	if (!get(c, h, sizeof(*h)))
		return false;
	if (!note(c, mig_check_header(h, mig_build(), machine.tsc_khz)) ||
	    !note(c, h->arena && h->arena != c->link->arena_session ? -EXDEV : 0))
		return false;
	irq_disable();
	made = new_process(c);
	irq_enable();
	if (!made)
		return false;
	image = c->p->image;
	return get(c, image->threads, h->num_threads * sizeof(image->threads[0])) &&
	       get(c, image->vcpus, h->num_vcpus * sizeof(image->vcpus[0])) &&
	       note(c, would_admit(c, image));
}

/* Returns a new page of the program for `page`, which was checked; 0: there is no room. */
static uint64_t new_page(struct coming *c, const struct mig_page *page)
{
	static const uint64_t rights[PAGE_RIGHTS] = {
		[PAGE_READ] = USER_READ, [PAGE_DATA] = USER_DATA, [PAGE_CODE] = USER_CODE,
	};
	struct space *s = &c->p->space;
	uint64_t at = 0;

	irq_disable();
	if (mig_has_page(rights[page->rights]) &&
	    space_map(s, page->va, page->va + PAGE_SIZE, rights[page->rights]))
		at = space_translate(s, page->va, SPACE_READ);
	irq_enable();
	return at;
}

static bool get_pages(struct coming *c)
{
	uint64_t i, at;
	struct mig_page page;

	mig_delay_take();
	for (i = 0; i < c->link->header.pages; i++) {
		if (!get(c, &page, sizeof(page)))
			return false;
		if (!mig_check_page(&page, c->link->arena_bytes))
			return note(c, -EBADMSG);
		at = new_page(c, &page);
		if (!at)
			return note(c, -ENOMEM);
		if (page.in_arena)
			memcpy((void *)(uintptr_t)at, c->link->arena + page.at, PAGE_SIZE);
		else if (!get(c, (void *)(uintptr_t)at, PAGE_SIZE))
			return false;
		if (c->p->ending)
			return note(c, -EINTR);
	}
	return true;
}

/* All of the program must have come with the last message. Takes the message. */
static bool take_last(struct coming *c)
{
	const struct mig_message *m = &c->s->message;

	if (!m->last || c->s->at != sizeof(*m) + m->bytes || !mig_release(c->s))
		return note(c, -EBADMSG);
	return true;
}

/* Interrupts are on, since a program may have 17 VCPUs, each with 33 replenishments. */
static bool check_image(struct coming *c)
{
	const struct mig_here here = {
		.now = rdtsc(), .ahead = (int64_t)c->s->message.clock,
		.mxcsr_mask = user_mxcsr_mask(),
	};

	c->p->epoch += (uint64_t)here.ahead;
	return note(c, mig_check_image(&c->link->header, c->p->image, &here));
}

/*
 * Interrupts are off. Creating VCPUs lets others run. From the look at `ending` on, all is one
 * step: the answer that the program runs, and its start, which cannot fail.
 */
static bool admit(struct coming *c)
{
	struct process *p = c->p;

	if (!note(c, move_admit(p)) || !note(c, p->ending ? -EINTR : 0))
		return false;
	c->state = mig_destination_next(c->state, EV_TOOK_ALL);
	/* a source that cannot be answered has ended: this copy is the only one */
	(void)answer(c, EV_TOOK_ALL);
	p->parent = KERNEL_PID;
	p->state = PROCESS_DETACHED;
	return !move_attach(p->pid);
}

static void forget(struct coming *c)
{
	irq_disable();
	if (c->p)
		move_discard(c->p, 0);
	irq_enable();
}

/* The program cannot come. Says so, if it is this end's turn, or the present message gives it. */
static void refuse(struct coming *c)
{
	/* the message is of another program, or of none */
	bool other = c->s->slot && c->state == DST_LOADS && c->s->message.kind != MSG_MORE &&
		     c->s->message.kind != MSG_ABORT;

	c->state = mig_destination_next(c->state, c->why);
	forget(c);
	/* it stays for the next call */
	if (other)
		return;
	if (c->s->slot)
		(void)mig_release(c->s);
	if (c->why != EV_LOST)
		(void)answer(c, c->why);
}

/* Tells the source how long it takes until a program of this size runs. */
static void answer_terms(struct mig_link *l)
{
	struct mig_message header = {
		.kind = MSG_TERMS, .bytes = sizeof(struct mig_terms), .clock = rdtsc()
	};
	struct mig_stream *s = &l->stream;
	struct mig_terms terms;
	struct mig_size size;

	memcpy(&size, s->slot + s->at, sizeof(size));
	header.error = turn_take(l, TERMS_US) ? 0 : -EBUSY;
	terms.wait = header.error ? UINT64_MAX :
				    mig_wait(l->set, mig_cost(MIG_UNPACKING, &size), false);
	if (!mig_release(s) || !mig_claim(s))
		return;
	memcpy(s->slot + s->at, &terms, sizeof(terms));
	if (mig_commit(s, &header))
		mig_ring(s);
	l->polls_until = rdtsc() + timer_from_us(MIG_SILENCE_US);
}

/* Receives the program of the present message, which begins it. */
static void receive_program(struct mig_link *l)
{
	struct coming c = {
		.link = l, .s = &l->stream, .state = DST_IDLE, .why = EV_CANNOT
	};
	bool came = false, one;
	uint64_t used = mig_used();
	struct mig_size size;
	int pid = 0;

	if (l->stream.message.kind != MSG_BEGIN)
		c.error = -EINVAL;
	else if (!turn_take(l, TURN_US))
		c.error = -EBUSY;
	else if (get_header(&c) && get_pages(&c) && take_last(&c) && check_image(&c)) {
		irq_disable();
		pid = c.p->pid;
		size = mig_size_of(&l->header);
		one = c.state == DST_IDLE;
		came = admit(&c);
		if (one)
			mig_cost_learn(MIG_UNPACKING, &size, mig_used() - used);
		irq_enable();
	}
	if (!came)
		refuse(&c);
	turn_end(l);
	mig_ring(c.s);
	if (came)
		print("[%d] %s has come from %s\n", pid, l->header.name, mig_link_cell(l));
}

static void take_message(struct mig_link *l)
{
	if (l->stream.message.kind == MSG_ASK &&
	    l->stream.message.bytes >= sizeof(struct mig_size))
		answer_terms(l);
	else if (l->stream.message.kind == MSG_ASK_LOAD)
		mig_load_answer(l);
	else if (l->stream.message.kind == MSG_ASK_TURN || l->stream.message.kind == MSG_END_TURN)
		turn_answer(l);
	else
		receive_program(l);
}

_Noreturn void mig_destination_work(struct mig_link *l)
{
	struct mig_stream *s = &l->stream;
	uint64_t seen;

	for (;;) {
		seen = bell_count(s->n);
		while (rdtsc() < l->polls_until && !mig_receive(s, rdtsc()))
			thread_sleep_us(MIG_POLL_US);
		l->polls_until = 0;
		if (mig_receive(s, UINT64_MAX)) {
			take_message(l);
			turn_respect(l);
		} else {
			(void)bell_wait(s->n, seen, rdtsc() + timer_from_us(DAMAGED_US));
		}
	}
}
