// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdbool.h>
#include <inmate/cpu.h>
#include <inmate/pc.h>

#define COM1	0x3F8

enum {
	DATA = COM1, DIVISOR_LOW = COM1,
	INTERRUPTS = COM1 + 1, DIVISOR_HIGH = COM1 + 1,
	FIFO = COM1 + 2, LINE = COM1 + 3, MODEM = COM1 + 4,
	STATUS = COM1 + 5, SCRATCH = COM1 + 7,
};

#define LINE_8N1	0x03
#define LINE_DIVISOR	0x80
#define MODEM_ON	0x0B		/* DTR, RTS, OUT2: interrupts leave the chip */
#define FIFO_ON		0x07
#define RECEIVED	0x01
#define ROOM		0x20
#define SEND_TRIES	100000

static bool there;

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
	outb(MODEM, MODEM_ON);
}

static void send(char c)
{
	int tries = SEND_TRIES;

	while (!(inb(STATUS) & ROOM) && tries--)
		cpu_relax();
	outb(DATA, (uint8_t)c);
}

void serial_write(const char *text, size_t n)
{
	if (!there)
		return;
	for (; n; n--, text++) {
		if (*text == '\n')
			send('\r');
		send(*text);
	}
}

void serial_enable_irq(void)
{
	if (there)
		outb(INTERRUPTS, RECEIVED);
}

int serial_read(void)
{
	if (!there || !(inb(STATUS) & RECEIVED))
		return -1;
	return inb(DATA);
}
