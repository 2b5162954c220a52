// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <inmate/string.h>
#include "../user/include/quest/errors.h"
#include "dispatch.h"
#include "process/heap.h"
#include "process/process.h"
#include "shared.h"

#define STEP	64		/* number of pages that are freed between two pauses */

static struct segment {
	/*
	 * physical address of the first of `pages` contiguous pages; 0: this segment does not exist
	 */
	uint64_t page;
	size_t pages;
	/*
	 * pid of the program that made the segment; KERNEL_PID: it has freed the segment, or has
	 * ended
	 */
	int owner;
	unsigned int attached;		/* how many programs have attached it */
} segments[SHARED_MAX];

static struct segment *find(int id)
{
	return id >= 0 && id < SHARED_MAX && segments[id].page ? &segments[id] : NULL;
}

static unsigned int count_of(int owner)
{
	unsigned int i, n = 0;

	for (i = 0; i < SHARED_MAX; i++)
		n += segments[i].page && segments[i].owner == owner;
	return n;
}

static struct segment *free_segment(void)
{
	struct segment *s;

	for (s = segments; s < segments + SHARED_MAX; s++)
		if (!s->page)
			return s;
	return NULL;
}

static void free_pages(uint64_t page, size_t n)
{
	for (; n; n--, page += PAGE_SIZE) {
		pages_free(page, 1);
		if (n % STEP == 1)
			let_interrupts_in();
	}
}

/* Other threads run while the pages are freed: the segment no longer exists by then. */
static void drop(struct segment *s)
{
	uint64_t page = s->page;

	if (s->attached || s->owner != KERNEL_PID)
		return;
	s->page = 0;
	free_pages(page, s->pages);
}

/* Other threads run meanwhile. Returns 0 if there is no memory. */
static uint64_t find_pages(size_t n)
{
	uint64_t page = 0;
	size_t from = 0;

	while (!page && from != PAGES_SEARCHED) {
		page = pages_alloc_step(n, &from);
		let_interrupts_in();
	}
	return page;
}

int shared_alloc(struct process *p, uint64_t bytes)
{
	size_t i, n = (bytes + PAGE_SIZE - 1) / PAGE_SIZE;
	struct segment *s;
	uint64_t page;

	if (!bytes || bytes > SHARED_PAGES * PAGE_SIZE)
		return -EINVAL;
	page = find_pages(n);
	if (!page)
		return -ENOMEM;
	s = free_segment();
	if (!s || count_of(p->pid) >= SHARED_OF_ONE) {
		free_pages(page, n);
		return -EAGAIN;
	}
	/* attached, so that the segment continues to exist while other threads run */
	*s = (struct segment){ .page = page, .pages = n, .owner = p->pid, .attached = 1 };
	for (i = 0; i < s->pages; i++) {
		memset((void *)(uintptr_t)(s->page + i * PAGE_SIZE), 0, PAGE_SIZE);
		let_interrupts_in();
	}
	s->attached--;
	drop(s);			/* another thread may have called shared_free() meanwhile */
	return (int)(s - segments);
}

static struct attachment *find_attachment(struct process *p, uint64_t at)
{
	int i;

	for (i = 0; i < SHARED_OF_ONE; i++)
		if (p->attached[i].at == at)
			return &p->attached[i];
	return NULL;
}

/* Maps the segment. It counts as attached meanwhile, so that it continues to exist. */
static int64_t attach(struct process *p, int id)
{
	struct attachment *a = find_attachment(p, 0);
	struct segment *s = find(id);
	uint64_t at;

	if (!s || s->owner == KERNEL_PID)
		return -EINVAL;
	if (s->owner != p->pid && s->owner != p->parent)
		return -EPERM;
	if (!a)
		return -EMFILE;
	s->attached++;
	at = space_find_foreign(&p->space, s->pages);
	if (at && space_map_foreign(&p->space, at, s->page, s->pages, USER_DATA)) {
		*a = (struct attachment){ at, id };
		return (int64_t)at;
	}
	s->attached--;
	drop(s);
	return -ENOMEM;
}

/* Other threads run meanwhile. With the heap taken, none of them maps pages. */
int64_t shared_attach(struct process *p, int id)
{
	int64_t at;

	if (!process_take_heap(p))
		return process_interrupted(p);
	at = attach(p, id);
	process_give_heap(p);
	return at;
}

int shared_detach(struct process *p, uint64_t at)
{
	struct attachment *a = at ? find_attachment(p, at) : NULL;
	struct segment *s;

	if (!a)
		return -EINVAL;
	s = &segments[a->segment];
	/* clear the entry first, since another thread that runs meanwhile may also detach it */
	*a = (struct attachment){ 0 };
	space_unmap(&p->space, at, at + s->pages * PAGE_SIZE);
	s->attached--;
	drop(s);
	return 0;
}

int shared_free(struct process *p, int id)
{
	struct segment *s = find(id);

	if (!s || s->owner == KERNEL_PID)
		return -EINVAL;
	if (s->owner != p->pid)
		return -EPERM;
	s->owner = KERNEL_PID;
	drop(s);
	return 0;
}

bool shared_used(const struct process *p)
{
	int i;

	for (i = 0; i < SHARED_OF_ONE; i++)
		if (p->attached[i].at)
			return true;
	return count_of(p->pid);
}

void shared_leave(struct process *p)
{
	int i;

	for (i = 0; i < SHARED_OF_ONE; i++) {
		if (!p->attached[i].at)
			continue;
		p->attached[i].at = 0;
		segments[p->attached[i].segment].attached--;
		drop(&segments[p->attached[i].segment]);
	}
}

void shared_process_ends(struct process *p)
{
	struct segment *s;

	shared_leave(p);
	for (s = segments; s < segments + SHARED_MAX; s++) {
		if (!s->page || s->owner != p->pid)
			continue;
		s->owner = KERNEL_PID;
		drop(s);
	}
}
