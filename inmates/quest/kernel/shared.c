// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <inmate/string.h>
#include "../user/include/quest/errors.h"
#include "dispatch.h"
#include "process/process.h"
#include "shared.h"

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

static void drop(struct segment *s)
{
	if (s->attached || s->owner != KERNEL_PID)
		return;
	pages_free(s->page, s->pages);
	s->page = 0;
}

int shared_alloc(struct process *p, uint64_t bytes)
{
	struct segment *s = free_segment();
	size_t i;

	if (!bytes || bytes > SHARED_PAGES * PAGE_SIZE)
		return -EINVAL;
	if (!s || count_of(p->pid) >= SHARED_OF_ONE)
		return -EAGAIN;
	*s = (struct segment){ .pages = (bytes + PAGE_SIZE - 1) / PAGE_SIZE, .owner = p->pid };
	s->page = pages_alloc(s->pages);
	if (!s->page)
		return -ENOMEM;
	/* attach first, so that the segment continues to exist while other threads run */
	s->attached++;
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

int64_t shared_attach(struct process *p, int id)
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
	at = space_find_foreign(&p->space, s->pages);
	if (!at || !space_map_foreign(&p->space, at, s->page, s->pages, USER_DATA))
		return -ENOMEM;
	*a = (struct attachment){ at, id };
	s->attached++;
	return (int64_t)at;
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
		segments[p->attached[i].segment].attached--;
		drop(&segments[p->attached[i].segment]);
		p->attached[i] = (struct attachment){ 0 };
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
