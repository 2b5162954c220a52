/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPUs that an ICR write reaches, computed from the manual: AMD APM vol. 2, 16.5, 16.6, 16.13.
 */
#ifndef ICR_MODEL_H
#define ICR_MODEL_H

#include "core/icr.h"

/* ICR fields, named as in the manual */
struct icr_fields {
	u32 vector, mode, logical, assert, level, shorthand;	/* field mode: message type */
};
u32 icr_word(const struct icr_fields *f);

/* Compares the verdict of icr_filter() with the manual, and checks what holds for every write. */
void icr_model_check(const struct icr_map *map, const struct icr_fields *f, u32 dest, u32 self);

#endif
