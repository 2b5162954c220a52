// SPDX-License-Identifier: GPL-2.0-only
/* The table of parts, and the loops over it. */
#include <linux/kernel.h>
#include "parts.h"

/*
 * One row each: parts/NAME.c defines qv_part_NAME. All loops use this order, and it matters:
 * - modules come before the image: they are copied from the caller before anything is taken;
 * - devices come before memory: they are silent before the image is loaded, and before Linux gets
 *   the memory back;
 * - standby comes after the image, of which it makes copies;
 * - the image comes after the memory into which it is loaded;
 * - channel_keys comes after channels, since it describes its memory after the channels;
 * - CPUs come last: taking a CPU disturbs Linux most, so all else has succeeded by then.
 */
#define ROWS(X) \
	X(modules) \
	X(ports) \
	X(pci) \
	X(memory) \
	X(image) \
	X(standby) \
	X(options) \
	X(console) \
	X(channels) \
	X(channel_keys) \
	X(cpus)

#define DECLARE(name) extern const struct qv_part qv_part_##name;
ROWS(DECLARE)

#define ROW(name) &qv_part_##name,
static const struct qv_part *const parts[] = { ROWS(ROW) };

/* Calls @verb of each part that has it */
#define EACH_PART(verb, ...) do {				\
	for (u32 i_ = 0; i_ < ARRAY_SIZE(parts); i_++)		\
		if (parts[i_]->verb)				\
			parts[i_]->verb(__VA_ARGS__);		\
} while (0)

/* The same, but ends at the first error. The value of this expression is that error, or 0 */
#define EACH_PART_UNTIL_ERROR(verb, ...) ({			\
	int error_ = 0;						\
	for (u32 i_ = 0; i_ < ARRAY_SIZE(parts) && !error_; i_++)	\
		if (parts[i_]->verb)				\
			error_ = parts[i_]->verb(__VA_ARGS__);	\
	error_;							\
})

int qv_parts_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	return EACH_PART_UNTIL_ERROR(check, r, q);
}

int qv_parts_take(struct qv_reply *r, struct qv_cell *cell)
{
	return EACH_PART_UNTIL_ERROR(take, r, cell);
}

void qv_parts_info(const struct qv_cell *cell, struct qv_info *info)
{
	EACH_PART(info, cell, info);
}

void qv_parts_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	EACH_PART(describe, cell, m);
}

void qv_parts_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	EACH_PART(show, cell, info);
}

void qv_parts_begin(struct qv_cell *cell)
{
	EACH_PART(begin, cell);
}

void qv_parts_end(struct qv_cell *cell)
{
	EACH_PART(end, cell);
}

int qv_parts_reset(struct qv_reply *r, struct qv_cell *cell)
{
	return EACH_PART_UNTIL_ERROR(reset, r, cell);
}

void qv_parts_give(struct qv_cell *cell)
{
	EACH_PART(give, cell);
}

void qv_parts_unload(void)
{
	EACH_PART(unload);
}
