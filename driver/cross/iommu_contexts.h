/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_IOMMU_CONTEXTS_H
#define QV_IOMMU_CONTEXTS_H

#include "abi/types.h"

#define CAP_DOMAINS(cap)	(16u << 2 * ((cap) & 7))	/* numbers of tables */
#define RTADDR_SCALABLE		0x400ull	/* in VTD_RTADDR: tables of scalable mode */

#define IOMMU_TRANSLATES \
	"Linux translates the addresses of its devices (try iommu=pt)"

/* Returns the table that an entry names */
typedef const u64 *iommu_table(u64 entry);

/*
 * Returns why a unit with these registers VTD_CAP and VTD_ECAP cannot be taken, or NULL. @top: the
 * end of memory
 */
const char *iommu_check_capabilities(u64 cap, u64 ecap, u64 top);

/* The contents of the tables of contexts of a unit */
struct iommu_contexts {
	bool translated;	/* Linux translates the addresses of a function */
	bool second;		/* by tables of the second stage, in scalable mode */
	u32 tables;		/* of contexts */
};

/*
 * Returns why the tables from VTD_RTADDR on cannot be replaced, or NULL. Adds to @found. Numbers of
 * tables from @domain on are not free.
 */
const char *iommu_check_contexts(iommu_table *table, u64 rtaddr, u32 domain,
				 struct iommu_contexts *found);

/*
 * Linux translates behind the unit. Returns why its tables must be trusted, or NULL: the unit nests
 * them in the monitor's table, which is of the @stage
 */
const char *iommu_check_nested(u64 ecap, u32 stage, const struct iommu_contexts *found);

#endif
