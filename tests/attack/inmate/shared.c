// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks on the pages that Linux reads. The report is written first, since the attack destroys it.
 */
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "attack.h"

#define COMM	((volatile uint32_t *)QV_COMM_GPA)
#define SHARED	0x8000u
#define INFO	(QV_INFO_GPA - QV_SCREEN_GPA)

static _Noreturn void beat_only(void)
{
	for (;;) {
		still_here();
		cpu_relax();
	}
}

/* Sets one field of struct qv_comm repeatedly */
void shared_field(uint64_t offset, uint64_t value)
{
	uint32_t i;

	report_survival();
	for (i = 0;; i++) {
		if (i > 1000000)
			COMM[offset / 4] = value;
		still_here();
		cpu_relax();
	}
}

/* Gives Linux time to read the report */
static void wait_for_reader(void)
{
	uint32_t i;

	report_survival();
	for (i = 0; i < 1000000; i++) {
		still_here();
		cpu_relax();
	}
}

/* Gives Linux time to read that the attack begins */
static void wait_to_begin(void)
{
	uint32_t i;

	for (i = 0; i < 1000000; i++)
		cpu_relax();
}

void shared_fill(uint64_t byte, uint64_t b)
{
	volatile uint8_t *shared = (volatile uint8_t *)QV_SCREEN_GPA;
	uint32_t i;

	wait_for_reader();
	for (i = 0; i < SHARED; i++)
		if (i < INFO || i >= INFO + 0x1000)
			shared[i] = byte;
	beat_only();
}

void shared_escapes(uint64_t a, uint64_t b)
{
	static const char text[] =
		"\033]0;title\007\033]52;c;ZXZpbA==\007\033[6n\033[c\033[>c\033P$q\"p\033\\"
		"\033]8;;http://evil\033\\"
		"\033[?1049h\033[20t\033[21t\033]4;0;?\007\0\x9b"
		"6n\x90\x9c\033#8\033c\033[999999999999C\033[;;;;;;;;;;;;m";
	uint32_t i;

	wait_for_reader();
	for (i = 0;; i++) {
		if (i < 2000)
			console_write(text, sizeof(text) - 1);
		still_here();
	}
}

void shared_heartbeat(uint64_t a, uint64_t b)
{
	volatile uint64_t *beats = (volatile uint64_t *)QV_COMM_GPA;
	uint32_t i;

	for (i = 0; i < 100000; i++)
		*beats = i & 1 ? ~0ull : i;
	*beats = 0;
	survived("jumped");
}

void shared_flip(uint64_t a, uint64_t b)
{
	volatile uint32_t *shared = (volatile uint32_t *)QV_SCREEN_GPA;
	uint32_t i, value = 0;

	wait_to_begin();
	for (;;)
		for (i = 0; i < SHARED / 4; i++)
			if (i < INFO / 4 || i >= (INFO + 0x1000) / 4)
				shared[i] = value += 0x9E3779B9;
}

void shared_flip_indices(uint64_t a, uint64_t b)
{
	uint32_t right_tail = COMM[3], right_head = COMM[5], i;

	wait_to_begin();
	for (i = 0;; i++) {
		COMM[3] = i & 1 ? right_tail : ~right_tail;
		COMM[4] = i;
		COMM[5] = i & 1 ? right_head : right_head - i;
		COMM[6] = i;
		COMM[33] = i & 1 ? 0 : 300;
	}
}

void shared_ignore(uint64_t a, uint64_t b)
{
	beat_only();
}

void shared_lie(uint64_t a, uint64_t b)
{
	cell_set_state(QV_INMATE_HALTED);
	beat_only();
}

void shared_heartbeat_stops(uint64_t a, uint64_t b)
{
	uint32_t i;

	for (i = 0; i < 1000000; i++)
		still_here();
	silence();
}
