// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "manage.h"

void manage_make(void *window, const struct qv_chan_page *page, uint64_t session)
{
	struct qv_chan_page *life_page = window;
	uint32_t i;

	*life_page = *page;
	life_page->session = session;
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		life_page->end[i].life = 0;
}

static uint64_t next_generation(const struct qv_chan_page *page)
{
	uint64_t highest = page->session >> 8, life, generation;
	uint32_t i;

	for (i = 0; i < page->ends; i++) {
		life = __atomic_load_n(&page->end[i].life, __ATOMIC_SEQ_CST);
		generation = QV_CHAN_GENERATION(life);
		if (generation > highest)
			highest = generation;
	}
	return highest + 1;
}

void manage_start(void *window, uint32_t end)
{
	struct qv_chan_page *page = window;
	struct qv_chan_end *it = &page->end[end];
	uint64_t generation = next_generation(page), *word, i;

	__atomic_store_n(&it->life, QV_CHAN_LIFE(generation, QV_CHAN_IS_STOPPED), __ATOMIC_SEQ_CST);
	word = (uint64_t *)((unsigned char *)window + it->offset);
	for (i = 0; i < it->size / sizeof(*word); i++)
		__atomic_store_n(&word[i], 0, __ATOMIC_SEQ_CST);
	manage_state(window, end, QV_CHAN_IS_RUNNING);
}

void manage_state(void *window, uint32_t end, enum qv_chan_state state)
{
	uint64_t *life = &((struct qv_chan_page *)window)->end[end].life;
	uint64_t generation = QV_CHAN_GENERATION(__atomic_load_n(life, __ATOMIC_SEQ_CST));

	__atomic_store_n(life, QV_CHAN_LIFE(generation, state), __ATOMIC_SEQ_CST);
}
