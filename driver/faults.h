/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_DRIVER_FAULTS_H
#define QV_DRIVER_FAULTS_H

#include "abi/types.h"

#define QV_FAULT_LINES		16	/* of a function in a period */
#define QV_FAULT_PERIOD_S	10

/*
 * Returns true if the fault of the function @bdf at the time @tsc gets a line. *@silent: how many
 * faults before it got none
 */
bool qv_fault_line(u32 bdf, u64 tsc, u64 period, u64 *silent);

#endif
