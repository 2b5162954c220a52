// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the names by which a program identifies its VCPUs. */
#include <string.h>
#include "../quest/kernel/process/process.h"
#include "unit.h"

static struct process p;

static void begin(void)
{
	memset(&p, 0, sizeof(p));
}

TEST(vcpuname_is_id)
{
	begin();
	CHECK(vcpuname_of_new(&p, 5) == 5 && vcpuname_id(&p, 5) == 5);
	CHECK(vcpuname_id(&p, 0) == 0 && vcpuname_id(&p, -1) == -1);
	vcpuname_drop(&p, 5);
	CHECK(vcpuname_id(&p, 5) == 5);
}

TEST(vcpuname_stays_when_vcpu_moves)
{
	begin();
	vcpuname_move(&p, 5, 9);
	CHECK(vcpuname_id(&p, 5) == 9);
	vcpuname_move(&p, 9, 7);
	CHECK(vcpuname_id(&p, 5) == 7);
	vcpuname_move(&p, 7, -1);
	CHECK(vcpuname_id(&p, 5) == -1);
}

/*
 * VCPU 5 moves to id 7, which was the id and so the name of a destroyed VCPU. That name must not
 * identify the moved VCPU.
 */
TEST(vcpuname_of_destroyed_vcpu)
{
	begin();
	vcpuname_move(&p, 7, 9);
	vcpuname_move(&p, 5, 7);
	CHECK(vcpuname_id(&p, 7) == 9 && vcpuname_id(&p, 5) == 7);
	vcpuname_drop(&p, 7);
	CHECK(vcpuname_id(&p, 7) == -1 && vcpuname_id(&p, 5) == 7);
}

/* A new VCPU whose id is the name of another VCPU gets a name that no VCPU can have as its id. */
TEST(vcpuname_of_new_vcpu)
{
	int name;

	begin();
	vcpuname_move(&p, 5, 7);
	name = vcpuname_of_new(&p, 5);
	CHECK(name >= SCHED_VCPUS && vcpuname_id(&p, name) == 5 && vcpuname_id(&p, 5) == 7);
}
