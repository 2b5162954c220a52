// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdbool.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "panic.h"

_Noreturn void panic(const char *fmt, ...)
{
	va_list ap;

	irq_disable();
	console_poll();
	print("\n" PANIC_RED "panic: ");
	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
	print(PANIC_PLAIN "\nQuest has stopped.\n");
	cpu_stop();
}
