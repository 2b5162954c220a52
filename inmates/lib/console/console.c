// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/pc.h>
#include <inmate/printf.h>
#include <inmate/screen.h>

static struct screen screen;
static uint64_t written;
static void (*before_output)(void);
static void (*when_full)(void);

void console_init(void)
{
	screen_init(&screen, (volatile uint16_t *)QV_SCREEN_GPA);
	if (!cell_present())
		serial_init();
	console_write("", 0);		/* an empty write shows the cursor */
}

void console_write(const char *text, size_t n)
{
	bool irqs = irq_save();

	while (irqs && when_full && !console_fits(n)) {
		irq_restore(true);
		when_full();
		irqs = irq_save();
	}
	if (before_output)
		before_output();
	screen_write(&screen, text, n);
	if (cell_present()) {
		cell_stream(text, n);
		cell_screen_changed(screen.cursor);
	} else {
		serial_write(text, n);
		vga_set_cursor(screen.cursor);
	}
	written += n;
	irq_restore(irqs);
}

void console_aside(const char *text, size_t n)
{
	bool irqs = irq_save();

	if (cell_present())
		cell_stream(text, n);
	else
		serial_write(text, n);
	irq_restore(irqs);
}

bool console_fits(size_t n)
{
	return cell_present() || serial_fits(n);
}

void console_when_full(void (*wait)(void))
{
	when_full = wait;
}

void console_wait(void)
{
	if (when_full)
		when_full();
}

void console_flush(void)
{
	if (!cell_present())
		serial_flush();
}

void console_poll(void)
{
	if (!cell_present())
		serial_poll();
}

uint64_t console_written(void)
{
	return written;
}

bool console_at_line_start(void)
{
	return screen.cursor % SCREEN_COLS == 0;
}

void console_before_output(void (*act)(void))
{
	before_output = act;
}

void console_ready(void)
{
	static const char ready = QV_STREAM_READY;
	bool irqs = irq_save();

	if (cell_present())
		cell_stream(&ready, 1);
	irq_restore(irqs);
}

/* Collects the small pieces that format_to() delivers. */
struct gather {
	size_t n;
	char text[120];
};

static void flush(struct gather *g)
{
	console_write(g->text, g->n);
	g->n = 0;
}

static void gather_sink(void *arg, const char *text, size_t n)
{
	struct gather *g = arg;

	for (; n; n--) {
		g->text[g->n++] = *text++;
		if (g->n == sizeof(g->text))
			flush(g);
	}
}

void vprint(const char *fmt, va_list ap)
{
	struct gather g = { .n = 0 };

	format_to(gather_sink, &g, fmt, ap);
	flush(&g);
}

void print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
}
