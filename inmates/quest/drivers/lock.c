// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include "lock.h"

static volatile bool agreed;

void lock_management(void)
{
	cell_call(QV_CALL_LOCK);
}

void unlock_management(void)
{
	cell_call(QV_CALL_UNLOCK);
}

void lock_agree(bool yes)
{
	agreed = yes;
}

void lock_asked(void)
{
	if (!agreed)
		return;
	agreed = false;
	unlock_management();
}
