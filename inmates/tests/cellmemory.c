// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <qv/end.h>
#include <inmate/cpu.h>
#include "../quest/mm/pages.h"
#include "cellmemory.h"
#include "unit.h"

#define CELLS		3
#define ROOM		12288		/* at most */
#define STATES		4

static struct {
	unsigned char window[QV_CHAN_PAGE + 4096 + STATES * ROOM] __attribute__((aligned(4096)));
	unsigned char kept[2 * ROOM] __attribute__((aligned(4096)));
	struct qv_end ends[CELLS];	/* of the memory of each cell */
	uint64_t generation;
} cells[CELLS];
static int num_cells;
static size_t memory_bytes, kept_bytes;

uint64_t now = 1000000 * US;
int current;

uint64_t rdtsc(void)
{
	return now;
}

uint64_t timer_from_us(uint64_t us)
{
	return us * US;
}

/* The place of cell `i` among the ends of the memory of cell `of`. */
static uint32_t end_of(int i, int of)
{
	return (uint32_t)(i + num_cells - of) % (uint32_t)num_cells;
}

int channel_find(const char *name)
{
	return name[0] - 'a';
}

int channel_open(unsigned int n, struct qv_end **end)
{
	*end = &cells[current].ends[n];
	return qv_end_attach(*end, cells[n].window, QV_CHAN_PAGE + memory_bytes,
			     end_of(current, (int)n));
}

void channel_close(unsigned int n)
{
	(void)n;
}

uint64_t pages_alloc(size_t n)
{
	CHECK_EQ(n * 4096, kept_bytes);
	return (uint64_t)(uintptr_t)cells[current].kept;
}

static struct qv_chan_page *page_of(int i)
{
	return (struct qv_chan_page *)cells[i].window;
}

void cellmemory_lay_out(int number, size_t room, size_t states)
{
	int i, n;

	memset(cells, 0, sizeof(cells));
	CHECK(number <= CELLS && room <= ROOM && states <= STATES);
	num_cells = number;
	memory_bytes = 4096 + states * room;
	kept_bytes = 2 * room;
	for (i = 0; i < number; i++) {
		struct qv_chan_page *page = page_of(i);

		page->session = 1;
		page->type = QV_CHAN_MEMORY;
		page->item = (uint32_t)memory_bytes;
		page->slots = 1;
		page->ends = (uint32_t)number;
		page->name[0] = (char)('a' + i);
		for (n = 0; n < number; n++)
			page->end[end_of(n, i)].name[0] = (char)('A' + n);
		CHECK(!qv_chan_lay_out(page));
	}
}

unsigned char *cellmemory_of(int i)
{
	return cells[i].window + QV_CHAN_PAGE;
}

unsigned char *cellmemory_kept(int i)
{
	return cells[i].kept;
}

void cellmemory_set_life(int i, enum qv_chan_state state)
{
	int n;

	for (n = 0; n < num_cells; n++)
		page_of(n)->end[end_of(i, n)].life = QV_CHAN_LIFE(cells[i].generation, state);
}

void cellmemory_again(int i)
{
	cells[i].generation++;
	cellmemory_set_life(i, QV_CHAN_IS_RUNNING);
}

void cellmemory_begin(int i)
{
	memset(cellmemory_of(i), 0, memory_bytes);
	cellmemory_again(i);
}

void flip(void *from, size_t bytes)
{
	((unsigned char *)from)[rnd_below(bytes)] ^= 1u << rnd_below(8);
}
