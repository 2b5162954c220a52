/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of a table of interrupt remapping: Intel VT-d specification 3.3, 9.10. Pure. */
#ifndef QV_IRTE_H
#define QV_IRTE_H

#include "core/icr.h"

#define IRTE_PRESENT	(1ull << 0)
/* In the monitor's table, a bit that units ignore: Linux's entry was refused, and is absent here */
#define IRTE_REFUSED	(1ull << 8)
#define IRTE_VECTOR(n)	((u64)(n) << 16)
/* High half: only the function @bdf may use the entry */
#define IRTE_SOURCE(bdf) (1ull << 18 | (bdf))
#define IRTE_LEN	16u

/*
 * Returns true if the entry is absent, or an interrupt that reaches @map->own_cpus only: fixed or
 * lowest priority, from vector 16 on. @wide: the table has destinations of 32 bits, else of 8.
 */
bool irte_ok(const struct icr_map *map, bool wide, u64 low, u64 high);

/* The same for an entry of 16 bytes of AMD-Vi: AMD I/O Virtualization Technology 3.06, 2.2.8.2 */
bool irte_ok_amdvi(const struct icr_map *map, bool wide, u64 low, u64 high);

#endif
