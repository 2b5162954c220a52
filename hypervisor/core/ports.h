/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_PORTS_H
#define QV_PORTS_H

#include "abi/types.h"

enum port_front {	/* how an access of Linux to a port is handled */
	PORT_PASS,	/* direct */
	PORT_LOG,	/* the access is carried out; a write is logged */
	PORT_CONFIG,	/* 0xCFC..0xCFF, and 0xCF8 without ECAM: front/pci.c; the rest direct */
};

struct port_rule {	/* ports that no cell may have */
	u16 first, last;
	u32 front;	/* enum port_front */
	const char *why;
};
extern const struct port_rule port_rules[];
extern const u32 num_port_rules;

#endif
