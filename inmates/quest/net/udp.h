/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_NET_UDP_H
#define QUEST_NET_UDP_H

/* Carries out the requests of all sockets, in the thread `net`. */
void udp_serve(void);

#endif
