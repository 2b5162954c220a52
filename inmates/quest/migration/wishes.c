// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include "../kernel/process/process.h"
#include "../user/include/quest/errors.h"
#include "wishes.h"

static struct wait_queue awaited;	/* threads that wait for a wish */
static uint32_t asked;			/* bit i: the load is wished by link i */

static void set(struct process *p, int link, uint64_t until, int error)
{
	p->wish = (struct migration_wish){
		.link = link, .until = until, .error = error, .moves = p->wish.moves
	};
}

int wishes_add(struct process *p, int link, uint64_t until, bool strict)
{
	if (p->wish.link)
		return -EBUSY;
	set(p, link + 1, until, 0);
	p->wish.strict = strict;
	wake_all(&awaited);
	return 0;
}

void wishes_fail(struct process *p, int error)
{
	set(p, 0, 0, error);
}

void wishes_expire(struct process *p)
{
	if (p->wish.link && p->state == PROCESS_LIVE && !p->leaving && rdtsc() >= p->wish.until)
		wishes_fail(p, -ETIMEDOUT);
}

static struct process *find(int link)
{
	struct process *p;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->state != PROCESS_LIVE || p->wish.link != link + 1)
			continue;
		wishes_expire(p);
		if (p->wish.link)
			return p;
	}
	return NULL;
}

void wishes_ask(int link)
{
	asked |= 1u << link;
	wake_all(&awaited);
}

struct process *wishes_next(int link)
{
	struct process *p;

	while (!(p = find(link)) && !(asked & 1u << link))
		wait_on(&awaited);
	if (!p)
		asked &= ~(1u << link);
	return p;
}
