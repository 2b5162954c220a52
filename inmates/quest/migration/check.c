// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../kernel/vcpu/iovcpu.h"
#include "../kernel/vcpu/vcpu.h"
#include "../mm/space.h"
#include "../user/include/quest/errors.h"
#include "check.h"

/* the flags that a program can set: CF PF AF ZF SF TF DF OF, AC and ID */
#define RFLAGS_PROGRAM	0x240DD5ull
#define RFLAGS_RING3	0x202ull		/* bit 1, which is always set, and IF */
#define FXSAVE_MXCSR	24		/* offset of MXCSR in the FXSAVE area */
/* cycles, about a second: an overrun may delay a server by more than its period */
#define SOON		(1ull << 31)

static bool ends(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && text[i]; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return i && i < size;
}

static bool check_threads(const struct mig_header *h)
{
	unsigned int i, running = 0;

	for (i = 0; i < STACKS_MAX; i++) {
		if (h->threads[i].state > SLOT_ENDED || h->threads[i].detached > 1)
			return false;
		running += h->threads[i].state == SLOT_RUNS;
	}
	return running && running == h->num_threads;
}

static bool check_files(const struct mig_header *h)
{
	unsigned int i;

	for (i = 0; i < FILES_MAX; i++)
		if (h->files[i].kind > FILE_ARCHIVE ||
		    (h->files[i].kind == FILE_ARCHIVE &&
		     (!ends(h->files[i].name, ARCHIVE_NAME) || h->files[i].at > INT64_MAX)))
			return false;
	return true;
}

static bool overlap(const struct channel_image *a, const struct channel_image *b)
{
	return a->at < b->at + b->length && b->at < a->at + a->length;
}

static bool check_channel(const struct channel_image *c)
{
	return ends(c->name, sizeof(c->name)) && c->number < QV_INFO_MAX_CHANNELS &&
	       c->bells <= BELLS_MASK && c->writes <= 1 && !(c->at % PAGE_SIZE) &&
	       !(c->length % PAGE_SIZE) && c->at >= USER_SHARED && c->at < USER_END &&
	       c->length <= USER_END - c->at;
}

static bool check_channels(const struct mig_header *h)
{
	const struct channel_image *c = h->channels;
	unsigned int i, j;

	for (i = 0; i < QV_INFO_MAX_CHANNELS; i++) {
		if (c[i].length && !check_channel(&c[i]))
			return false;
		for (j = 0; j < i; j++)
			if (c[i].length && c[j].length &&
			    (c[i].number == c[j].number || overlap(&c[i], &c[j])))
				return false;
	}
	return true;
}

bool mig_channel_fits(const struct channel_image *c, const struct qv_chan_page *page,
		      unsigned int end)
{
	/* a later memory of the same name has another session */
	return page->type == QV_CHAN_MEMORY && !page->key && page->session == c->session &&
	       page->length == c->length && end < page->ends &&
	       (!c->writes || !end || page->end[end].flags & QV_CHAN_END_WRITES);
}

int mig_check_header(const struct mig_header *h, uint64_t build, uint32_t tsc_khz)
{
	if (h->magic != MIG_MAGIC)
		return -EBADMSG;
	if (h->version != MIG_VERSION || h->build != build || h->tsc_khz != tsc_khz)
		return -EPROTO;
	if (!ends(h->name, sizeof(h->name)) || h->num_vcpus > MOVE_VCPUS || !h->pages ||
	    h->pages > (USER_END - USER_BASE) / PAGE_SIZE || h->heap < USER_IMAGE ||
	    h->heap > h->brk || h->brk > USER_SHARED)
		return -EBADMSG;
	return check_threads(h) && check_files(h) && check_channels(h) ? 0 : -EBADMSG;
}

int mig_check_admission(const struct program_image *image, enum admission_test test,
			struct admission_entry *set, unsigned int n)
{
	struct vcpu v = { .state = VCPU_FREE };
	unsigned int i;

	for (i = 0; i < image->num_vcpus; i++) {
		memcpy(&v, image->vcpus[i].plain, VCPU_PLAIN);
		if (!v.params.budget || v.params.budget > v.params.period ||
		    v.params.period > ADMISSION_PERIOD_MAX)
			return -EBADMSG;
		if (n == SCHED_VCPUS)
			return -EADMIT;
		set[n++] = (struct admission_entry){
			v.params.type == IO_VCPU, v.params.budget, v.params.period
		};
	}
	return admission_admits(test, set, n) ? 0 : -EADMIT;
}

static bool of_program(uint64_t va)
{
	return va >= USER_BASE && va < USER_END;
}

/* Shifts the time at which a wait ends, if it has a limit. */
static void shift_limit(uint64_t *until, int64_t ahead)
{
	if (*until && *until != UINT64_MAX)
		*until += (uint64_t)ahead;
}

static bool check_thread(const struct mig_header *h, struct thread_image *t,
			 const struct mig_here *here, unsigned int *seen)
{
	uint32_t mxcsr;
	uint8_t again;

	if (t->slot >= STACKS_MAX || h->threads[t->slot].state != SLOT_RUNS ||
	    *seen & 1u << t->slot || !of_program(t->frame.rip))
		return false;
	*seen |= 1u << t->slot;
	t->frame.cs = TRAP_USER_CS;
	t->frame.ss = TRAP_USER_SS;
	t->frame.rflags = (t->frame.rflags & RFLAGS_PROGRAM) | RFLAGS_RING3;
	memcpy(&mxcsr, t->fpu.fxsave + FXSAVE_MXCSR, sizeof(mxcsr));
	mxcsr &= here->mxcsr_mask;
	memcpy(t->fpu.fxsave + FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr));
	memcpy(&again, &t->restart.again, sizeof(again));
	t->restart.again = again != 0;
	shift_limit(&t->restart.until, here->ahead);
	return true;
}

/* The conditions of sporadic.h, except those on the present time */
static bool check_sporadic(const struct vcpu *v)
{
	const struct sporadic *s = &v->main;
	uint64_t sum = 0;
	uint32_t i;

	if (s->budget != v->params.budget || s->period != v->params.period || s->limit < 2 ||
	    s->limit > SPORADIC_MAX || !s->length || s->length > s->limit)
		return false;
	for (i = 0; i < s->length; i++) {
		if (!s->queue[i].amount || s->queue[i].amount > s->budget ||
		    (i && s->queue[i].at < s->queue[i - 1].at))
			return false;
		sum += s->queue[i].amount;
	}
	return sum == s->budget && s->usage < s->queue[0].amount &&
	       s->queue[s->length - 1].at - s->queue[0].at <= s->period;
}

/* A budget is at most the share of the inherited period. */
static bool check_pibs(const struct vcpu *v)
{
	const struct pibs *p = &v->io;

	return p->budget == v->params.budget && p->period == v->params.period && p->inherited &&
	       p->inherited <= ADMISSION_PERIOD_MAX && p->left <= ADMISSION_PERIOD_MAX &&
	       p->used <= ADMISSION_PERIOD_MAX &&
	       (unsigned __int128)(p->left + p->used) * p->period <=
	       (unsigned __int128)p->inherited * p->budget + p->period;
}

/* Checks everything that the functions of sched/ use, so that they can be called for `v`. */
static bool check_structure(const struct vcpu *v)
{
	if (v->state != VCPU_ACTIVE || !ends(v->params.name, sizeof(v->params.name)) ||
	    !v->params.budget || v->params.budget > v->params.period ||
	    v->params.period > ADMISSION_PERIOD_MAX)
		return false;
	return v->params.type == MAIN_VCPU ? check_sporadic(v) :
	       v->params.type == IO_VCPU && v->params.budget < v->params.period && check_pibs(v);
}

/*
 * A server is usable soon, and a present budget did not begin long ago. So a VCPU that is refused
 * after all counts as past use (sched/past.h) for a short time only.
 */
static bool check_times(struct vcpu *v, uint64_t now)
{
	struct pibs *p = &v->io;

	if (v->params.type == MAIN_VCPU)
		return v->main.queue[v->main.length - 1].at <= now + 2 * v->params.period + SOON;
	if (!p->left)
		p->inherited = p->period;	/* as the next wake-up does */
	if (p->left && p->eligible + p->inherited < now)
		p->eligible = now;
	return p->eligible <= now + 2 * p->inherited + SOON;
}

static bool check_vcpu(struct vcpu_image *image, const struct mig_here *here)
{
	struct vcpu v = { .state = VCPU_FREE };
	bool right;

	if (image->id < VCPU_FIXED || image->id >= SCHED_VCPUS || !iovcpu_known(image->io_class))
		return false;
	memcpy(&v, image->plain, VCPU_PLAIN);
	if (!check_structure(&v))
		return false;
	vcpu_shift(&v, here->ahead);
	/* a shift by a hostile clock wraps some times, and others not */
	right = check_structure(&v) && check_times(&v, here->now);
	memcpy(image->plain, &v, VCPU_PLAIN);
	return right;
}

static bool comes_along(const struct program_image *image, int id)
{
	unsigned int i;

	for (i = 0; i < image->num_vcpus; i++)
		if (image->vcpus[i].id == id)
			return true;
	return id == BEST_EFFORT_VCPU;
}

bool mig_has_its_vcpus(const struct program_image *image)
{
	unsigned int i;

	for (i = 0; i < image->num_threads; i++)
		if (!comes_along(image, image->threads[i].vcpu))
			return false;
	return comes_along(image, image->vcpu);
}

int mig_check_image(const struct mig_header *h, struct program_image *image,
		    const struct mig_here *here)
{
	unsigned int i, j, seen = 0;

	for (i = 0; i < image->num_vcpus; i++) {
		if (!check_vcpu(&image->vcpus[i], here))
			return -EBADMSG;
		for (j = 0; j < i; j++)
			if (image->vcpus[j].id == image->vcpus[i].id)
				return -EBADMSG;
	}
	for (i = 0; i < image->num_threads; i++)
		if (!check_thread(h, &image->threads[i], here, &seen))
			return -EBADMSG;
	return mig_has_its_vcpus(image) ? 0 : -EBUSY;
}

bool mig_check_page(const struct mig_page *page, uint64_t arena)
{
	return page->va >= USER_BASE && page->va < USER_SHARED && !(page->va % PAGE_SIZE) &&
	       page->rights < PAGE_RIGHTS && page->in_arena <= 1 && !(page->at % PAGE_SIZE) &&
	       (!page->in_arena || (arena >= PAGE_SIZE && page->at <= arena - PAGE_SIZE));
}
