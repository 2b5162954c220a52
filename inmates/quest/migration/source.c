// SPDX-License-Identifier: GPL-2.0-only
/* The source's side of a link: sends programs that wish to move. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/process/move.h"
#include "../kernel/process/process.h"
#include "../mm/arena.h"
#include "../mm/space.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "channels.h"
#include "check.h"
#include "costs.h"
#include "link.h"
#include "load.h"
#include "pack.h"
#include "strict.h"
#include "turn.h"
#include "wishes.h"

#define ABORT_US	100000
#define RETRY_US	10000

/* One program that is being sent. Only the link's thread uses it. */
struct sending {
	struct mig_link *link;
	struct mig_stream *s;
	const struct process *p;
	enum mig_source state;
	uint64_t until;			/* TSC at which the source gives up */
	uint32_t kind;			/* of the next message */
	int error;			/* why the program stays */
	bool gave_up;			/* because of this end */
};

static void learn(struct sending *d, enum mig_event event, int error)
{
	enum mig_source next = mig_source_next(d->state, event);

	if (next == SRC_KEEPS && d->state != SRC_KEEPS)
		d->error = error;
	d->state = next;
}

static void lost(struct sending *d)
{
	learn(d, EV_LOST, -d->s->error);
}

/* Returns whether the program stays, since its time is over at `until` or before, or it ends. */
static bool given_up(struct sending *d, uint64_t until)
{
	bool over = rdtsc() >= (until < d->until ? until : d->until);

	if (d->state != SRC_SENDS || !(over || d->p->ending))
		return d->state == SRC_KEEPS;
	learn(d, EV_GIVES_UP, over ? -ETIMEDOUT : -EINTR);
	d->gave_up = true;
	return true;
}

/* In doubt, waits for as long as the other cell runs. Returns false if no answer is needed. */
static bool receive_answer(struct sending *d)
{
	uint64_t until = rdtsc() + timer_from_us(MIG_SILENCE_US);

	do {
		if (mig_receive(d->s, rdtsc() + timer_from_us(MIG_KILL_US)))
			return true;
		if (d->s->error != ETIMEDOUT)
			lost(d);
	} while (d->state != SRC_KEEPS && !given_up(d, until));
	return false;
}

/*
 * The destination wrote its clock between `asked` and now, by this clock: two bounds. Each answer
 * may only make the interval smaller.
 */
static void measure_clock(struct mig_link *l, uint64_t asked)
{
	int64_t least = (int64_t)(l->stream.message.clock - rdtsc());
	int64_t most = (int64_t)(l->stream.message.clock - asked);

	if (least > l->least_ahead)
		l->least_ahead = least;
	if (most < l->most_ahead)
		l->most_ahead = most;
}

/* Clocks that may be equal are taken to be equal, as the TSCs of one machine are. */
static int64_t ahead(const struct mig_link *l)
{
	if (l->least_ahead <= 0 && l->most_ahead >= 0)
		return 0;
	/* a hostile destination writes any clock: unsigned sums may wrap */
	return (int64_t)((uint64_t)l->least_ahead +
			 ((uint64_t)l->most_ahead - (uint64_t)l->least_ahead) / 2);
}

static enum mig_event event_of(const struct mig_message *answer)
{
	switch (answer->kind) {
	case MSG_ACCEPTED:
		return EV_ACCEPTS;
	case MSG_RUNNING:
		return EV_RUNS;
	default:
		return EV_REFUSES;
	}
}

/* Sends the message that is being filled, and reads the answer. */
static void send(struct sending *d, bool last)
{
	const struct mig_message header = {
		.kind = d->kind, .last = last, .bytes = (uint32_t)(d->s->at - sizeof(header)),
		.clock = (uint64_t)ahead(d->link),
	};
	uint64_t asked = rdtsc();
	int error;

	/* before the message is visible: from then on the destination may run the program */
	if (last)
		learn(d, EV_SENT_ALL, 0);
	d->kind = MSG_MORE;
	if (!mig_commit(d->s, &header))
		return lost(d);
	mig_ring(d->s);
	if (!receive_answer(d))
		return;
	measure_clock(d->link, asked);
	error = d->s->message.error;
	learn(d, event_of(&d->s->message), error < 0 ? error : -EPROTO);
	(void)mig_release(d->s);
}

/* The message is full. With MIG_STRICT the bound is for one message, with the pages of code. */
static void next_message(struct sending *d)
{
	if (d->p->wish.strict) {
		learn(d, EV_GIVES_UP, -EMSGSIZE);
		d->gave_up = true;
	} else {
		send(d, false);
	}
}

static void put(struct sending *d, const void *data, size_t n)
{
	const uint8_t *from = data;
	size_t part;

	while (n && d->state == SRC_SENDS) {
		if (!d->s->slot && !mig_claim(d->s))
			return lost(d);
		part = n < mig_room(d->s) ? n : mig_room(d->s);
		memcpy(d->s->slot + d->s->at, from, part);
		d->s->at += part;
		from += part;
		n -= part;
		/* the last message of the program is sent by the caller, even if it is full */
		if (n && !mig_room(d->s))
			next_message(d);
	}
}

static enum mig_rights rights_of(uint64_t entry)
{
	return entry & PTE_WRITE ? PAGE_DATA : entry & PTE_NO_EXECUTE ? PAGE_READ : PAGE_CODE;
}

static void put_pages(struct sending *d, const struct process *p)
{
	uint64_t va = USER_BASE, entry;
	struct mig_page page;

	for (; d->state == SRC_SENDS && !given_up(d, UINT64_MAX); va += PAGE_SIZE) {
		irq_disable();
		va = space_next_page(&p->space, va, &entry);
		irq_enable();
		if (!va)
			return;
		page = (struct mig_page){ .va = va, .rights = rights_of(entry) };
		page.in_arena = d->link->names_pages && arena_has(entry & PTE_ADDRESS, &page.at);
		page.at = page.in_arena ? page.at : 0;
		put(d, &page, sizeof(page));
		if (!page.in_arena)
			put(d, table_at(entry & PTE_ADDRESS), PAGE_SIZE);
	}
}

/*
 * After a time-out, an answer to the last message of an earlier program may still come. Until then
 * it is not this end's turn. Returns false if the destination is silent.
 */
static bool settle(struct mig_stream *s)
{
	if (mig_claim(s) || s->error != ENOBUFS)
		return true;
	return mig_receive(s, rdtsc() + timer_from_us(MIG_SILENCE_US)) && mig_release(s);
}

/*
 * Tells the destination that it can free its part. If it does not answer soon, the next program
 * that is sent tells it.
 */
static void abort_sending(struct sending *d)
{
	const struct mig_message header = { .kind = MSG_ABORT };
	uint64_t until = rdtsc() + timer_from_us(ABORT_US);

	if (!d->s->slot && !mig_claim(d->s)) {
		if (d->s->error != ENOBUFS || !mig_receive(d->s, until))
			return;
		if (!mig_release(d->s) || !mig_claim(d->s))
			return;
	}
	if (!mig_commit(d->s, &header))
		return;
	mig_ring(d->s);
	if (mig_receive(d->s, until))
		(void)mig_release(d->s);
}

/* Sends `p`, which was detached. Returns 0 if it has gone, or why it stays. */
static int send_program(struct mig_link *l, struct process *p)
{
	struct sending d = {
		.link = l, .s = &l->stream, .p = p, .state = SRC_SENDS, .until = p->wish.until,
		.kind = MSG_BEGIN,
	};
	const struct program_image *image = p->image;
	uint64_t used = mig_used();
	struct mig_size size;
	int error;

	l->least_ahead = INT64_MIN;
	l->most_ahead = INT64_MAX;
	mig_pack(&l->header, p);
	l->header.arena = l->arena_session;
	error = mig_has_its_vcpus(image) ? mig_channels_pack(l, p) : -EBUSY;
	if (error) {
		turn_return(l);
		return error;
	}
	size = mig_size_of(&l->header);
	put(&d, &l->header, sizeof(l->header));
	put(&d, image->threads, image->num_threads * sizeof(image->threads[0]));
	put(&d, image->vcpus, image->num_vcpus * sizeof(image->vcpus[0]));
	put_pages(&d, p);
	if (d.kind == MSG_BEGIN)
		mig_cost_learn(MIG_PACKING, &size, mig_used() - used);
	if (d.state == SRC_SENDS)
		send(&d, true);
	if (d.gave_up)
		abort_sending(&d);
	return d.state == SRC_GAVE ? 0 : d.error;
}

/*
 * The shell waits for a program in the foreground. For another program this thread tells the user,
 * so that the program needs no slot until then.
 */
static void leave(const struct mig_link *l, struct process *p, int number)
{
	char name[PROCESS_NAME];
	int pid = p->pid;
	bool tell = p->background && p->parent == KERNEL_PID;

	if (tell)
		p->parent = ORPHAN;
	copy_string(name, p->name, sizeof(name));
	move_discard(p, QUEST_MOVED(number));
	irq_enable();
	if (tell)
		print("[%d] %s has moved to %s\n", pid, name, mig_link_cell(l));
	irq_disable();
}

/*
 * Interrupts are off. A program that was detached continues here. While it waits for room, the user
 * may attach it.
 */
static void come_back(struct process *p)
{
	int pid = p->pid;

	p->state = PROCESS_DETACHED;
	while (process_find(pid) == p && p->state == PROCESS_DETACHED && move_attach(pid))
		thread_sleep_us(RETRY_US);
}

/* Interrupts are off. The program has gone, or continues here. */
static void conclude(const struct mig_link *l, struct process *p, int number, int error)
{
	if (!error) {
		leave(l, p, number);
		return;
	}
	wishes_fail(p, error);
	come_back(p);
}

/*
 * Interrupts are off. Takes the turns of both cells, and the program of wish `number` off its
 * VCPUs. Returns 0 or minus an error. -EAGAIN: it is not yet the link's turn, or the program no
 * longer has that wish.
 */
static int begin(struct mig_link *l, int pid, uint32_t number, bool strict)
{
	struct process *p;
	int error;

	irq_enable();
	error = settle(&l->stream) ? 0 : -ETIMEDOUT;
	irq_disable();
	p = wishes_find(pid, number);
	if (!error)
		error = p ? mig_channels_pack(l, p) : -EAGAIN;
	if (!error && strict)
		error = mig_wait_for_moment(l, pid);
	if (error)
		return error;
	irq_enable();
	/* with MIG_STRICT the destination's terms have come with its turn */
	error = turn_begin(l, !strict);
	irq_disable();
	if (error)
		return error;
	error = wishes_find(pid, number) ? move_detach(pid, true) : -EAGAIN;
	/* others run before the threads of the program begin to leave */
	if (!error && !wishes_find(pid, number)) {
		come_back(process_find(pid));
		error = -EAGAIN;
	}
	if (error) {
		irq_enable();
		turn_return(l);
		irq_disable();
	}
	return error;
}

static void move(struct mig_link *l, int number, int pid)
{
	struct process *p = process_find(pid);
	uint32_t wish = p->wish.number;
	int error = begin(l, pid, wish, p->wish.strict);

	p = wishes_find(pid, wish);
	if (error) {
		if (p && error != -EAGAIN)
			wishes_fail(p, error);
		return;
	}
	p->state = PROCESS_MOVING;
	irq_enable();
	error = send_program(l, p);
	turn_end(l);
	irq_disable();
	conclude(l, p, number, error);
}

/* Interrupts are off. */
static void ask_load(struct mig_link *l, int number)
{
	irq_enable();
	(void)settle(&l->stream);
	mig_load_exchange(l, number);
	irq_disable();
}

_Noreturn void mig_source_work(struct mig_link *l, int number)
{
	struct process *p;

	irq_disable();
	for (;;) {
		p = wishes_next(number);
		if (p)
			move(l, number, p->pid);
		else
			ask_load(l, number);
	}
}
