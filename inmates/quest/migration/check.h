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

/* Returns 0, or minus an error: EPROTO: another build of Quest or another clock; EBADMSG. */
int mig_check_header(const struct mig_header *h, uint32_t tsc_khz);

/*
 * Checks an image of `h`, whose times are shifted to this clock, at TSC `now`. Replaces what a
 * program cannot choose: selectors, flags, reserved bits of MXCSR (those not in `mxcsr_mask`).
 * Returns 0, or minus an error: EBADMSG; EBUSY: it uses a VCPU of its cell.
 */
int mig_check_image(const struct mig_header *h, struct program_image *image, uint32_t mxcsr_mask,
		    uint64_t now);

/* Returns whether a page may be there: aligned, in the program's half, with known rights. */
bool mig_check_page(const struct mig_page *page);

#endif
