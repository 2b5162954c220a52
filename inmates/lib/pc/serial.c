// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdbool.h>
#include <inmate/cpu.h>
#include <inmate/pc.h>
#include <inmate/ring.h>

#define COM1	0x3F8

enum {
	DATA = COM1, DIVISOR_LOW = COM1,
	INTERRUPTS = COM1 + 1, DIVISOR_HIGH = COM1 + 1,
	FIFO = COM1 + 2, IDENTIFY = COM1 + 2, LINE = COM1 + 3, MODEM = COM1 + 4,
	STATUS = COM1 + 5, SCRATCH = COM1 + 7,
};

#define LINE_8N1	0x03
#define LINE_DIVISOR	0x80
/* DTR, RTS, OUT2 (which enables the chip's interrupt line) */
#define MODEM_ON	0x0B
#define FIFO_ON		0x07
/* in IDENTIFY: the FIFO is on; without a FIFO, send one byte at a time */
#define FIFO_IS_ON	0xC0
#define FIFO_LENGTH	16
#define NONE_PENDING	0x01		/* in IDENTIFY */
#define RECEIVED	0x01
#define ROOM		0x20
#define WHEN_RECEIVED	0x01
#define WHEN_SENT	0x02
#define SEND_TRIES	100000

#define OUT_LENGTH	8192		/* length of the queue: a power of two */
/* part of the queue that is kept for output with interrupts off */
#define OUT_KEPT	2048

static bool there;
static bool by_interrupt;		/* output is queued in `out` */
static int at_once;			/* number of bytes that the chip accepts when it is empty */
static uint8_t enabled;			/* in INTERRUPTS */
static char out[OUT_LENGTH];
static uint32_t head, tail;

void serial_init(void)
{
	outb(SCRATCH, 0x5A);
	there = inb(SCRATCH) == 0x5A;
	if (!there)
		return;
	outb(INTERRUPTS, 0);
	outb(LINE, LINE_DIVISOR);
	outb(DIVISOR_LOW, 1);		/* 115200 */
	outb(DIVISOR_HIGH, 0);
	outb(LINE, LINE_8N1);
	outb(FIFO, FIFO_ON);
	at_once = (inb(IDENTIFY) & FIFO_IS_ON) == FIFO_IS_ON ? FIFO_LENGTH : 1;
	outb(MODEM, MODEM_ON);
}

/* Sends a byte. Waits until the chip has room. */
static void send(char c)
{
	int tries = SEND_TRIES;

	while (!(inb(STATUS) & ROOM) && tries--)
		cpu_relax();
	outb(DATA, (uint8_t)c);
}

static void enable(uint8_t wanted)
{
	if (wanted == enabled)
		return;
	enabled = wanted;
	outb(INTERRUPTS, wanted);
}

void serial_pump(void)
{
	bool irqs = irq_save();
	int left = at_once;

	if (by_interrupt && inb(STATUS) & ROOM)
		for (; left && head != tail; left--)
			outb(DATA, (uint8_t)out[ring_slot(tail++, OUT_LENGTH)]);
	if (by_interrupt)
		enable(head != tail ? WHEN_RECEIVED | WHEN_SENT : WHEN_RECEIVED);
	irq_restore(irqs);
}

static void put(char c)
{
	if (!by_interrupt) {
		send(c);
		return;
	}
	/* the queue is full: more than OUT_KEPT bytes came with interrupts off */
	if (head - tail == OUT_LENGTH)
		send(out[ring_slot(tail++, OUT_LENGTH)]);
	out[ring_slot(head++, OUT_LENGTH)] = c;
}

bool serial_fits(size_t n)
{
	uint32_t queued = head - tail;

	/* '\n' takes two bytes of the queue */
	return !queued || (n < OUT_LENGTH && queued + 2 * n <= OUT_LENGTH - OUT_KEPT);
}

void serial_write(const char *text, size_t n)
{
	if (!there)
		return;
	for (; n; n--, text++) {
		if (*text == '\n')
			put('\r');
		put(*text);
	}
	serial_pump();
}

void serial_flush(void)
{
	bool irqs;

	while (head != tail) {
		irqs = irq_save();
		if (head != tail)
			send(out[ring_slot(tail++, OUT_LENGTH)]);
		irq_restore(irqs);
	}
}

void serial_poll(void)
{
	serial_flush();
	by_interrupt = false;
}

void serial_enable_irq(void)
{
	if (!there)
		return;
	by_interrupt = true;
	enable(WHEN_RECEIVED);
}

bool serial_pending(void)
{
	return there && !(inb(IDENTIFY) & NONE_PENDING);
}

int serial_read(void)
{
	if (!there || !(inb(STATUS) & RECEIVED))
		return -1;
	return inb(DATA);
}
