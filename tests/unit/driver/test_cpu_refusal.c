// SPDX-License-Identifier: GPL-2.0-only
/* driver/parts/cpu_refusal.c: the sentences for CPUs that Linux keeps */
#include <errno.h>
#include <string.h>
#include "qv.h"
#include "abi/errors.h"
#include "parts/cpus.h"
#include "unit.h"

static const struct qv_reply *refused(int error, bool has_deadlines)
{
	static struct qv_reply r;

	memset(&r, 0, sizeof(r));
	CHECK_EQ(qv_refuse_cpu(&r, 3, error, has_deadlines), -EINVAL);
	CHECK_EQ(r.code, QV_E_CPU);
	return &r;
}

static void deadlines(void)
{
	const struct qv_reply *r = refused(-EBUSY, true);

	CHECK(!strcmp(r->text, "Linux keeps CPU 3: the deadlines of SCHED_DEADLINE threads do not "
			       "fit on the CPUs that would stay"));
	CHECK(strstr(r->remedy, "grep DLN"));
	CHECK(!strstr(refused(-EBUSY, false)->text, "DEADLINE"));
	CHECK(!strstr(refused(-ENOSPC, true)->text, "DEADLINE"));
	CHECK(strstr(refused(-ENOSPC, true)->text, "interrupt vectors"));
}

static void never_a_number(void)
{
	const struct qv_reply *r;
	int error;

	for (error = 1; error < 200; error++) {
		r = refused(-error, error & 1);
		CHECK(!strncmp(r->text, "Linux keeps CPU 3", 17) && r->remedy[0]);
		CHECK(!strpbrk(r->text + 17, "0123456789"));
		CHECK(strlen(r->text) < QV_TEXT_LEN - 1 && strlen(r->remedy) < QV_TEXT_LEN - 1);
	}
	CHECK(!strcmp(r->text, "Linux keeps CPU 3 and gives no reason that is known here"));
}

static void offline(void)
{
	struct qv_reply r = { 0 };

	CHECK_EQ(qv_refuse_offline(&r, 12, ""), -EINVAL);
	CHECK(r.code == QV_E_CPU_OFFLINE && !strcmp(r.text, "CPU 12 is offline"));
	CHECK(!strcmp(r.remedy, "bring it online: echo 1 > /sys/devices/system/cpu/cpu12/online"));
}

UNIT_SUITE(cpu_refusal) = {
	{ "CPU refusal: deadlines that do not fit have their sentence", deadlines },
	{ "CPU refusal: each errno has a sentence without a number", never_a_number },
	{ "CPU refusal: the command for an offline CPU has its number", offline },
	{ 0 }
};
