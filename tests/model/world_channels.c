// SPDX-License-Identifier: GPL-2.0-only
/* Channels in the fake machine: the requests for them, and the expected owner of each page. */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/cpu.h"
#include "unit.h"
#include "world.h"

/* Each channel has the life page, a section of end 0, and a section of end 1 */
#define CHANNEL_PAGES	3u
#define PATTERN		0x77

void world_channels_request(struct qv_mon_create *q, struct choices *c)
{
	bool second = choose(c, 2);
	u32 i;

	q->num_channels = choose(c, 3) == 1 ? 1 + choose(c, 2) : 0;
	strcpy((char *)q->name, second ? "b" : "a");
	for (i = 0; i < q->num_channels; i++) {
		struct qv_mon_channel *ch = &q->channels[i];
		bool with_linux = choose(c, 2);

		memset(ch, 0, sizeof(*ch));
		ch->pa[0] = (choose(c, 8) == 1 ? choose(c, WORLD_PAGES) : 110 + choose(c, 4)) *
			    (u64)QV_HUGE;
		if (choose(c, 16) == 1)
			ch->pa[0] += CHANNEL_PAGES * QV_PAGE;	/* refused */
		ch->end = second;
		ch->page.type = QV_CHAN_RING;
		ch->page.flags = choose(c, 4) == 1 ? 0 : QV_CHAN_RECONNECT;
		ch->page.item = choose(c, 8) == 1 ? 16 : 8;
		ch->page.ends = 2;
		ch->page.length = CHANNEL_PAGES * QV_PAGE;
		ch->page.end[0] = (struct qv_chan_end){ .offset = QV_PAGE, .size = QV_PAGE };
		ch->page.end[1] = (struct qv_chan_end){ .offset = 2 * QV_PAGE, .size = QV_PAGE };
		strcpy(ch->page.end[0].name, with_linux && second ? "linux" : "a");
		strcpy(ch->page.end[1].name, with_linux && !second ? "linux" : "b");
	}
}

/* True if a cell other than @but uses the channel at @pa, with any end or (below 2) with @end */
static bool cells_use(const struct world *w, u64 pa, u32 but, u32 end)
{
	u32 id, i;

	for (id = 1; id < QV_INSTANCES; id++) {
		const struct qv_mon_create *q = &w->cell[id];

		if (id == but || (w->state[id] != QV_MON_RUNNING && w->state[id] != QV_MON_STOPPED))
			continue;
		for (i = 0; i < q->num_channels; i++)
			if (q->channels[i].pa[0] == pa && w->given_back[id] <= world_pages(q) + i &&
			    (end >= 2 || q->channels[i].end == end))
				return true;
	}
	return false;
}

bool world_hole(const struct world *w, u64 pa)
{
	return w->linux_uses[pa / QV_HUGE] || cells_use(w, pa, 0, 2);
}

static bool is_linux(const struct qv_chan_page *p, u32 end)
{
	return !strcmp(p->end[end].name, "linux");
}

static bool zero(u64 pa, u64 len)
{
	return !fake_ram[pa] && !memcmp(fake_ram + pa, fake_ram + pa + 1, len - 1);
}

/* The life word of an end, read as its peer reads it */
static u32 life_state(u64 pa, u32 end)
{
	return QV_CHAN_STATE(((struct qv_chan_page *)(fake_ram + pa))->end[end].life);
}

void world_channels_started(struct world *w, u32 id)
{
	const struct qv_mon_create *q = &w->cell[id];
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		const struct qv_mon_channel *ch = &q->channels[i];
		struct qv_chan_page *life = (struct qv_chan_page *)(fake_ram + ch->pa[0]);
		u64 page = ch->pa[0] / QV_HUGE, own = ch->pa[0] + (1 + ch->end) * QV_PAGE;

		unit_case("cell %u starts with the channel at %#lx:", id, ch->pa[0]);
		if (world_hole(w, ch->pa[0])) {
			CHECK(!memcmp(&w->channel[page], &ch->page, sizeof(ch->page)));
			CHECK(!cells_use(w, ch->pa[0], id, ch->end));
		} else {
			w->channel[page] = ch->page;
			w->started[page] = 0;
			w->linux_uses[page] = is_linux(&ch->page, !ch->end);
			CHECK(w->linux_uses[page] || !life->end[!ch->end].life);
		}
		CHECK(ch->page.flags || !(w->started[page] >> ch->end & 1));
		w->started[page] |= 1u << ch->end;
		CHECK_EQ(life_state(ch->pa[0], ch->end), QV_CHAN_IS_ABSENT);
		CHECK(QV_CHAN_GENERATION(life->end[ch->end].life) != 0);
		/* the cell's CPU: tests/unit/test_channels.c has its code */
		memset(fake_ram + own, 0, QV_PAGE);
		life->end[ch->end].life |= QV_CHAN_IS_RUNNING;
		if (w->linux_uses[page])
			CHECK_EQ(life_state(ch->pa[0], !ch->end), QV_CHAN_IS_RUNNING);
		memset(fake_ram + own, PATTERN, QV_PAGE);
	}
}

void world_channel_left(struct world *w, u32 id, u32 i)
{
	u64 pa = w->cell[id].channels[i].pa[0];

	unit_case("cell %u has left the channel at %#lx:", id, pa);
	if (!world_hole(w, pa))
		CHECK(zero(pa, CHANNEL_PAGES * QV_PAGE));
	else
		CHECK_EQ(life_state(pa, w->cell[id].channels[i].end), QV_CHAN_IS_ABSENT);
}

void world_channel_return(struct world *w, u64 pa)
{
	bool held = cells_use(w, pa, 0, 2), shared = w->linux_uses[pa / QV_HUGE];

	unit_case("Linux returns the channel at %#lx:", pa);
	CHECK_EQ(world_call(QV_HC_CHANNEL, pa), held ? QV_ME_STATE : QV_ME_OK);
	if (held || !shared)
		return;
	w->linux_uses[pa / QV_HUGE] = false;
	CHECK(zero(pa, CHANNEL_PAGES * QV_PAGE));
}

void world_channel_front(const struct world *w, u64 pa)
{
	static const u32 pages[] = { 0, 1, 2, 3, 4, 5, 6, 0x1ff };
	u32 i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		u64 at = pa + pages[i] * QV_PAGE;
		struct leaf l = tables_walk(&me()->nested, at);

		if (pages[i] >= CHANNEL_PAGES || !w->linux_uses[pa / QV_HUGE]) {
			world_check_denied(&l, at);
			continue;
		}
		unit_case("Linux's end at %#lx:", at);
		CHECK(l.present && l.pa == at && l.type == world_type_of(at));
		CHECK_EQ(l.write, pages[i] == (is_linux(&w->channel[pa / QV_HUGE], 0) ? 1 : 2));
	}
}

u64 world_channel_bytes(const struct qv_mon_create *q)
{
	return q->num_channels * CHANNEL_PAGES * QV_PAGE;
}

void world_channel_leaf(const struct qv_mon_create *q, u64 gpa, u64 len, const struct leaf *l)
{
	u64 i = (gpa - QV_CHANNEL_GPA) / QV_CHANNEL_STEP;
	u64 at = (gpa - QV_CHANNEL_GPA) % QV_CHANNEL_STEP;

	unit_case("cell's channel at %#lx leads to %#lx:", gpa, l->pa);
	if (!CHECK(i < q->num_channels && len == QV_PAGE && at < CHANNEL_PAGES * QV_PAGE))
		return;
	CHECK_EQ(l->pa, q->channels[i].pa[0] + at);
	CHECK(!l->execute && l->type == world_type_of(l->pa));
	CHECK_EQ(l->write, at == (1 + q->channels[i].end) * QV_PAGE);
}
