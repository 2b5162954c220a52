// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the library's start-up code to the application's main(). */
#include <inmate/apic.h>
#include <inmate/boot.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/pc.h>
#include <inmate/trap.h>
#include "../kernel/kernel.h"
#include "boot.h"
#include "floats.h"
#include "x86.h"

#define PLAUSIBLE_KHZ	1000
#define ECX_X2APIC	(1u << 21)
#define ECX_DEADLINE	(1u << 24)
#define MODE_WORD	5		/* bytes of "mode=" */

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address);

/*
 * The application may define main(), which calls StartOS(). This one starts the application mode
 * `mode=N` of the command line, or OSDEFAULTAPPMODE.
 */
int main(void);

static struct boot_info boot;

AppModeType boot_mode(void)
{
	const char *word = boot.cmdline;
	size_t length;

	for (;; word += length) {
		word = boot_word(word, &length);
		if (!length)
			return OSDEFAULTAPPMODE;
		if (length >= MODE_WORD + 1 && __builtin_memcmp(word, "mode=", MODE_WORD) == 0)
			break;
	}
	if (length == MODE_WORD + 2)
		return (AppModeType)((word[5] - '0') * 10 + word[6] - '0');
	return (AppModeType)(word[5] - '0');
}

__attribute__((weak)) int main(void)
{
	StartOS(boot_mode());
	return 0;
}

static bool init_alone(bool x2apic, uint32_t *khz)
{
	pic_disable();
	*khz = pit_measure_tsc_khz();
	return apic_try_x2apic(x2apic && !boot_option(&boot, "xapic"));
}

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address)
{
	uint32_t features, khz;
	bool x2apic;

	cell_detect();
	console_init();
	trap_init();
	fault_catch();
	floats_enable();
	boot_parse(&boot, magic, boot_address);
	features = cpuid(1, 0).ecx;
	if (cell_present()) {
		khz = cell_info()->tsc_khz;
		x2apic = cell_info()->x2apic;
	} else {
		x2apic = init_alone(features & ECX_X2APIC, &khz);
	}
	if (khz < PLAUSIBLE_KHZ)
		fault_stop("the frequency of the TSC makes no sense");
	hwclock_set(khz, features & ECX_DEADLINE);
	if (!x2apic)
		guard_map_uncached(APIC_PAGE);
	apic_init(x2apic);
	main();
	fault_stop("main() has returned");
}
