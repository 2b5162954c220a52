// SPDX-License-Identifier: GPL-2.0-only
/*
 * vcpu=NAME,main|io,C,T on the command line: valid words are parsed, and wrong words are reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../quest/kernel/timeword.h"
#include "../quest/kernel/vcpu/iovcpu.h"
#include "../quest/kernel/vcpu/vcpu.h"
#include "../quest/kernel/vcpu/vcpuword.h"
#include "../quest/user/include/quest/classes.h"
#include "unit.h"

static struct vcpu_wish w;

static bool reads(const char *word, const char *name, enum vcpu_type type, uint64_t budget,
		  uint64_t period)
{
	memset(&w, 0xff, sizeof(w));
	return !vcpuword_read(word, &w) && !strcmp(w.name, name) && w.type == type &&
	       w.budget_us == budget && w.period_us == period;
}

static bool says(const char *word, const char *part)
{
	const char *wrong = vcpuword_read(word, &w);

	return wrong && strstr(wrong, part);
}

TEST(vcpuword_right_ones)
{
	CHECK(reads("vcpu=control,main,2ms,10ms", "control", MAIN_VCPU, 2000, 10000));
	CHECK(reads("vcpu=nic,io,500us,1s", "nic", IO_VCPU, 500, 1000000));
	CHECK(reads("vcpu=A-1_b.c,main,1us,600s", "A-1_b.c", MAIN_VCPU, 1, 600000000));
	CHECK(reads("vcpu=abcdefghijklmno,main,010ms,600000ms", "abcdefghijklmno", MAIN_VCPU, 10000,
		    600000000));
	/* the values are checked when the VCPU is created */
	CHECK(reads("vcpu=a,main,2s,1s", "a", MAIN_VCPU, 2000000, 1000000));
}

TEST(vcpuword_without_budget)
{
	CHECK(reads("vcpu=shell,none", "shell", BACKGROUND_VCPU, 0, 0));
	CHECK(says("vcpu=a,none,1ms,2ms", "main or io") && says("vcpu=a,none,", "vcpu=NAME,none") &&
	      says("vcpu=a,non", "use vcpu"));
	CHECK(says("vcpu=,none", "a name"));
}

TEST(vcpuword_classes)
{
	CHECK(reads("vcpu=nic,io,1ms,10ms", "nic", IO_VCPU, 1000, 10000) && !w.io_class);
	CHECK(reads("vcpu=nic,io.net,1ms,10ms", "nic", IO_VCPU, 1000, 10000) &&
	      w.io_class == IOVCPU_CLASS_NET);
	CHECK(reads("vcpu=a,io.ata.cdrom,1ms,10ms", "a", IO_VCPU, 1000, 10000));
	CHECK(w.io_class == (IOVCPU_CLASS_ATA | IOVCPU_CLASS_CDROM));
	CHECK(reads("vcpu=a,main,1ms,10ms", "a", MAIN_VCPU, 1000, 10000) && !w.io_class);
	CHECK(says("vcpu=a,io.,1ms,10ms", "io.CLASS") &&
	      says("vcpu=a,io.nets,1ms,10ms", "io.CLASS"));
	CHECK(says("vcpu=a,io.net.,1ms,10ms", "io.CLASS") &&
	      says("vcpu=a,io.net.net,1ms,10ms", "io.CLASS"));
	CHECK(says("vcpu=a,main.net,1ms,10ms", "main or io") &&
	      says("vcpu=a,.net,1ms,10ms", "main or io"));
}

/* A driver gets the VCPU with most of its classes, but never a VCPU of a program. */
TEST(iovcpu_selection)
{
	iovcpu_set(5, IOVCPU_CLASS_NET, false);
	iovcpu_set(6, IOVCPU_CLASS_NET | IOVCPU_CLASS_USB, false);
	iovcpu_set(7, IOVCPU_CLASS_NET | IOVCPU_CLASS_USB | IOVCPU_CLASS_GPIO, true);
	CHECK(iovcpu_select(IOVCPU_CLASS_NET) == 5 &&
	      iovcpu_select(IOVCPU_CLASS_NET | IOVCPU_CLASS_USB) == 6);
	CHECK(iovcpu_select(IOVCPU_CLASS_INPUT) == INPUT_VCPU &&
	      iovcpu_select(IOVCPU_CLASS_GPIO) == INPUT_VCPU);
	CHECK(iovcpu_get(7) && iovcpu_known(iovcpu_get(7)) && !iovcpu_known(128) &&
	      !iovcpu_known(-1) && iovcpu_known(0));
	iovcpu_set(5, 0, false);
	CHECK(iovcpu_select(IOVCPU_CLASS_NET) == 6);
	iovcpu_set(6, 0, false);
	iovcpu_set(7, 0, false);
}

TEST(vcpuword_fields)
{
	CHECK(says("vcpu=", "use vcpu=NAME"));
	CHECK(says("vcpu=control", "use vcpu=NAME"));
	CHECK(says("vcpu=control,main,2ms", "use vcpu=NAME"));
	CHECK(says("vcpu=control,main,2ms,10ms,", "use vcpu=NAME"));
	CHECK(says("vcpu=control,main,2ms,10ms,1ms", "use vcpu=NAME"));
	/* too long */
	CHECK(says("vcpu=control,main,2ms,0000000000000000000000000000000000000000010ms",
		   "use vcpu=NAME"));
}

TEST(vcpuword_names)
{
	CHECK(says("vcpu=,main,2ms,10ms", "a name"));
	CHECK(says("vcpu=abcdefghijklmnop,main,2ms,10ms", "a name"));
	CHECK(says("vcpu=a=b,main,2ms,10ms", "a name"));
	CHECK(says("vcpu=a?b,main,2ms,10ms", "a name"));
	CHECK(says("vcpu=\xc3\xa4,main,2ms,10ms", "a name"));
}

TEST(vcpuword_types)
{
	CHECK(says("vcpu=a,,2ms,10ms", "main or io"));
	CHECK(says("vcpu=a,disk,2ms,10ms", "main or io"));
	CHECK(says("vcpu=a,mains,2ms,10ms", "main or io"));
	CHECK(says("vcpu=a,mai,2ms,10ms", "main or io"));
}

TEST(vcpuword_times)
{
	static const char *const wrong[] = {
		"", "ms", "2", "2m", "2mss", "-2ms", "2.5ms", "0ms", "601s", "600000001us",
		"18446744073709551617us", "99999999999999999999s", "2 ms"
	};
	char word[80];
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(word, sizeof(word), "vcpu=a,main,%s,10ms", wrong[i]);
		CHECK(says(word, "600s"));
		snprintf(word, sizeof(word), "vcpu=a,io,1us,%s", wrong[i]);
		CHECK(says(word, "600s"));
	}
}

TEST(vcpuword_survives_random_words)
{
	static const char alphabet[] = "a,,,,=m1209usio-\xff ";
	char word[100];
	int i, j, n;

	srand(4);
	for (i = 0; i < 100000; i++) {
		n = rand() % 94;
		memcpy(word, VCPUWORD_KEY, 5);
		for (j = 5; j < 5 + n; j++)
			word[j] = alphabet[rand() % (sizeof(alphabet) - 1)];
		word[j] = 0;
		if (!vcpuword_read(word, &w))
			CHECK(w.type == BACKGROUND_VCPU ||
			      (w.budget_us && w.budget_us <= TIMEWORD_MAX_US && w.period_us &&
			       strlen(w.name) < SCHED_NAME));
	}
}
