// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stddef.h>
#include <inmate/cpu.h>
#include "../kernel/process/process.h"
#include "../user/include/quest/errors.h"
#include "wishes.h"

static struct wait_queue awaited;	/* threads that wait for a wish */
static uint32_t asked;			/* bit i: the load is wished by link i */
static uint32_t wished;			/* bit i: link i had a wish last, not a question of load */
/* of each link: slot of the last program with a wish that had its turn */
static int last[CHAR_BIT * sizeof(asked)];

static void set(struct process *p, int link, uint64_t until, int error)
{
	p->wish = (struct migration_wish){
		.link = link, .until = until, .error = error, .moves = p->wish.moves,
		.number = p->wish.number
	};
}

int wishes_add(struct process *p, int link, uint64_t until, bool strict)
{
	if (p->wish.link)
		return -EBUSY;
	set(p, link + 1, until, 0);
	p->wish.number++;
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
		wishes_fail(p, p->wish.hopeless ? -ENOSLACK : -ETIMEDOUT);
}

static bool has_wish(struct process *p, int link)
{
	if (!p || p->state != PROCESS_LIVE || p->wish.link != link + 1)
		return false;
	wishes_expire(p);
	return p->wish.link;
}

/* Programs have their turns by slots: a program that wishes again at once waits for the others. */
static struct process *find(int link)
{
	struct process *p;
	int i, slot;

	for (i = 1; i <= PROCESS_MAX; i++) {
		slot = (last[link] + i) % PROCESS_MAX;
		p = process_at(slot);
		if (!has_wish(p, link))
			continue;
		last[link] = slot;
		return p;
	}
	return NULL;
}

struct process *wishes_find(int pid, uint32_t number)
{
	struct process *p = process_find(pid);

	return p && p->wish.link && p->wish.number == number ? p : NULL;
}

void wishes_ask(int link)
{
	asked |= 1u << link;
	wake_all(&awaited);
}

struct process *wishes_next(int link)
{
	uint32_t bit = 1u << link;
	struct process *p;

	for (;;) {
		/* between two wishes, a question has its turn: a program may wish without end */
		p = asked & wished & bit ? NULL : find(link);
		if (p || asked & bit)
			break;
		wait_on(&awaited);
	}
	wished = p ? wished | bit : wished & ~bit;
	if (!p)
		asked &= ~bit;
	return p;
}
