// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's side of a fake cell, on CPU 1. The serial port's bytes become keys, and
 * the stream goes to the serial port. ^] followed by a letter is a command:
 *   s  request shutdown            d  ring the doorbell
 *   b  make keys_head invalid      g  make it valid again
 *   t  print state, cursor, screen characters and counters
 *   p  the far end of the channel `talk` stops, or runs again
 */
#include "fakecell.h"

#define COM1	0x3F8
#define ESCAPE	0x1D
#define NONSENSE 100000

_Noreturn void relay(void);

static volatile struct qv_comm *const comm = (volatile struct qv_comm *)QV_COMM_GPA;

/* In counted time, in which CPUs execute in turns, a turn of the relay ends here. */
static void end_turn(void)
{
	__asm__ volatile("pause");
}

static void put(char c)
{
	while (!(in8(COM1 + 5) & 0x20))
		end_turn();
	out8(COM1, c);
}

void say(const char *text)
{
	while (*text)
		put(*text++);
}

static void say_number(const char *what, uint32_t n)
{
	char text[12];
	int at = sizeof(text);

	text[--at] = 0;
	do {
		text[--at] = '0' + n % 10;
		n /= 10;
	} while (n);
	say(what);
	say(text + at);
}

static void page_write(uint32_t reg, uint32_t v)
{
	*(volatile uint32_t *)(0xFEE00000u + reg) = v;
}

void send_ipi(uint32_t to, uint32_t command)
{
	if (options.x2apic) {
		write_msr(0x830, (uint64_t)to << 32 | command);
		return;
	}
	page_write(0x310, to << 24);
	page_write(0x300, command);
	while (*(volatile uint32_t *)0xFEE00300u & 0x1000)
		__asm__ volatile("pause");
}

void apic_on(void)
{
	if (options.x2apic) {
		write_msr(0x1B, read_msr(0x1B) | 0x800);
		write_msr(0x1B, read_msr(0x1B) | 0xC00);
		write_msr(0x80F, 0x1FF);
	} else {
		page_write(0xF0, 0x1FF);
	}
}

static void ring_doorbell(void)
{
	if (options.doorbell)
		send_ipi(0, 0x4000 | options.doorbell);
}

static void status(void)
{
	volatile uint8_t *screen = (volatile uint8_t *)QV_SCREEN_GPA;
	uint32_t i;

	say_number("[state=", comm->state);
	say_number(" beat=", (uint32_t)comm->heartbeat);
	say_number(" cursor=", comm->cursor);
	say_number(" seq=", comm->screen_seq);
	say_number(" tail=", comm->keys_tail);
	say_number(" stream=", comm->stream_head);
	say_number(" line=", comm->line_status);
	say(" screen=");
	for (i = 0; i < 2000; i++)
		put(screen[2 * i]);
	say("]\n");
}

static void order(char c)
{
	static uint32_t good;

	switch (c) {
	case 's':
		comm->request = QV_REQUEST_SHUTDOWN;
		ring_doorbell();
		break;
	case 'b':
		good = comm->keys_head;
		comm->keys_head = good + NONSENSE;
		ring_doorbell();
		break;
	case 'g':
		comm->keys_head = good;
		break;
	case 'd':
		ring_doorbell();
		break;
	case 't':
		status();
		break;
	case 'p':
		toggle_peer();
		break;
	}
}

static void key(uint8_t c)
{
	while (comm->keys_head - comm->keys_tail >= QV_KEYS_LEN)
		end_turn();
	comm->keys[comm->keys_head % QV_KEYS_LEN] = c;
	comm->keys_head++;
	ring_doorbell();
}

_Noreturn void relay(void)
{
	const volatile char *stream = (const volatile char *)QV_STREAM_GPA;
	uint32_t tail = 0;
	bool escaped = false;
	uint8_t c;

	apic_on();
	relay_runs = true;
	for (;;) {
		while (tail != comm->stream_head)
			put(stream[tail++ % QV_STREAM_LEN]);
		end_turn();
		if (!(in8(COM1 + 5) & 1))
			continue;
		c = in8(COM1);
		if (escaped)
			order(c);
		else if (c != ESCAPE)
			key(c);
		escaped = !escaped && c == ESCAPE;
	}
}
