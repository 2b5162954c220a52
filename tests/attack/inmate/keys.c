// SPDX-License-Identifier: GPL-2.0-only
/* Hostile calls for channels at run time. */
#include <inmate/cell.h>
#include <inmate/string.h>
#include <qv/end.h>
#include "attack.h"

#define PEER	"third"

static struct qv_chan_page page __attribute__((aligned(4096)));
static uint64_t place;		/* address of the channel that was opened last */

void key_call(uint64_t number, uint64_t a)
{
	call(number, a, 0);
	fault_ends();
	breach("the call was made");
}

static void describe(uint32_t key, const char *first, const char *second)
{
	memset(&page, 0, sizeof(page));
	page.type = QV_CHAN_RING;
	page.full = QV_CHAN_FULL_ERROR;
	page.item = 64;
	page.slots = 4;
	if (qv_chan_describe_key(&page, key, first, second))
		breach("no such channel can be");
}

static void refused(int result, int expected)
{
	if (result != expected)
		breach("the answer is %d, not %d", result, expected);
}

static const char *own(void)
{
	return cell_info()->name;
}

static int open(uint32_t key)
{
	describe(key, own(), PEER);
	return cell_key_open(&page, 0, &place);
}

static volatile uint8_t *at(uint64_t offset)
{
	return window(place + offset);
}

static int opened(uint32_t key)
{
	int n = open(key);

	if (n < 0 || n >= QV_INFO_MAX_CHANNELS)
		breach("the answer is %d", n);
	if (place % QV_KEY_LEN || place < QV_CHANNEL_GPA || place > UINT32_MAX)
		breach("the channel is at %lx", (unsigned long)place);
	*at(QV_CHAN_PAGE) = 0x5A;
	if (*at(QV_CHAN_PAGE) != 0x5A || *(volatile uint64_t *)at(0) != QV_CHAN_MAGIC)
		breach("window %d has no channel", n);
	return n;
}

static void malformed(uint32_t key)
{
	unsigned int i;
	int n;

	for (i = 0; i < sizeof(page) / 8; i++) {
		describe(key, own(), PEER);
		((uint64_t *)&page)[i] ^= 0x8000000000000001ull;
		n = cell_key_open(&page, 0, &place);
		if (n >= 0)
			refused(cell_key_close((uint32_t)n), n);
		still_here();
	}
	describe(key, own(), PEER);
	refused(cell_key_open(&page, 2, &place), QV_KEY_MALFORMED);
	refused(cell_key_open(&page, ~0u, &place), QV_KEY_MALFORMED);
	page.end[1].offset = QV_KEY_LEN - QV_CHAN_PAGE;
	refused(cell_key_open(&page, 0, &place), QV_KEY_MALFORMED);
}

/* Exceptions as vectors, CPUs of others, and windows without a channel, or with an old one */
static void bells(uint32_t key)
{
	uint32_t i;
	int n;

	describe(key, own(), PEER);
	page.flags |= QV_CHAN_BELL;
	for (i = 1; i < 32; i++)
		refused(cell_key_open(&page, QV_KEY_END(0, i, 0), &place), QV_KEY_MALFORMED);
	for (i = cell_info()->num_cpus; i < 256; i += 50)
		refused(cell_key_open(&page, QV_KEY_END(0, 0x60, i), &place), QV_KEY_MALFORMED);
	n = cell_key_open(&page, QV_KEY_END(0, 0x60, 0), &place);
	if (n < 0)
		breach("the answer is %d", n);
	for (i = 0; i < 64; i++)
		cell_ring(cell_info()->num_channels + i % cell_info()->dynamic);
	refused(cell_key_close((uint32_t)n), n);
	for (i = 0; i < 64; i++)
		cell_ring((uint32_t)n);
}

static void pointers(void)
{
	const uint64_t bad[] = { 0xFEE00000, QV_CHANNEL_GPA, 0xFFFFFFF8, cell_info()->memory - 8,
				 cell_info()->memory, 1, 0xBB000 };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(cell_key_open((const struct qv_chan_page *)(uintptr_t)bad[i], 0, &place),
			QV_KEY_MALFORMED);
}

void key_open(uint64_t key, uint64_t how)
{
	int n;

	switch (how) {
	case 1:
		describe((uint32_t)key, "witness", PEER);
		refused(cell_key_open(&page, 0, &place), QV_KEY_MALFORMED);
		describe((uint32_t)key, PEER, own());
		refused(cell_key_open(&page, 0, &place), QV_KEY_MALFORMED);
		break;
	case 2:
		describe((uint32_t)key, own(), "linux");
		refused(cell_key_open(&page, 0, &place), QV_KEY_DENIED);
		describe((uint32_t)key, own(), "witness");
		refused(cell_key_open(&page, 0, &place), QV_KEY_DENIED);
		break;
	case 3:
		malformed((uint32_t)key);
		break;
	case 4:
		opened(1);
		opened(2);
		refused(open(3), QV_KEY_FULL);
		refused(open(1), QV_KEY_DIFFERS);
		break;
	case 5:
		pointers();
		break;
	case 9:
		bells((uint32_t)key);
		break;
	default:
		n = opened((uint32_t)key);
		if (how == 7)
			*at(0) = 1;
		if (how == 8)
			*at(page.end[1].offset) = 1;
		refused(cell_key_close((uint32_t)n), n);
		refused(cell_key_close((uint32_t)n), QV_KEY_NONE);
		refused(cell_key_close(0), QV_KEY_NONE);	/* not one of these windows */
		if (how == 6)
			breach("it read %x", *at(0));
		opened((uint32_t)key);
	}
	survived("as expected");
}

/* Never waits: most requests are refused, since they come too early */
void key_flood(uint64_t count, uint64_t b)
{
	uint64_t i, answers = 0;

	describe(7, own(), PEER);
	for (i = 0; i < count; i++) {
		cell_call_with(QV_CALL_OPEN, (uintptr_t)&page, 0);
		answers += (int)cell_call_with(QV_CALL_ANSWER, 0, 0) >= 0;
		cell_call_with(QV_CALL_CLOSE, 2, 0);
		answers += (int)cell_call_with(QV_CALL_ANSWER, 0, 0) >= 0;
		still_here();
	}
	survived("%lu requests were granted", (unsigned long)answers);
}

void key_call_flood(uint64_t count, uint64_t b)
{
	uint64_t i, x = 88172645463325252ull;

	describe(7, own(), PEER);
	for (i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		cell_call_with(QV_CALL_OPEN + x % 3, x & 1 << 20 ? (uintptr_t)&page : x >> 8,
			       x >> 40 & 3);
		((uint64_t *)&page)[x >> 50 & 63] ^= x >> 30;
		still_here();
	}
	survived("made");
}
