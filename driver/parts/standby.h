/* SPDX-License-Identifier: GPL-2.0-only */
/* The ROM of a cell on standby: standby.c fills it, standby_rom.S is its code. */
#ifndef QV_STANDBY_H
#define QV_STANDBY_H

/* Offsets in the ROM. The code comes first; standby_rom.S uses those of struct rom_head */
#define ROM_HEAD	0x200
#define ROM_HEAD_LEN	0x4000		/* from the start of the ROM to the first copy of a page */
#define ROM_DEVICES	12
#define ROM_COMMANDS	16
#define ROM_NUM		48
#define ROM_STEPS	52
#define ROM_STEP_LEN	12
#define ROM_ENTERED	0xBA078	/* .entered_tsc of the comm page */

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct qv_cell_create;

/* Returns the number of 2 MiB pages that the cell's ROM takes, from the end of its memory */
u32 qv_standby_pages(const struct qv_cell_create *q);

extern const u8 qv_standby_rom[], qv_standby_rom_end[];

#endif
#endif
