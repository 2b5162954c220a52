// SPDX-License-Identifier: GPL-2.0-only
#include "apic.h"
#include "cpu.h"

/* Of CPUs that race, each exchange lets one pass. The others then find the turn after it */
u64 bell_turn(u64 *next, u32 rate, bool wait)
{
	u64 khz = me()->boot.tsc_khz, turn, now;
	s64 early;

	for (;; pause()) {
		turn = __atomic_load_n(next, __ATOMIC_SEQ_CST);
		now = rdtsc();
		early = turn - now;	/* signed: the TSC of the CPU that came last may be ahead */
		if (early > 0 && (!wait || early > (s64)(2 * khz)))
			return turn;
		if (early <= 0 &&
		    __atomic_compare_exchange_n(next, &turn, now + (khz + rate - 1) / rate, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return 0;
	}
}
