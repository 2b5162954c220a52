// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdbool.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/printf.h>
#include "panic.h"

_Noreturn void panic_stop(const char *fmt, ...)
{
	char why[QV_PANIC_LEN + 1];
	va_list ap;

	print(PANIC_PLAIN "Quest has stopped.\n");
	va_start(ap, fmt);
	format_vbuf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (cell_present())
		cell_panic(why);
	cpu_stop();
}

_Noreturn void panic(const char *fmt, ...)
{
	char why[QV_PANIC_LEN + 1];
	va_list ap;

	irq_disable();
	console_poll();
	print("\n" PANIC_RED "panic: ");
	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
	print("\n");
	va_start(ap, fmt);
	format_vbuf(why, sizeof(why), fmt, ap);
	va_end(ap);
	panic_stop("%s", why);
}
