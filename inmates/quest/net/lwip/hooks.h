/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that lwIP calls besides those of port.c. */
#ifndef QUEST_LWIP_HOOKS_H
#define QUEST_LWIP_HOOKS_H

struct pbuf;

int timewait_input(const struct pbuf *p);
#define LWIP_HOOK_IP4_INPUT(p, interface)	timewait_input(p)

#endif
