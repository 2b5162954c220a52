/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks a program that another cell sent (wire.h), which may be hostile. Pure. A program that
 * passes has the rights of a program of this cell: ring 3, its own pages, and VCPUs that admission
 * accepts.
 */
#ifndef QUEST_MIGRATION_CHECK_H
#define QUEST_MIGRATION_CHECK_H

#include <stdbool.h>
#include "wire.h"

/*
 * Returns 0, or minus an error: EPROTO: another build of Quest (build.h) or another clock; EBADMSG.
 */
int mig_check_header(const struct mig_header *h, uint64_t build, uint32_t tsc_khz);

/*
 * Returns whether a program that has the channel `c` can have it in a cell that is end `end` of the
 * channel with that life page. The page is of the cell that asks, and was checked (qv/end.h).
 */
bool mig_channel_fits(const struct channel_image *c, const struct qv_chan_page *page,
		      unsigned int end);

/*
 * Adds the VCPUs of an image to the `n` entries of `set`, which has SCHED_VCPUS. Returns 0 or minus
 * an error: EADMIT: they are not admitted, and would not be later either while the others exist;
 * EBADMSG. The image is not checked otherwise.
 */
int mig_check_admission(const struct program_image *image, enum admission_test test,
			struct admission_entry *set, unsigned int n);

/* The clock and the processor of this cell */
struct mig_here {
	uint64_t now;			/* TSC */
	int64_t ahead;			/* by how many cycles it is ahead of the source's clock */
	uint32_t mxcsr_mask;		/* bits of MXCSR that are not reserved */
};

/*
 * Checks an image of `h`, shifts its times to this clock, and replaces the values that a program
 * cannot choose: selectors, flags, reserved bits of MXCSR. Returns 0, or minus an error: EBADMSG;
 * EBUSY: it uses a VCPU of its cell.
 */
int mig_check_image(const struct mig_header *h, struct program_image *image,
		    const struct mig_here *here);

/* Returns whether all VCPUs that the program uses come along, or exist in every cell. */
bool mig_has_its_vcpus(const struct program_image *image);

/*
 * Returns whether a page may be there: aligned, in the program's half, with known rights, and if it
 * is in the arena, inside its `arena` bytes.
 */
bool mig_check_page(const struct mig_page *page, uint64_t arena);

#endif
