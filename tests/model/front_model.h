/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front end's nested tables, and a simple list with the state of each 2 MiB page. Each
 * operation is applied to both; front_model_check() compares them.
 */
#ifndef FRONT_MODEL_H
#define FRONT_MODEL_H

#include "tables/nested.h"
#include "space.h"

#define FRONT_M2	0x200000ul
#define FRONT_PAGES	2560u			/* number of 2 MiB pages: 5 GiB */
/* largest number of pages that may be open at the same time */
#define FRONT_OPEN	4u

enum front_page { PAGE_LINUX, PAGE_HOLE, PAGE_OPEN, PAGE_ANSWERED };

struct front_model {
	struct space s;
	u8 page[FRONT_PAGES];			/* enum front_page */
	/* if Linux has touched the page, another touch must not fault */
	bool mapped[FRONT_PAGES];
	bool prepared[FRONT_PAGES];
	u64 answers, nowhere;		/* a table whose entries all lead to the page of ones */
	u64 open_table[FRONT_OPEN];
	/* page number of an open page; FRONT_PAGES: this entry is unused */
	u32 open_page[FRONT_OPEN];
};

void front_model_open(struct front_model *f, u32 levels, u32 max_leaf, u32 ept);
void front_model_close(struct front_model *f);

/* Operations. An operation that the state of the page does not allow is left out. */
void front_model_touch(struct front_model *f, u64 pa);	/* front_fill */
/* takes a page: front_prepare() and front_set() */
void front_model_take(struct front_model *f, u32 page);
void front_model_give(struct front_model *f, u32 page);	/* front_set */
/* opens a page: front_split() and front_set() */
void front_model_show(struct front_model *f, u32 page);
/* answers a forbidden touch, as front/touch.c does */
void front_model_answer(struct front_model *f, u32 page);

void front_model_check(const struct front_model *f, u64 pa);
void front_model_check_all(const struct front_model *f);

/* One operation and some checks, chosen by @choice */
void front_model_step(struct front_model *f, u64 choice);

#endif
