// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/pc.h>

#define CRTC_INDEX	0x3D4
#define CRTC_DATA	0x3D5
#define CURSOR_HIGH	0x0E
#define CURSOR_LOW	0x0F

void vga_set_cursor(uint32_t cursor)
{
	outb(CRTC_INDEX, CURSOR_HIGH);
	outb(CRTC_DATA, cursor >> 8 & 0xFF);
	outb(CRTC_INDEX, CURSOR_LOW);
	outb(CRTC_DATA, cursor & 0xFF);
}
