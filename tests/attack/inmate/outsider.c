// SPDX-License-Identifier: GPL-2.0-only
/*
 * A third cell against the channels of two others, which are open and in use: one of their files,
 * and one by a key. The file of this cell permits channels at run time with each of the two.
 */
#include <inmate/cell.h>
#include <inmate/string.h>
#include <qv/end.h>
#include "attack.h"

#define FIRST		"witness"
#define SECOND		"partner"
#define RINGS		64u
#define WINDOWS		40u

static struct qv_chan_page page __attribute__((aligned(4096)));

void live_description(struct qv_chan_page *to, const char *first, const char *second)
{
	memset(to, 0, sizeof(*to));
	to->type = QV_CHAN_MAILBOX;
	to->item = 64;
	to->slots = 1;
	to->flags = QV_CHAN_BELL;
	if (qv_chan_describe_key(to, LIVE_KEY, first, second))
		breach("no such channel can be");
}

static void refused(uint64_t end)
{
	uint64_t place = 0;
	int n = cell_key_open(&page, end, &place);

	if (n >= 0 || n == QV_KEY_PENDING || place)
		breach("the answer is %d", n);
}

/* Opens the live key in its own name, and looks for something of the others there */
static int opened(const char *first, const char *second)
{
	uint64_t end = strcmp(first, cell_info()->name) != 0, place, at;
	const volatile struct qv_chan_page *life;
	int n;

	live_description(&page, first, second);
	n = cell_key_open(&page, end, &place);
	if (n < 0)
		breach("the answer is %d", n);
	life = (volatile void *)window(place);
	if (QV_CHAN_STATE(life->end[!end].life) != QV_CHAN_IS_ABSENT)
		breach("the other end is there");
	for (at = QV_CHAN_PAGE; at < page.length; at += 8)
		if (*(volatile uint64_t *)window(place + at))
			breach("it reads something at %lx", (unsigned long)at);
	*(volatile uint64_t *)window(place + page.end[end].offset) = ~0ull;
	return n;
}

void outsider_open(uint64_t ring, uint64_t b)
{
	int near = opened(cell_info()->name, SECOND), far = opened(FIRST, cell_info()->name);
	unsigned int i;

	(void)b;
	for (i = 0; ring && i < RINGS; i++) {
		cell_ring((uint32_t)near);
		cell_ring((uint32_t)far);
	}
	if (cell_key_close((uint32_t)near) != near || cell_key_close((uint32_t)far) != far)
		breach("its own channels do not close");
	survived("it has channels of its own");
}

/* The very words of the live channel, and names that begin like those of its ends */
void outsider_impostor(uint64_t a, uint64_t b)
{
	uint64_t end;

	(void)a;
	(void)b;
	for (end = 0; end < 2; end++) {
		live_description(&page, FIRST, SECOND);
		refused(end);
		refused(QV_KEY_END(end, 0x62, 0));
		page.session = 1;
		refused(end);
		live_description(&page, cell_info()->name, SECOND);
		memcpy(page.end[end].name, cell_info()->name, QV_CHAN_NAME_LEN);
		memcpy(page.end[!end].name, end ? FIRST : SECOND, sizeof(FIRST));
		page.end[!end].name[QV_CHAN_NAME_LEN - 1] = 1;
		refused(end);
		memcpy(page.end[end].name, end ? SECOND : FIRST, sizeof(FIRST));
		memcpy(page.end[end].name + sizeof(FIRST), cell_info()->name, sizeof(FIRST));
		refused(end);
	}
	survived("refused");
}

void outsider_close(uint64_t a, uint64_t b)
{
	uint32_t n;

	(void)a;
	(void)b;
	for (n = 0; n < WINDOWS; n++)
		if (cell_key_close(n) != QV_KEY_NONE)
			breach("it closed window %u", n);
	survived("refused");
}

/* Windows without a channel, and then the first number that it does not have */
void outsider_ring(uint64_t a, uint64_t b)
{
	uint32_t i;

	(void)a;
	(void)b;
	for (i = 0; i < RINGS; i++)
		cell_ring(i % cell_info()->dynamic);
	call(QV_CALL_BELL, cell_info()->num_channels + cell_info()->dynamic, 0);
	fault_ends();
	breach("the call was made");
}

/* Requests in all names, of which one word is changed. Most come too early and are refused */
void outsider_flood(uint64_t count, uint64_t b)
{
	static const char *const names[] = { FIRST, SECOND, "attacker", "linux" };
	uint64_t i, x = 88172645463325252ull, answers = 0;

	(void)b;
	for (i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		live_description(&page, names[x & 3], names[x >> 2 & 3]);
		if (x & 1 << 4)
			((uint64_t *)&page)[x >> 50 & 63] ^= 1ull << (x >> 8 & 63);
		cell_call_with(QV_CALL_OPEN, (uintptr_t)&page, x >> 16 & 1);
		answers += (int)cell_call_with(QV_CALL_ANSWER, 0, 0) >= 0;
		cell_call_with(QV_CALL_CLOSE, x >> 20 & 3, 0);
		answers += (int)cell_call_with(QV_CALL_ANSWER, 0, 0) >= 0;
		still_here();
	}
	survived("%lu requests were granted", (unsigned long)answers);
}
