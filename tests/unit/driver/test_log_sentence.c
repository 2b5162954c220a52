// SPDX-License-Identifier: GPL-2.0-only
/* driver/log_sentence.c: the sentences for events of the monitors */
#include <string.h>
#include "abi/layout.h"
#include "qv.h"
#include "unit.h"

static const char *holder(u64 instance)
{
	return instance == 2 ? "quest" : NULL;
}

static bool says(u32 what, u64 a, u64 b, const char *sentence)
{
	struct qv_mon_log_entry entry = { .what = what, .cpu = 3, .a = a, .b = b };
	char text[QV_TEXT_LEN];

	qv_log_sentence(text, sizeof(text), &entry, holder);
	return !strncmp(text, "cpu 3: ", 7) && !strcmp(text + 7, sentence);
}

/* QEMU leaves a guest twice: the monitor then runs Linux at its own address. See lab.md */
static void impossible_exit(void)
{
	const u64 outside[] = { QV_VA_IMAGE - 1, QV_VA_IMAGE + QV_IMAGE_MAX, 0xffffffff81000000 };
	char text[QV_TEXT_LEN];
	u32 i;

	CHECK(says(QV_LOG_SHUTDOWN, QV_VA_IMAGE + 0x123, 0,
		   "triple fault at 0x40000123, an address of the monitor: probably an impossible "
		   "exit of an emulator"));
	for (i = 0; i < ARRAY_SIZE(outside); i++) {
		scnprintf(text, sizeof(text), "Linux had a triple fault at %#llx: the machine goes "
			  "down as without a monitor", outside[i]);
		CHECK(says(QV_LOG_SHUTDOWN, outside[i], 0, text));
	}
}

static void cells(void)
{
	CHECK(says(QV_LOG_CREATED, 2, 5, "cell quest created, 5 pages of 2 MiB"));
	CHECK(says(QV_LOG_STOPPED, 2, 0, "cell quest stopped"));
	CHECK(says(QV_LOG_STOPPED, 7, 0, "cell instance 7 stopped"));
	CHECK(says(QV_LOG_FAILED, QV_FAIL_MEMORY, 0x900000,
		   "cell failed: it touched memory outside the cell (address 0x900000)"));
	CHECK(says(QV_LOG_FAILED, 99, 0, "cell failed: an unknown reason (address 0)"));
	CHECK(says(9999, 1, 2, "event 9999 (1, 2)"));
}

UNIT_SUITE(log_sentence) = {
	{ "log sentence: an impossible exit of an emulator has its name", impossible_exit },
	{ "log sentence: cells have their names, failures their reason", cells },
	{ 0 }
};
