// SPDX-License-Identifier: GPL-2.0-only
/* Loads that a hostile cell can send: each wrong field is refused, and names can be printed. */
#include <string.h>
#include "../quest/migration/load.h"
#include "../quest/user/include/quest/errors.h"
#include "unit.h"

#define KHZ	1000000

static struct mig_load load;

static void make(void)
{
	memset(&load, 0, sizeof(load));
	load = (struct mig_load){
		.tsc_khz = KHZ, .test = ADMISSION_EXACT, .num_vcpus = 3, .listed = 2,
		.vcpus = { { "main", 10, 10, 0, 1000 }, { "io", 9, 10, 1, 0 } },
	};
}

static int check(void)
{
	return mig_check_load(&load, mig_load_bytes(2), KHZ);
}

TEST(load_is_taken)
{
	make();
	CHECK(!check());
	load.vcpus[0].name[2] = '\n';
	memset(load.vcpus[1].name, 'x', SCHED_NAME);
	CHECK(!check());
	CHECK(!strcmp(load.vcpus[0].name, "ma?n"));
	CHECK(strlen(load.vcpus[1].name) == SCHED_NAME - 1);
	load.num_vcpus = load.listed = 0;
	CHECK(!mig_check_load(&load, mig_load_bytes(0), KHZ));
}

#define REFUSED(wrong, error)			\
	do {					\
		make();				\
		wrong;				\
		CHECK(check() == (error));	\
	} while (0)

TEST(wrong_loads_are_refused)
{
	REFUSED(load.tsc_khz++, -EPROTO);
	REFUSED(load.test = 2, -EBADMSG);
	REFUSED(load.listed = 1, -EBADMSG);
	REFUSED(load.listed = LOAD_VCPUS + 1, -EBADMSG);
	REFUSED(load.listed = UINT32_MAX, -EBADMSG);
	REFUSED(load.num_vcpus = 1, -EBADMSG);
	REFUSED(load.num_vcpus = SCHED_VCPUS + 1, -EBADMSG);
	REFUSED(load.vcpus[0].budget = 0, -EBADMSG);
	REFUSED(load.vcpus[0].budget = 11, -EBADMSG);
	REFUSED(load.vcpus[0].period = 0, -EBADMSG);
	REFUSED(load.vcpus[0].period = ADMISSION_PERIOD_MAX + 1, -EBADMSG);
	REFUSED(load.vcpus[1].period = 0, -EBADMSG);
	REFUSED(load.vcpus[1].budget = 10, -EBADMSG);
	REFUSED(load.vcpus[1].io = 2, -EBADMSG);
	REFUSED(load.vcpus[1].used = 1001, -EBADMSG);
	make();
	CHECK(mig_check_load(&load, mig_load_bytes(0) - 1, KHZ) == -EBADMSG);
	CHECK(mig_check_load(&load, mig_load_bytes(3), KHZ) == -EBADMSG);
}
