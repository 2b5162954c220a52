// SPDX-License-Identifier: GPL-2.0-only
/* steady: a component that beats every ms, whatever its arguments are. */
#include <quest.h>

int main(void)
{
	for (;;) {
		(void)recovery_beat();
		(void)usleep(1000);
	}
}
