/* SPDX-License-Identifier: GPL-2.0-only */
/* Cases of torture: two threads or more, each an end of one channel. */
#ifndef TORTURE_H
#define TORTURE_H

#include "../world.h"

#define WORDS	8		/* of an item */

struct end_args {
	struct world *world;
	uint32_t self;
	bool zero_copy;
	uint64_t items;			/* to send at most */
	uint64_t *ended;		/* a memory's reader: set at the end of the writer */
	uint64_t received, lost;	/* results; a writer's `received`: items sent */
};

/* A case runs between these calls. It has to be over after `seconds`, if not 0. */
void begin_case(uint32_t seconds);
bool end_case(const char *name, uint64_t items, uint64_t received);

bool is_enough(void);		/* no end may begin another item */
bool failed(void);		/* no end may wait for another one */
void fail(const char *why);	/* both become true */
void give_way(void);

void fill_item(uint64_t *item, uint64_t value, uint64_t generation);
void fill_half(uint64_t *item);
uint64_t whole(const uint64_t *item);
int send_item(struct end_args *a, struct qv_end *end, uint64_t value);
int take_item(struct end_args *a, struct qv_end *end, uint64_t *value, struct qv_item *about);

/* Each returns whether it passed. */
bool stream_case(const char *name, uint64_t items, uint32_t type, uint32_t full, uint32_t readers,
		 bool zero_copy);
bool batches_case(const char *name, uint64_t items, uint32_t full);
bool mailbox_case(const char *name, uint64_t items, bool zero_copy);
bool memory_case(const char *name, uint64_t items);
bool writer_restarts_case(const char *name, uint32_t type, uint32_t full);
bool reader_restarts_case(const char *name);
bool writer_ends_case(const char *name, uint64_t items, uint32_t type);

#endif
