// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell with channels, while Linux attacks them (front/channels.py) or a third cell does
 * (outsider.c). It fills its section of each channel and checks that it stays so. An end that is a
 * cell like this one must have the same in its section, or zeros. With channels at run time, it
 * also opens one with the other end of its first channel, by the key of the attack. No bell may
 * come while both ends run, but for those of the beginning.
 */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include <qv/end.h>
#include "attack.h"

#define MARK		0x5EC0DE0000000000ull	/* and the number of the end */
#define WORDS		(QV_CHAN_PAGE / 8)
#define BELL_VECTOR	0x62
#define SETTLED_MS	500ull	/* after which the bells of the beginning have come */

static struct qv_info_channel by_key;	/* .length 0: it is not open */
static volatile uint32_t bells;

static void bell(struct trap_frame *frame)
{
	(void)frame;
	bells++;
}

static volatile uint64_t *page_at(const struct qv_info_channel *c, uint64_t offset)
{
	return (volatile uint64_t *)window(c->address + offset);
}

static void fill(const struct qv_info_channel *c)
{
	const volatile struct qv_chan_page *life = (volatile void *)page_at(c, 0);
	volatile uint64_t *at = page_at(c, life->end[c->end].offset);
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		at[i] = MARK | c->end;
}

static void check_section(const struct qv_info_channel *c, uint32_t end, uint64_t offset)
{
	volatile uint64_t *at = page_at(c, offset);
	uint64_t found;
	uint32_t i;

	for (i = 0; i < WORDS; i++) {
		found = at[i];
		if (found != (MARK | end) && (found || end == c->end))
			breach("%s: end %u has %lx at %u", c->name, end, (unsigned long)found, i);
	}
}

/* Returns whether its peer runs */
static bool check(const struct qv_info_channel *c)
{
	const volatile struct qv_chan_page *life = (volatile void *)page_at(c, 0);
	uint64_t offset[2] = { life->end[0].offset, life->end[1].offset };
	bool linux_too = life->end[1].name[0] == 'l';	/* "linux" may write what it likes */
	/* all of the life page is read before window() shows a section */
	bool runs = QV_CHAN_STATE(life->end[!c->end].life) == QV_CHAN_IS_RUNNING;
	uint32_t end;

	if (life->magic != QV_CHAN_MAGIC || life->length != c->length ||
	    QV_CHAN_STATE(life->end[c->end].life) != QV_CHAN_IS_RUNNING)
		breach("%s: its life page has changed", c->name);
	for (end = 0; end < 2; end++)
		if (end == c->end || !linux_too)
			check_section(c, end, offset[end]);
	return runs;
}

/* The ends of the first channel */
static void open_by_key(const struct qv_info_channel *first)
{
	static struct qv_chan_page page __attribute__((aligned(64)));
	const volatile struct qv_chan_page *life = (volatile void *)page_at(first, 0);
	int n;

	live_description(&page, (const char *)life->end[0].name, (const char *)life->end[1].name);
	n = cell_key_open(&page, QV_KEY_END(first->end, BELL_VECTOR, 0), &by_key.address);
	if (n < 0)
		breach("by key: the answer is %d", n);
	memcpy(by_key.name, "by key", 7);
	by_key.end = first->end;
	by_key.length = page.length;
	fill(&by_key);
}

bool peer_begin(void)
{
	const struct qv_info *info = cell_info();
	uint32_t i;

	for (i = 0; i < info->num_channels; i++) {
		fill(&info->channels[i]);
		(void)cell_set_bell(i, bell);
	}
	trap_set_irq(BELL_VECTOR, bell);
	if (info->num_channels && info->dynamic)
		open_by_key(&info->channels[0]);
	return info->num_channels;
}

void peer_check(void)
{
	static uint64_t begun;		/* TSC since which both ends run; 0: not both do */
	static uint32_t expected;
	const struct qv_info *info = cell_info();
	/* a bell at the end of its peer comes after the new state */
	uint32_t had = bells, i;
	bool both = true;

	for (i = 0; i < info->num_channels; i++)
		both &= check(&info->channels[i]);
	if (!by_key.length)
		return;
	both &= check(&by_key);
	begun = !both ? 0 : begun ? begun : rdtsc();
	if (!begun || rdtsc() - begun < SETTLED_MS * info->tsc_khz) {
		expected = had;
	} else if (had != expected) {
		breach("%u bells that its peer did not ring", had - expected);
	}
}

_Noreturn void peer(void)
{
	(void)peer_begin();
	irq_enable();
	for (;; still_here()) {
		peer_check();
		if (cell_request() == QV_REQUEST_SHUTDOWN)
			cell_set_state(QV_INMATE_HALTED);
	}
}
