// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: on x86-TSO an end that arms its bell, looks and finds nothing is rung by the end whose
 *	news it did not find; with one-shot bells, and with bells if the end says that it arms. An
 *	end that takes over from an end that arms, and does not arm itself, is rung, too
 * Bound: 4 looks; case 1: a ring's reader waits during 2 writes; case 2: the writer of a full ring
 *	waits for a read; case 3: a four-slot's reader waits during 2 writes; case 4: an end of a
 *	mailbox waits for a message. These have one-shot bells. Case 5 is as 1 and case 6 as 2, with
 *	bells and an end that says at its start that it arms. Case 7: as 1, with bells and a reader
 *	that takes over, and then waits without arming
 * Assumed: both ends have attached. A bell that is rung arrives. Memory is write-back
 * Enough: the second arming of an end finds a bell that was rung for its first
 * Tool: tso
 * Code: lib/channel/end.c lib/channel/fourslot.c lib/channel/layout.c lib/channel/mailbox.c
 *	lib/channel/ring.c lib/channel/shared.c
 * Cases: 1 2 3 4 5 6 7
 * Quick: yes
 * Mutation: lib/channel/internal.h: `shared_store_fenced(word, value);` ->
 *	`shared_store(word, value);`: the end that has news looks for an armed bell before its news
 *	is visible (case 1)
 * Mutation: lib/channel/end.c: `shared_store_fenced(&end_section(end, end->self)->armed,` ->
 *	`shared_store(&end_section(end, end->self)->armed,`: the end that waits looks before its
 *	armed bell is visible (case 2)
 * Mutation: lib/channel/end.c: `end->armed += on ? 1 + (end->armed & 1) : 1;` ->
 *	`end->armed |= 1;`: a bell that is armed again looks as if it was rung already (case 3)
 * Mutation: lib/channel/end.c: `if (!(armed & 1))` -> `if (!(armed & 2))`: a bell that is
 *	armed is not rung (case 4)
 * Mutation: tests/prove/prove_bell.c: `= AFTER_ARMING(` -> `= BEFORE_ARMING(`: an end looks, then
 *	arms its bell and sleeps without a second look (case 5)
 * Mutation: lib/channel/internal.h: `if (end->page.flags & QV_CHAN_BELL)` ->
 *	`if (end->page.flags & QV_CHAN_ONE_SHOT)`: the end that has news looks for an armed bell
 *	before its news is visible (case 6)
 * Mutation: lib/channel/end.c: `shared_store_fenced(&end_section(end, end->self)->armed,` ->
 *	`shared_store(&end_section(end, end->self)->armed,`: the end that waits looks before its
 *	armed bell is visible (case 5)
 * Mutation: lib/channel/end.c: `shared_store_fenced(&own->arms, 0);` ->
 *	`shared_store(&own->arms, 0);`: an end that takes over looks before the others know that it
 *	does not arm (case 7)
 * Mutation: lib/channel/end.c: `if (shared_load(&own->arms))` -> `if (0)`: the others think that
 *	an end arms which takes over (case 7)
 */
#include <stddef.h>
#include <stdlib.h>
#include <qv/end.h>
#include "tso.h"

#define FULL	(CASE == 2 || CASE == 6)	/* the writer waits */
#define NEWS	(FULL || CASE == 4 ? 1 : 2)
#define LOOKS	4
#define AFTER_ARMING(look)	(qv_end_arm(end, true), (look))
#define BEFORE_ARMING(look)	({ int found = (look); qv_end_arm(end, true); found; })

const uint32_t tso_threads = 2;
static struct qv_end ends[2];
static uint64_t *told;		/* by the end with news: 2 * bells + 1 when it has done all */
static uint64_t *asleep;	/* by the end that waits: 2 * bells that it had used + 1 */

/* The end that has something to tell does it, and rings if it is to */
static void tell(struct qv_end *end)
{
	uint64_t item[2] = { 1, 1 }, bells = 0, n;
	struct qv_item about;
	int result;

	for (n = 0; n < NEWS; n++) {
		result = FULL ? qv_end_read(end, item, sizeof(item), &about) :
				qv_end_write(end, item, sizeof(item));
		if (!result && qv_end_rings(end))
			shared_store_fenced(told, 2 * ++bells);
	}
	shared_store_fenced(told, 2 * bells + 1);
	n = shared_load(asleep);
	TSO_PROVE(!(n & 1) || bells > n >> 1, "an end that sleeps is rung");
}

static int look(struct qv_end *end, struct qv_item *about)
{
	uint64_t item[2] = { 1, 1 };

	return FULL ? qv_end_write(end, item, sizeof(item)) :
		      qv_end_read(end, item, sizeof(item), about);
}

/* Arms, looks, and sleeps without news, until a bell rings that it has not used */
static void wait(struct qv_end *end)
{
	struct qv_item about = { .number = 1 };
	uint64_t used, now, looks;
	int result;

	if (CASE == 7)
		result = qv_end_attach(end, end->window, end->page.length, end->self);
	else
		qv_end_will_arm(end, true);
	for (looks = 0; looks < LOOKS; looks++) {
		used = shared_load(told) >> 1;
		result = AFTER_ARMING(look(end, &about));
		if (!result && about.number == NEWS)
			return;		/* it knows all */
		if (!result)
			continue;
		TSO_PROVE(result == QV_CHAN_NOTHING || result == QV_CHAN_FULL,
			  "the other end is not corrupt");
		shared_store_fenced(asleep, 2 * used + 1);
		now = shared_load(told);
		TSO_PROVE(!(now & 1) || now >> 1 > used, "no bell is lost");
		if (now >> 1 == used)
			return;		/* it sleeps, and the other end checks that it rings */
		shared_store_fenced(asleep, 0);
	}
}

void tso_thread(uint32_t thread)
{
	struct qv_end end = ends[thread];

	if (thread == (FULL ? 1 : 0))
		tell(&end);
	else
		wait(&end);
}

int main(void)
{
	uint32_t type = CASE == 3 ? QV_CHAN_FOUR_SLOT : CASE == 4 ? QV_CHAN_MAILBOX : QV_CHAN_RING;
	struct qv_chan_page plan = { .type = type, .item = 16, .ends = 2, .session = 1,
		.slots = type == QV_CHAN_RING && !FULL ? 2 : 1,
		.full = type == QV_CHAN_RING ? QV_CHAN_FULL_BLOCK : 0,
		.flags = QV_CHAN_BELL | (CASE <= 4 ? QV_CHAN_ONE_SHOT : 0) };
	struct qv_chan_page *page;
	struct qv_chan_section *section[2];
	uint32_t i;

	qv_chan_lay_out(&plan);
	page = aligned_alloc(QV_CHAN_PAGE, plan.length + QV_CHAN_PAGE);
	memset(page, 0, plan.length + QV_CHAN_PAGE);
	*page = plan;
	told = (uint64_t *)((char *)page + plan.length);
	asleep = told + 8;
	for (i = 0; i < 2; i++) {
		page->end[i].life = QV_CHAN_LIFE(i + 1, QV_CHAN_IS_RUNNING);
		ends[i] = (struct qv_end){ .page = plan, .window = (void *)page,
			.self = i, .peer = !i, .generation = i + 1, .peer_generation = !i + 1 };
	}
	for (i = 0; i < 2; i++) {
		section[i] = (struct qv_chan_section *)((char *)page + plan.end[i].offset);
		tso_start(&section[i]->generation, i + 1);
		tso_start(&section[i]->bound, !i + 1);
	}
	if (CASE == 7) {		/* the program that had this end before armed its bell */
		tso_start(&section[1]->arms, 1);
		tso_start(&section[1]->armed, 2);
	}
	if (FULL) {			/* the slot is full */
		struct qv_chan_slot *slot = (void *)((char *)section[0] + QV_CHAN_DATA);

		ends[0].count = 1;
		tso_start(&section[0]->count, 1);
		tso_start(&slot->begin, 1);
		tso_start(&slot->end, 1);
	}
	return tso_explore(page, page + 1);
}
