/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_NET_SERVE_H
#define QUEST_NET_SERVE_H

/*
 * In the thread `net`: carries out the requests of all sockets, moves bytes of streams, and closes
 * sockets without descriptors.
 */
void serve_sockets(void);

#endif
