/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_NETINET_TCP_H
#define QUEST_NETINET_TCP_H

#define TCP_NODELAY	1		/* an option of level IPPROTO_TCP */

#endif
