// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdbool.h>
#include <inmate/cpu.h>
#include <inmate/pc.h>

#define PS2_DATA	0x60
#define PS2_STATUS	0x64
#define PS2_FULL	0x01
#define NO_CONTROLLER	0xFF
#define DRAIN_TRIES	64

#define RELEASED	0x80
#define EXTENDED	0xE0
#define LEFT_SHIFT	0x2A
#define RIGHT_SHIFT	0x36
#define CONTROL		0x1D
#define CAPS_LOCK	0x3A

/* Scan code set 1, as the controller translates it by default; 0: no character. */
static const char plain[] =
	"\0\0331234567890-=\177\tqwertyuiop[]\r\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ";
static const char shifted[] =
	"\0\033!@#$%^&*()_+\177\tQWERTYUIOP{}\r\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 ";

static bool shift, control, caps, extended;

void ps2_init(void)
{
	int tries = DRAIN_TRIES;

	while (inb(PS2_STATUS) != NO_CONTROLLER && (inb(PS2_STATUS) & PS2_FULL) && tries--)
		(void)inb(PS2_DATA);
}

static int extended_key(uint8_t code, uint8_t *bytes)
{
	static const struct { uint8_t code, letter; } keys[] = {
		{ 0x48, 'A' }, { 0x50, 'B' }, { 0x4D, 'C' }, { 0x4B, 'D' },
		{ 0x47, 'H' }, { 0x4F, 'F' },
	};
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].code != code)
			continue;
		bytes[0] = 0x1B;
		bytes[1] = '[';
		bytes[2] = keys[i].letter;
		return 3;
	}
	bytes[0] = '\r';
	return code == 0x1C;		/* Enter of the numeric keypad */
}

static bool modifier(uint8_t code)
{
	bool down = !(code & RELEASED);

	switch (code & ~RELEASED) {
	case LEFT_SHIFT:
	case RIGHT_SHIFT:
		shift = down;
		return true;
	case CONTROL:
		control = down;
		return true;
	case CAPS_LOCK:
		caps ^= down;
		return true;
	default:
		return false;
	}
}

static int character(uint8_t code, uint8_t *bytes)
{
	char c;

	if (code >= sizeof(plain) - 1)
		return 0;
	c = shift ? shifted[code] : plain[code];
	if (caps && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
		c ^= 0x20;
	if (control)
		c &= 0x1F;
	bytes[0] = (uint8_t)c;
	return c != 0;
}

int ps2_read(uint8_t bytes[3])
{
	uint8_t status = inb(PS2_STATUS), code;
	bool was_extended = extended;

	if (status == NO_CONTROLLER || !(status & PS2_FULL))
		return -1;
	code = inb(PS2_DATA);
	extended = code == EXTENDED;
	if (extended || modifier(code) || (code & RELEASED))
		return 0;
	return was_extended ? extended_key(code, bytes) : character(code, bytes);
}
