// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "abi/layout.h"
#include "front_model.h"
#include "unit.h"

#define RWX	(PT_P | PT_W | PT_U)
/* Read and execute. These tables have no list of RAM, so EPT's memory type is that of devices */
#define RX	(PT_P | PT_U)

void front_model_open(struct front_model *f, u32 levels, u32 max_leaf, u32 ept)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	space_open(&f->s, 40, levels, max_leaf);
	f->s.p.ept = ept;
	f->nowhere = pt_take(&f->s.pool);
	f->answers = pt_take(&f->s.pool);
	for (i = 0; i < 512; i++)
		pt_table(&f->s.pool, f->answers)[i] = f->nowhere | RX;
	for (i = 0; i < FRONT_OPEN; i++) {
		f->open_table[i] = pt_take(&f->s.pool);
		f->open_page[i] = FRONT_PAGES;
	}
}

void front_model_close(struct front_model *f)
{
	space_close(&f->s);
}

static bool is_shown(u64 pa)
{
	return pa % FRONT_M2 < 16 * 4096;
}

struct view {			/* how the 4 KiB page at an address is mapped, and who owns it */
	u64 to, flags;
	enum front_owner owner, owner_of_all;
};

static struct view look(const struct front_model *f, u64 pa)
{
	struct view v = { 0 };
	u32 level;

	v.to = space_walk(&f->s, pa, &v.flags, &level);
	v.owner = front_owner(&f->s.p, pa, 1);
	v.owner_of_all = front_owner(&f->s.p, pa & -FRONT_M2, 2);
	return v;
}

static struct view expected(const struct front_model *f, u64 pa, const struct view *now)
{
	u32 page = pa / FRONT_M2;

	switch (f->page[page]) {
	case PAGE_HOLE:
		return (struct view){ NOT_MAPPED, 0, FRONT_HOLE, FRONT_HOLE };
	case PAGE_OPEN:
		if (is_shown(pa))
			return (struct view){ pa, RX, FRONT_SPECIAL, FRONT_SPECIAL };
		return (struct view){ NOT_MAPPED, 0, FRONT_HOLE, FRONT_SPECIAL };
	case PAGE_ANSWERED:
		return (struct view){ f->nowhere + pa % 4096, RX, FRONT_SPECIAL, FRONT_SPECIAL };
	}
	if (now->to == NOT_MAPPED && !f->mapped[page])
		return (struct view){ NOT_MAPPED, 0, FRONT_OWNS, FRONT_OWNS };
	return (struct view){ pa, RWX, FRONT_OWNS, FRONT_OWNS };
}

void front_model_check(const struct front_model *f, u64 pa)
{
	struct view got = look(f, pa), want = expected(f, pa, &got);

	if (!memcmp(&got, &want, sizeof(got)))
		return;
	unit_case("page %lu, state %u, at %#lx:", pa / FRONT_M2, f->page[pa / FRONT_M2], pa);
	CHECK_EQ(got.to, want.to);
	CHECK_EQ(got.flags, want.flags);
	CHECK_EQ(got.owner, want.owner);
	CHECK_EQ(got.owner_of_all, want.owner_of_all);
}

void front_model_check_all(const struct front_model *f)
{
	u32 i;

	for (i = 0; i < FRONT_PAGES; i++) {
		front_model_check(f, i * FRONT_M2);
		front_model_check(f, i * FRONT_M2 + 15 * 4096 + 7);
		front_model_check(f, i * FRONT_M2 + 16 * 4096);
		front_model_check(f, i * FRONT_M2 + FRONT_M2 - 1);
	}
}

void front_model_touch(struct front_model *f, u64 pa)
{
	u32 page = pa / FRONT_M2;
	int failed;

	if (f->page[page] == PAGE_ANSWERED)
		return;			/* Linux gets no fault in this page */
	failed = front_fill(&f->s.p, pa);
	unit_case("touch %#lx, state %u:", pa, f->page[page]);
	if (f->page[page] == PAGE_LINUX) {
		CHECK_EQ(failed, 0);
		f->mapped[page] = true;
	} else {
		CHECK_EQ(failed, f->page[page] == PAGE_OPEN && is_shown(pa) ? 0 : -1);
	}
}

void front_model_take(struct front_model *f, u32 page)
{
	if (f->page[page] != PAGE_LINUX)
		return;
	unit_case("take %u:", page);
	if (!CHECK(!front_prepare(&f->s.p, page * FRONT_M2, FRONT_M2)))
		return;
	front_set(&f->s.p, page * FRONT_M2, FRONT_M2, LINUX_NONE);
	f->page[page] = PAGE_HOLE;
	f->prepared[page] = true;
}

static u32 slot_of(const struct front_model *f, u32 page)
{
	u32 i;

	for (i = 0; i < FRONT_OPEN && f->open_page[i] != page; i++)
		;
	return i;
}

void front_model_give(struct front_model *f, u32 page)
{
	if (f->page[page] == PAGE_LINUX)
		return;
	unit_case("give %u:", page);
	if (f->page[page] == PAGE_OPEN)
		f->open_page[slot_of(f, page)] = FRONT_PAGES;
	front_set(&f->s.p, page * FRONT_M2, FRONT_M2, LINUX_ALL);
	f->page[page] = PAGE_LINUX;
	f->mapped[page] = true;
}

void front_model_show(struct front_model *f, u32 page)
{
	u32 slot = slot_of(f, FRONT_PAGES);

	if (f->page[page] != PAGE_HOLE || slot == FRONT_OPEN)
		return;
	unit_case("open %u:", page);
	front_split(&f->s.p, page * FRONT_M2, f->open_table[slot]);
	front_set(&f->s.p, page * FRONT_M2, QV_OPEN_LEN, LINUX_READ);
	f->open_page[slot] = page;
	f->page[page] = PAGE_OPEN;
}

void front_model_answer(struct front_model *f, u32 page)
{
	if (f->page[page] != PAGE_HOLE)
		return;
	*paging_entry(&f->s.p, page * FRONT_M2, 2) = f->answers | PT_TABLE;
	f->page[page] = PAGE_ANSWERED;
}

void front_model_step(struct front_model *f, u64 choice)
{
	u32 page = (choice >> 8) % FRONT_PAGES;
	u64 pa = page * FRONT_M2 + (choice >> 24) % FRONT_M2;

	switch (choice % 8) {
	case 0: case 1: case 2:
		front_model_touch(f, pa);
		break;
	case 3: case 4:
		front_model_take(f, page);
		break;
	case 5:
		front_model_give(f, page);
		break;
	case 6:
		front_model_show(f, page);
		break;
	case 7:
		front_model_answer(f, page);
		break;
	}
	front_model_check(f, pa);
	front_model_check(f, page * FRONT_M2 + 16 * 4096 - 1);
	front_model_check(f, (page + 1) % FRONT_PAGES * FRONT_M2 + 5);
	front_model_check(f, (page + FRONT_PAGES - 1) % FRONT_PAGES * FRONT_M2 + 5);
}
