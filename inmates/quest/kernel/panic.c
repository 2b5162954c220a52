// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdbool.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/printf.h>
#include "panic.h"

static void sink(void *arg, const char *text, size_t n)
{
	(void)arg;
	console_write(text, n);
}

_Noreturn void panic(const char *fmt, ...)
{
	va_list ap;

	irq_disable();
	console_poll();
	print("\n" PANIC_RED "panic: ");
	va_start(ap, fmt);
	format_to(sink, NULL, fmt, ap);
	va_end(ap);
	print(PANIC_PLAIN "\nQuest has stopped.\n");
	cpu_stop();
}
