// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "outage.h"

static struct outage outages[OUTAGES];
static int count;

struct outage *outage_new(int *number)
{
	struct outage *o = &outages[count % OUTAGES];

	*o = (struct outage){ .component = 0 };
	*number = count++;
	return o;
}

struct outage *outage_at(int number)
{
	return number < 0 || number >= count || count - number > OUTAGES ?
	       NULL : &outages[number % OUTAGES];
}

int outage_count(void)
{
	return count;
}
